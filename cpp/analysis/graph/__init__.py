"""Graph of values that symbolic sizes flow through, and its solver."""
