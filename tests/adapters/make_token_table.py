"""Makes `src/souvenance/adapters/o200k.table` from the published rank file `o200k_base.tiktoken`.

    python tests/adapters/make_token_table.py o200k_base.tiktoken

The table, little-endian, for n tokens sorted by the CRC-32 of their bytes:
65 536 bytes, how many tokens have each value of the checksum's upper 16 bits;
n times 2 bytes, the lower 16 bits; n times 4 bytes, the ranks.
Of two tokens with one checksum the lower rank counts.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import sys
from collections import Counter
from pathlib import Path
from zlib import crc32

TABLE = Path(__file__).resolve().parents[2] / "src" / "souvenance" / "adapters" / "o200k.table"
PUBLISHED = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def table(ranks: dict[bytes, int]) -> bytes:
    found: dict[int, int] = {}
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        found.setdefault(crc32(token), rank)
    ordered = sorted(found.items())
    sizes = Counter(checksum >> 16 for checksum, _ in ordered)
    return (
        bytes(sizes[bucket] for bucket in range(1 << 16))
        + b"".join(struct.pack("<H", checksum & 0xFFFF) for checksum, _ in ordered)
        + b"".join(struct.pack("<I", rank) for _, rank in ordered)
    )


def main(source: str) -> None:
    data = Path(source).read_bytes()
    if hashlib.sha256(data).hexdigest() != PUBLISHED:
        raise SystemExit(f"{source} is not the published o200k_base")
    pairs = (line.split() for line in data.splitlines())
    TABLE.write_bytes(table({base64.b64decode(token): int(rank) for token, rank in pairs}))


if __name__ == "__main__":
    main(sys.argv[1])
