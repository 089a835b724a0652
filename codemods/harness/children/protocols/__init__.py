"""Ways to run a sample under a tracer."""
