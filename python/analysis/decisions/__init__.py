"""Conditions of branches: their leaves, purpose and default."""
