"""Programs that the harness starts in a child process."""
