# Placed by 'souvenance hermes install', which also renews and removes it.
"""Souvenance's memory for Hermes, which calls register_memory_provider through `register`.

Hosts that read entry points find the plugin here. `souvenance hermes install` places copies of these files in
a profile. A host loads them under a name of its own; what must exist once in a process is in
`souvenance.plugin`.
"""


def register(ctx: object) -> None:
    # Other threads that ask Hermes for memory meanwhile wait for this import. At the top of the file it would
    # leave them without memory: Hermes treats a module that is still loading as one without a provider.
    from souvenance.plugin import register

    register(ctx)
