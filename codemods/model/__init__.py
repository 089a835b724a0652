"""Values that all parts share, such as edits, fixes, rules and source files. Nothing here touches a file."""
