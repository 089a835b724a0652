"""The rules for C++, one a file."""
