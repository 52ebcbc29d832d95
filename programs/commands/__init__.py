"""What the commands of the command line do, apart from how their options are read."""
