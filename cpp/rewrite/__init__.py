"""Edits for the decisions of rules, and the accompanying messages."""
