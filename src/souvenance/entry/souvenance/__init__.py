"""Souvenance's memory for Hermes, which calls register_memory_provider through `register`.

Hosts that read entry points find the plugin here. `souvenance hermes install` places copies of these files in
a profile. A host loads them under a name of its own; what must exist once in a process is in
`souvenance.plugin`.
"""


def register(ctx: object) -> None:
    # Whoever else asks Hermes for memory while the package is loaded waits for it here. Loaded above, it
    # would leave them without: Hermes takes a module that is not whole yet for one that has no provider.
    from souvenance.plugin import register

    register(ctx)
