"""What becomes of an expression or a statement, and the edits that write it."""
