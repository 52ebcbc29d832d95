"""What models already said is not asked again: vectors, completions, and a run's journal."""
