"""What the scoreboards in scripts/ measure with: corpora, functions, size-related tokens, tables."""
