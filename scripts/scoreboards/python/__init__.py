"""Scoreboards of the Python wing: replay of people's work, no-ops, and operators that trace unbacked."""
