"""What an expression or a statement becomes, and the edits that write it."""
