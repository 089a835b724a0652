"""Must-analysis: facts that hold on every path."""
