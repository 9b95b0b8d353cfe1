"""Files: their text becomes messages; what is no text is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

from scenarios.claims import equal
from scenarios.registry import scenario

LIMIT = 25_000


def pdf(text: str) -> bytes:
    """The smallest PDF that says something."""
    drawn = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(written)


@scenario("Session.upload_file")
async def a_text_file_becomes_a_message(world):
    ann, talk = await world.honcho.peer("ann"), await world.honcho.session("talk")
    [message] = await talk.upload_file(
        ("notes.txt", "I live in Lisbon. Grüße!".encode(), "text/plain"),
        peer=ann,
        metadata={"from": "disk"},
        created_at=datetime(2020, 1, 1),  # noqa: DTZ001 - as many callers write it
    )
    equal((message.content, message.peer_id, message.session_id), ("I live in Lisbon. Grüße!", "ann", "talk"))
    equal(message.metadata, {"from": "disk"})
    equal(message.created_at, datetime(2020, 1, 1, tzinfo=UTC))
    equal((await talk.get_message(message.id)).content, message.content)
    equal([one.id for one in await talk.peers()], ["ann"])
    await world.settled()
    equal(await ann.representation(), "")
    equal([one.id for one in await ann.search("Who lives in Lisbon?")], [message.id])


@scenario("Session.upload_file")
async def json_and_pdf_files_become_messages(world):
    talk = await world.honcho.session("talk")
    table = json.dumps({"boat": "Aurora", "crew": ["Ann", "Bob"]}).encode()
    [boat] = await talk.upload_file(("boat.json", table, "application/json"), peer="ann")
    assert "Aurora" in boat.content and "Bob" in boat.content, boat.content
    paper = pdf("The harbour ledger is green.")
    [ledger] = await talk.upload_file(("ledger.pdf", io.BytesIO(paper), "application/pdf"), peer="ann")
    assert "The harbour ledger is green." in ledger.content, ledger.content
    equal((await talk.messages()).total, 2)


@scenario("Session.upload_file")
async def an_open_file_can_be_uploaded_and_kept_out_of_reasoning(world):
    talk = await world.honcho.session("talk")
    file = io.BytesIO(b"I live in Lisbon.")
    file.name = "diary.txt"
    off = {"reasoning": {"enabled": False}}
    [message] = await talk.upload_file(file, peer="ann", configuration=off)
    equal(message.content, "I live in Lisbon.")
    await world.settled()
    ann = await world.honcho.peer("ann")
    equal((await ann.conclusions.list()).items, [])


@scenario("Session.upload_file")
async def a_long_file_becomes_several_messages(world):
    talk = await world.honcho.session("talk")
    text = "\n\n".join(f"Paragraph {number}. " + "The tide comes and goes. " * 40 for number in range(60))
    parts = await talk.upload_file(("tides.md", text.encode(), "text/markdown"), peer="ann")
    assert len(parts) >= 3 and all(0 < len(part.content) <= LIMIT for part in parts), [
        len(p.content) for p in parts
    ]
    equal("".join("".join(part.content for part in parts).split()), "".join(text.split()))
    equal([one.id async for one in await talk.messages()], [part.id for part in parts])


@scenario("Session.upload_file")
async def what_is_no_text_or_too_large_is_refused(world):
    talk = await world.honcho.session("talk")
    refused = world.sdk.APIError
    picture = talk.upload_file(("cat.png", b"\x89PNG\r\n\x1a\n", "image/png"), peer="ann")
    equal((await world.refused(picture, refused)).status, 415)
    large = talk.upload_file(("large.txt", b"x" * (5 * 1024 * 1024 + 1), "text/plain"), peer="ann")
    equal((await world.refused(large, refused)).status, 413)
    broken = talk.upload_file(("broken.pdf", b"%PDF-1.4 nothing", "application/pdf"), peer="ann")
    equal((await world.refused(broken, refused)).status, 422)
    equal((await talk.messages()).total, 0)
