"""Candidate rewrites for the place of a failure. Each is kept only if a proof accepts it."""
