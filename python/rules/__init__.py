"""Rules for Python, one a file."""
