"""Which of torch's operator tests reach a change."""
