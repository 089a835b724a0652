"""Rules of a wing for tests."""
