"""Tiny PDF files, good and bad, written out by hand."""

from __future__ import annotations

import zlib
from io import BytesIO

from pypdf import PdfReader, PdfWriter

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def assembled(objects: dict[int, bytes], trailer: bytes = b"") -> bytes:
    """A file of the numbered objects with a table of where they are; object 1 is the root."""
    made = b"%PDF-1.7\n"
    places: dict[int, int] = {}
    for number, body in sorted(objects.items()):
        places[number] = len(made)
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(made), max(objects) + 1
    rows = [b"0000000000 65535 f \n"]
    rows += [
        b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 00000 f \n"
        for number in range(1, size)
    ]
    made += b"xref\n0 %d\n%s" % (size, b"".join(rows))
    made += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return made


def stream(content: bytes, extra: bytes = b"", *, packed: bool = False) -> bytes:
    if packed:
        content, extra = zlib.compress(content, 1), extra + b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def shown(text: str) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text.encode("latin-1")


def page(contents: int, resources: bytes = b"") -> bytes:
    used = b"<< /Font << /F1 3 0 R >> %s >>" % resources
    box = b"/Parent 2 0 R /MediaBox [0 0 612 792]"
    return b"<< /Type /Page %s /Contents %d 0 R /Resources %s >>" % (box, contents, used)


def tree(kids: list[int], count: int | None = None) -> bytes:
    named = b" ".join(b"%d 0 R" % kid for kid in kids)
    return b"<< /Type /Pages /Kids [%s] /Count %d >>" % (named, len(kids) if count is None else count)


def with_pages(texts: list[str], *, packed: bool = False) -> bytes:
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: FONT}
    kids = []
    for at, text in enumerate(texts):
        objects[10 + 2 * at] = page(11 + 2 * at)
        objects[11 + 2 * at] = stream(shown(text), packed=packed)
        kids.append(10 + 2 * at)
    return assembled({**objects, 2: tree(kids)})


def one_page(content: bytes, **others: bytes) -> bytes:
    """A page whose content is given; `x7=…` is an object that the page can draw as /x7."""
    drawn = {int(name[1:]): body for name, body in others.items()}
    resources = b"/XObject << %s >>" % b" ".join(b"/x%d %d 0 R" % (number, number) for number in drawn)
    return assembled(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: tree([4]),
            3: FONT,
            4: page(5, resources),
            5: content,
            **drawn,
        }
    )


def form(draws: bytes, resources: bytes = b"") -> bytes:
    used = b"<< /Font << /F1 3 0 R >> %s >>" % resources
    return stream(draws, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources %s" % used)


def locked(user_password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(with_pages(["The safe is behind the painting."]))))
    writer.encrypt(user_password, owner_password="owner", algorithm="AES-256")
    made = BytesIO()
    writer.write(made)
    return made.getvalue()


def with_script() -> bytes:
    return assembled(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >>",
            2: tree([4]),
            3: FONT,
            4: page(5),
            5: stream(shown("An innocent page.")),
        }
    )


def many_pages(number: int) -> bytes:
    """One page, named as the child of the tree that many times."""
    return assembled(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: tree([4] * number),
            3: FONT,
            4: page(5),
            5: stream(shown("Again.")),
        }
    )


def doubling_tree(depth: int) -> bytes:
    """A tree of which every node names the next one twice: 2 to the depth pages in few bytes."""
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: FONT, 4: page(5), 5: stream(shown("Again."))}
    nodes = [2, *range(10, 10 + depth - 1)]
    for node, following in zip(nodes, [*nodes[1:], 4], strict=True):
        objects[node] = tree([following, following], 2**depth)
    return assembled(objects)


def doubling_forms(depth: int) -> bytes:
    """A page that draws a form, which draws two, and so on."""
    forms = {
        f"x{10 + at}": form(
            b"/n Do /n Do" if at + 1 < depth else shown("Again."),
            b"/XObject << /n %d 0 R >>" % (11 + at) if at + 1 < depth else b"",
        )
        for at in range(depth)
    }
    return one_page(stream(b"/x10 Do"), **forms)


def looping_form() -> bytes:
    return one_page(stream(b"/x10 Do"), x10=form(b"/n Do", b"/XObject << /n 10 0 R >>"))


def looping_tree() -> bytes:
    return assembled({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: tree([2, 2])})


def inflating(megabytes: int) -> bytes:
    """A page whose content is that large once it is unpacked."""
    return one_page(stream(b"BT (x) Tj ET\n" * (megabytes * 80_000), packed=True))


def nested(depth: int) -> bytes:
    return one_page(stream(b"[" * depth))
