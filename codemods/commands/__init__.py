"""What each word of the command line does: values in, an exit code out."""
