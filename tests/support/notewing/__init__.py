"""Wing with predictable fixes, good or bad. Rule `x` replaces code by the text of the comment `x: …` after it."""
