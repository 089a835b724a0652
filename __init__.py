"""symfix makes PyTorch operators work with symbolic shapes: it rewrites, compiles, runs, and says what it left."""
