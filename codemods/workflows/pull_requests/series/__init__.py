"""A batch of small pull requests: planned, built as commits in a scratch worktree, sent one by one by a person."""
