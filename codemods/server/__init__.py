"""Servers for editors (LSP) and for agents (MCP)."""
