"""Rules for C++, one a file."""
