"""The text of a PDF, read in a child process.

A small file can ask for hours of work or gigabytes of memory, and no in-process limit of the
library catches every way of asking. So the bytes go to a child that has little time and memory,
and a file that kills it has killed nothing else. The child runs no script and opens no
attachment, link or picture: pypdf only collects text.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO
from threading import BoundedSemaphore
from typing import NamedTuple

from souvenance.errors import InvalidInput, Unavailable, UnsupportedType

_REFUSED = 3
_AT_ONCE = BoundedSemaphore(2)


class PdfLimits(NamedTuple):
    """What one file may take; seconds of processor time, bytes of memory."""

    pages: int = 2_000
    characters: int = 5_000_000
    seconds: int = 20
    memory: int = 512 * 1024 * 1024


def read_text(data: bytes, bounds: PdfLimits) -> str:
    """The text of the pages, a blank line between two of them.

    Raises: InvalidInput, UnsupportedType, Unavailable.
    """
    if find_spec("pypdf") is None:
        raise UnsupportedType("PDF files are not read, for pypdf is not installed here")
    command = [sys.executable, "-P", "-m", __name__, *map(str, bounds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    try:
        with _AT_ONCE:
            child = subprocess.run(  # noqa: S603 - our own module under our own interpreter
                command,
                input=data,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                timeout=3 * bounds.seconds,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise InvalidInput("the PDF takes too long to read") from None
    except OSError as error:
        raise Unavailable(f"no process to read the PDF in: {error.strerror}") from None
    if child.returncode == 0:
        return child.stdout.decode()
    if child.returncode == _REFUSED:
        raise InvalidInput(f"the PDF {child.stdout.decode()}")
    raise InvalidInput("the PDF takes too much time or memory to read")


class _Refused(Exception):
    """What is wrong with the file, as the end of a sentence that begins with 'the PDF'."""


def _limit_this_process(bounds: PdfLimits) -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (bounds.memory, bounds.memory))
    resource.setrlimit(resource.RLIMIT_CPU, (bounds.seconds, bounds.seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _collected(data: bytes, bounds: PdfLimits) -> str:
    from pypdf.errors import LimitReachedError

    try:
        text = _text_of_pages(data, bounds)
    except LimitReachedError:
        raise _Refused("takes too much time or memory to read") from None
    if not text:
        raise _Refused("holds no text; scanned pages are not read")
    return text


def _text_of_pages(data: bytes, bounds: PdfLimits) -> str:
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise _Refused("is protected by a password")
    pages: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages, 1):
        if number > bounds.pages:
            raise _Refused(f"has more than {bounds.pages} pages")
        pages.append(page.extract_text().strip())
        length += len(pages[-1]) + 2
        if length > bounds.characters:
            raise _Refused(f"holds more than {bounds.characters} characters")
    return "\n\n".join(page for page in pages if page)


def _main(bounds: PdfLimits) -> int:
    _limit_this_process(bounds)
    try:
        said, code = _collected(sys.stdin.buffer.read(), bounds), 0
    except _Refused as refusal:
        said, code = str(refusal), _REFUSED
    except MemoryError:
        return 1
    except Exception:  # noqa: BLE001 - pypdf lets any kind of error out of a damaged file
        said, code = "is damaged or not a PDF", _REFUSED
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
    return code


if __name__ == "__main__":
    sys.exit(_main(PdfLimits(*map(int, sys.argv[1:]))))
