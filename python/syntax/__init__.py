"""The text of a file as a tree, its scopes and its places."""
