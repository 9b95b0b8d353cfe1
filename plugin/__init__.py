# Placed by 'souvenance hermes install', which also renews and removes it.
"""Souvenance's memory for Hermes, which calls register_memory_provider through `register`.

Hosts that read entry points find the plugin here. `souvenance hermes install` places copies of these files in
a profile. A host loads them under a name of its own; what must exist once in a process is in
`souvenance.plugin`.
"""

from .cli import register as register
