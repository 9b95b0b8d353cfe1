"""The host's own database, as far as the provider reads it."""

import sqlite3


def keep_injected(stage, sent, *, session="s1", active=1):
    """A message of the user as the model was sent it, with what memory added."""
    with sqlite3.connect(stage.home / "state.db") as database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
            " content TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,"
            " api_content TEXT)"
        )
        database.execute(
            "INSERT INTO messages (session_id, role, content, active, api_content)"
            " VALUES (?, 'user', ?, ?, ?)",
            (session, "Hello.", active, f"Hello.\n\n<memory-context>\n{sent}\n</memory-context>"),
        )
    database.close()


def keep_transcript(stage, *rows, session="s1", role="user"):
    """What was said in a session, each with whether the model has it, and whether it was compressed."""
    with sqlite3.connect(stage.home / "state.db") as database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT,"
            " content TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0)"
        )
        database.executemany(
            "INSERT INTO messages (session_id, role, content, active, compacted) VALUES (?, ?, ?, ?, ?)",
            [(session, role, *row) for row in rows],
        )
    database.close()
