"""Runs: a fixed order of queries, append-only records, and a way back after anything."""
