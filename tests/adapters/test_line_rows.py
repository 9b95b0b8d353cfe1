"""A line keeps every field on its way through a row of the database, and into another kind of line."""

from __future__ import annotations

from msgspec.structs import asdict

from souvenance.adapters.sql.lines import line_of, row_of
from souvenance.domain.line import LinePlace, OpenLine, SealedLine, maker, place_of
from souvenance.domain.names import Compartment

EVERY_FIELD: dict[str, object] = {
    **{name: f"the {name}" for name in SealedLine.__struct_fields__},
    "compartment": Compartment("a workspace", "an owner", "a namespace"),
    "sealed": b"the text, sealed",
    "likeness": b"a hash",
}


def test_a_line_is_read_from_its_row_with_every_field():
    line = SealedLine(**EVERY_FIELD)
    assert asdict(line_of((*row_of(line), line.invalidated_by))) == EVERY_FIELD


def test_a_line_that_is_made_of_another_s_place_has_every_field_of_it():
    make = maker(OpenLine, "text", "metadata", *LinePlace.__struct_fields__)
    line = make("the text", {"the": "metadata"}, *place_of(SealedLine(**EVERY_FIELD)))
    assert asdict(line) == {
        **{name: EVERY_FIELD[name] for name in LinePlace.__struct_fields__},
        "text": "the text",
        "metadata": {"the": "metadata"},
    }
