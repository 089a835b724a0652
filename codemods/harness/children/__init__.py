"""Scripts that run in child processes by path, with the target's interpreter: they import nothing of symfix."""
