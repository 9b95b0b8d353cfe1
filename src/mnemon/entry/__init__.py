"""Where hosts that read entry points find the plugin: as in a folder that `mnemon hermes install` places.

Such a host loads this package under a name of its own; what must be one in a process is in `mnemon.plugin`.
"""

from mnemon.plugin import register

__all__ = ["register"]
