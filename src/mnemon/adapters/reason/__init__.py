"""Reasoners: what follows from what was said."""
