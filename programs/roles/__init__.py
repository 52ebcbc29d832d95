"""The roles: DSPy modules that read a view of the state, propose a value for their own field, and never commit."""
