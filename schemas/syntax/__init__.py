"""Reads the files of schemas as text."""
