"""Texts to vectors, and pairs of texts to scores."""
