import json

import psycopg
import pytest

from surfaces.door import souvenance

TEXT = "The quokka Zephyrine sleeps in the pantry"
WORDS = ("quokka", "zephyrine", "pantry", "sleeps")


@pytest.fixture
def dumped(url):
    """Every row of every table of the database, as text in small letters; bytes as hexadecimal digits."""

    def dump():
        with psycopg.connect(url) as connection:
            tables = connection.execute(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            ).fetchall()
            found = [
                row[0].lower()
                for (table,) in tables
                for row in connection.execute(f"SELECT one::text FROM {table} one").fetchall()
            ]
        return "\n".join(found)

    return dump


def test_no_row_holds_a_stored_text_or_a_word_of_one(home, url, dumped):
    store = {"SOUVENANCE_STORE": url}
    line_id = json.loads(souvenance("put", TEXT, "--json", home=home, settings=store).out)["id"]
    assert "quokka" in souvenance("get", "Where does the quokka sleep?", home=home, settings=store).out
    rows = dumped()
    assert rows.count(line_id.lower()) > 2, "the dump sees the line, its words and its audit row"
    for word in WORDS:
        for spelt in (word, word.capitalize()):
            assert word not in rows
            assert spelt.encode().hex() not in rows
