"""Readers of other memories: one room for each source, all of which tell the same few records."""
