"""Test subjects and their inputs."""
