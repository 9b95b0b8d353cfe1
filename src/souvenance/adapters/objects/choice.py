"""Which store of objects a URL names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from souvenance.adapters.objects.folder import FolderObjects
from souvenance.errors import Misconfigured
from souvenance.extras import install
from souvenance.ports.object_store import Objects, checked

_HINT = "E.g. s3://bucket/prefix, s3://bucket/prefix?endpoint=https://s3.example, file:///path."
_OPTIONS = ("endpoint", "region")


def open_objects(url: str) -> Objects:
    """The store that the URL names. Raises: Misconfigured, StorageUnavailable."""
    try:
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise Misconfigured("SOUVENANCE_OBJECTS is no URL", hint=_HINT) from None
    if parts.scheme == "file" and not parts.netloc and len(parts.path) > 1 and not options:
        return FolderObjects(Path(unquote(parts.path)))
    if parts.scheme != "s3" or not parts.netloc or parts.username or parts.fragment:
        raise Misconfigured("SOUVENANCE_OBJECTS names neither a bucket nor a folder", hint=_HINT)
    if unknown := sorted(name for name, values in options.items() if name not in _OPTIONS or len(values) > 1):
        raise Misconfigured(f"SOUVENANCE_OBJECTS does not know {unknown[0]!r}, or not twice", hint=_HINT)
    prefix = parts.path.strip("/")
    try:
        _ = prefix and checked(prefix)
    except ValueError:
        raise Misconfigured(
            "the prefix in SOUVENANCE_OBJECTS may hold letters, digits, '=', '_', '-', '.' and '/'",
            hint=_HINT,
        ) from None
    try:
        from souvenance.adapters.objects.s3 import S3Objects
    except ImportError:
        raise Misconfigured(
            "SOUVENANCE_OBJECTS names a bucket, and obstore is not installed",
            hint=f"Run: {install('s3')}",
        ) from None
    endpoint, region = (options.get(name, [None])[0] for name in _OPTIONS)
    return S3Objects(parts.netloc, prefix, endpoint=endpoint, region=region)
