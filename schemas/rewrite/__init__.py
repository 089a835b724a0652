"""Turns a decision about schemas into edits of all files that follow them."""
