"""Decisions as edits, and as the words beside them."""
