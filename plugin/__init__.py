# Placed by 'souvenance hermes install', which also renews and removes it.
"""Souvenance's memory for this profile: Hermes calls register_memory_provider through `register`."""


def register(ctx: object) -> None:
    # Whoever else asks Hermes for memory while the package is loaded waits for it here. Loaded above, it
    # would leave them without: Hermes takes a module that is not whole yet for one that has no provider.
    from souvenance.plugin import register

    register(ctx)
