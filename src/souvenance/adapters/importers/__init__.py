"""Readers of other memories: one module for each source. All give the same few kinds of records."""
