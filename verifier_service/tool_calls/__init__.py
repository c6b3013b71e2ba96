"""Calls of tools: read from a completion, compared with the wanted ones. None is ever made."""
