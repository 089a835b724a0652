"""Which schemas belong together, and what says that an integer of theirs is a size."""
