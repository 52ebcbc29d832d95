"""What `import staterag` gives. The command line comes in through the same functions."""
