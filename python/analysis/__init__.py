"""Analysis of Python files: symbolic values, their consequences, and the places where a fix may be written."""
