"""Where hosts that read entry points find the plugin: as in a folder that `souvenance hermes install` places.

A host loads this package under a name of its own; what must exist once in a process is in
`souvenance.plugin`.
"""

from souvenance.plugin import register

__all__ = ["register"]
