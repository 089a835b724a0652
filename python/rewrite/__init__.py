"""Rewritten expressions and statements, and the edits that insert them."""
