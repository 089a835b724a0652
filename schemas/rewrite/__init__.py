"""Edits of all files that depend on a changed schema."""
