"""The text of a file as a tree, with its names and places."""
