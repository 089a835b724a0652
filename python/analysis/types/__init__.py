"""Types of values: what they may be, and what they must be."""
