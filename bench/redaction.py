"""What redaction costs on the worst texts: `.venv/bin/python bench/redaction.py [--kilobytes 200]`.

Every piece that a rule of redaction looks for is repeated, alone and with each of the others' ends, until the
text is that long. Told are the slowest texts, each the median of three more runs. It fails if one takes more
than 100 ms for 200 kB (for longer ones, in proportion), counted in time of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from statistics import median

from machine import Machine
from souvenance.agents import redaction

KILOBYTES = 200
MOST_SECONDS = 0.1
_ENDS = ("", " ", "=", ":", "\n", "'", ".", "-", "@", "1")
_WORDS = """
    key token password secret api_key authorization bearer Bearer ://a:b :// eyJaaaaa.aaaaa.aaaaa tok
    ~eyJaaaaa.aaaaa.aaaaa 12345678: xoxb-aaaaaaaaaa. ya29.aaaaaaaaaaaaaaaaaaaaa a-b a.b A1 Aa --key --a
    aA1- -----BEGIN -----END AGE x-y_z mot пароль 密码 ghp_aaaaaaaa AAAA sk-a sk-proj- hch- hch-a is: monkey
    SG.aaaaaaaaaaaaaaaa M aaaaaaaaaaaaaaaaaaaaaaaa. xox dp.pt. 1//0 ://a:b@c key=aB3dE5fG7hI9jK1lM3
"""
_PIECES = (
    *(mark for shape in redaction._SHAPES for mark in shape.marks),
    *_WORDS.split(),
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\naaaaaaaaaaaaaaaa\n",
    "-----END PRIVATE KEY-----",
    "Private-Lines: 1\n",
    "Private-Lines: 1\naaaaaaaaaaaaaaaa ",
    "[redacted: aws key]",
    "authorization: bearer ",
    "authorization: ",
    "the password is ",
    "the token is aB3dE5fG7hI9jK1lM3",
    "password: (x) [y] ",
    'password="\\',
    "key='a",
    "key: \\",
    "a=b ",
    "key =\t",
    "--key ",
    "hooks.slack.com/services/",
    "AKIAAAAAAAAAAAAAAAAA ",
    "passwordpassword",
)


def texts(length: int) -> Iterator[tuple[str, str]]:
    """What is repeated, and the text."""
    for piece in _PIECES:
        for end in _ENDS:
            once = piece + end
            yield once, (once * (length // len(once) + 1))[:length]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kilobytes", type=int, default=KILOBYTES)
    parser.add_argument("--slowest", type=int, default=15)
    asked = parser.parse_args()
    machine = Machine()
    found = sorted(
        ((_seconds(text), once, text) for once, text in texts(asked.kilobytes * 1000)), reverse=True
    )
    again = [(median(_seconds(text) for _ in range(3)), once) for _, once, text in found[: asked.slowest]]
    for seconds, once in sorted(again, reverse=True):
        print(f"{seconds * 1000:9.1f} ms  {once!r}")
    print(machine)
    most = MOST_SECONDS * max(1, asked.kilobytes / KILOBYTES)
    met = max(again)[0] <= most
    print(f"at most {most * 1000:.1f} ms: {'met' if met else 'MISSED'}")
    return 0 if met else 1


def _seconds(text: str) -> float:
    began = time.process_time()
    redaction.redact(text)
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
