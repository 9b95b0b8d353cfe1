# Placed by 'mnemon hermes install', which also renews and removes it.
"""Mnemon's memory for this profile: Hermes calls register_memory_provider through `register`."""

from mnemon.plugin import register

__all__ = ["register"]
