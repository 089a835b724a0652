"""A wing small enough to predict: its language is words, and `!` alone on a line is a parse error."""
