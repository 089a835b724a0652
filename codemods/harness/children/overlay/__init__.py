"""Changed code in place of that of the installed torch, and reports to the parent."""
