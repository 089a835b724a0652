"""The explanation of an error or log of torch that a person pastes: no torch is imported and nothing is run."""
