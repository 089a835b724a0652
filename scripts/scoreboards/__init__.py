"""Shared code of the scoreboards in scripts/: corpora, functions, size-related tokens, tables."""
