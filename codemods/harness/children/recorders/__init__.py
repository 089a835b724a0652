"""Records of running code: frames, branches and the place of a failure."""
