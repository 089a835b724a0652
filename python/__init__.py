"""Python rewriters: size branches, checks and migrations, one file a rule."""
