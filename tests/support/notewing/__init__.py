"""A wing that does what it is told, good or bad: rule `x` writes what the comment `x: …` behind a line says instead."""
