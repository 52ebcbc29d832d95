"""What the baselines ask, one file a method."""
