"""Reader of the schema files as text."""
