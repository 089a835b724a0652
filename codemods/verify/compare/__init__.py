"""What differs before and after a change, and which of its lines were run."""
