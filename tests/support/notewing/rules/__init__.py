"""The rules of a wing for tests."""
