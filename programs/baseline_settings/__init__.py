"""The baselines' branches of the settings tree, with each method's published defaults."""
