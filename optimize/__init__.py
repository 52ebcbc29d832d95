"""Prompts and parameters chosen on development splits. Nothing here accepts a locked manifest."""
