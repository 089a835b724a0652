"""What is made of hunting, rewriting and verifying: each folder serves one command."""
