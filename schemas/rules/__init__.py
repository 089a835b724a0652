"""The rules for schemas, one a file."""
