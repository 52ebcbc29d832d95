"""Questions with the collections that answer them, in a fixed order, and their references kept apart."""
