"""Wing with predictable results. Its language consists of words, and a line with only `!` is a parse error."""
