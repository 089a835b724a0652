"""Search for operators that fail on symbolic sizes, with the mode and the line of each failure."""
