"""The benchmark of cold starts says so if it did not do what it was asked for."""

from __future__ import annotations

from cold_start import main


def test_processes_that_were_not_started_in_time_fail_it(capsys):
    assert main(["--processes", "3", "--busy", "0", "--minutes", "0"]) == 1
    assert "3 were not started: the time was up" in capsys.readouterr().out
