"""The server's log, line by line."""

from __future__ import annotations

import logging
import threading

import msgspec
import pytest

from souvenance.config import settings_from
from souvenance.domain.telemetry import CURRENT
from souvenance.errors import Misconfigured
from souvenance.surfaces.http.telemetry.logs import Log, logging_to

CONTENT = "the text of a line"


def written(capsys):
    return capsys.readouterr().err


@pytest.fixture
def uvicorn_unset(monkeypatch):
    """Uvicorn's loggers as they are before any server of this process set them up in its own way."""
    for name in ("uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "propagate", True)
        monkeypatch.setattr(logger, "handlers", [])
        monkeypatch.setattr(logger, "level", logging.NOTSET)
        logger.setLevel(logging.NOTSET)


def defect():
    held = CONTENT
    raise ValueError(f"can't do {held}")


@pytest.mark.parametrize("style", ["json", "text"])
def test_a_defect_is_told_by_where_it_happened_and_never_by_what_it_was_about(capsys, uvicorn_unset, style):
    with logging_to(Log(style)):
        try:
            defect()
        except ValueError:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
            logging.getLogger("a.library").exception("while handling %s", CONTENT)
    told = written(capsys)
    assert CONTENT not in told
    assert len(told.splitlines()) == 2
    assert "ValueError" in told
    assert "test_logs.defect:" in told


def test_in_json_every_line_is_an_object_with_the_id_of_the_request_at_hand(capsys):
    CURRENT.set("r-1")
    with logging_to(Log("json")):
        logging.getLogger("souvenance.work").warning("derive waits for the model: %s", "it rests")
    CURRENT.set("")
    [told] = [msgspec.json.decode(line) for line in written(capsys).splitlines()]
    assert (told["event"], told["level"], told["request_id"]) == ("log", "warning", "r-1")
    assert (told["logger"], told["text"]) == ("souvenance.work", "derive waits for the model: it rests")


def test_in_text_a_report_reads_as_it_always_did(capsys):
    with logging_to(Log("text")):
        logging.getLogger("souvenance.work").warning("derive waits for the model: it rests")
    assert written(capsys) == "souvenance: derive waits for the model: it rests\n"


def test_off_is_silence(capsys):
    log = Log("off")
    with logging_to(log):
        logging.getLogger("souvenance").error("anything")
        log.say("Souvenance stopped.")
    assert written(capsys) == ""


def test_what_ends_a_thread_is_told_without_its_words(capsys):
    with logging_to(Log("text")):
        thread = threading.Thread(target=defect)
        thread.start()
        thread.join()
    told = written(capsys)
    assert "a thread ended: ValueError" in told
    assert CONTENT not in told


def test_afterwards_the_process_logs_as_before(capsys):
    before, hook = list(logging.getLogger().handlers), threading.excepthook
    with logging_to(Log("json")):
        pass
    assert logging.getLogger().handlers == before
    assert threading.excepthook is hook


def test_what_is_logged_by_many_threads_at_once_stays_in_lines_of_its_own(capsys):
    log = Log("json")
    threads = [threading.Thread(target=lambda: [log.tell("e", n=n) for n in range(50)]) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len([msgspec.json.decode(line) for line in written(capsys).splitlines()]) == 400


@pytest.mark.parametrize(
    ("name", "value"), [("SOUVENANCE_LOG", "xml"), ("SOUVENANCE_LOG", "JSON"), ("SOUVENANCE_METRICS", "yes")]
)
def test_a_setting_that_means_nothing_is_refused(name, value):
    with pytest.raises(Misconfigured, match=name):
        settings_from({name: value})


def test_traces_are_asked_for_by_the_standard_variables():
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    assert not settings_from({}).telemetry.traces
    assert settings_from(asked).telemetry.traces
    assert settings_from(
        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}
    ).telemetry.traces
    assert not settings_from({**asked, "OTEL_SDK_DISABLED": "true"}).telemetry.traces
    assert not settings_from({**asked, "OTEL_TRACES_EXPORTER": "none"}).telemetry.traces


def test_requests_can_be_told_in_one_line_each_beside_what_people_are_told(capsys):
    CURRENT.set("r-1")
    log = Log("requests")
    log.request(level="info", door="memory", operation="memory.put", status=201, milliseconds=6.97)
    log.say("Souvenance stopped.")
    CURRENT.set("")
    line, said = written(capsys).splitlines()
    when, told = line.split(" ", 1)
    assert when.endswith("Z") and said == "Souvenance stopped."
    assert told == "door=memory operation=memory.put status=201 milliseconds=6.97 request_id=r-1"


@pytest.mark.parametrize("style", ["text", "off"])
def test_the_other_styles_tell_of_no_request(style):
    assert not Log(style).tells_requests
