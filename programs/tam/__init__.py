"""Typed Abstraction Memory: segment → group → abstract → graph → navigate, and the store between runs."""
