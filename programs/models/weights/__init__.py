"""Which weights there are, where they come from, and that they are what they should be."""
