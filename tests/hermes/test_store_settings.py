"""`souvenance.toml` in the data folder counts for a store in Hermes' process as for a server."""

import pytest

from hermes.honcho_fake import eventually
from hermes.host_fake import Host, HostStage, worked_off
from model.stand_in import a_stand_in
from souvenance import hermes_backends
from souvenance.errors import LineTooLong, Misconfigured
from souvenance.gate.messages import Put
from souvenance.gate.operations import PUT


def settings_file(stage, text):
    store = stage.home / "souvenance"
    store.mkdir(mode=0o700, exist_ok=True)
    (store / "souvenance.toml").write_text(text)
    (store / "souvenance.toml").chmod(0o600)


def inspected(stage):
    return hermes_backends.inspect(stage.configuration(stage.home, "default")[0])


def test_its_limits_hold(stage):
    settings_file(stage, "line_bytes = 60\n")
    with stage.gate() as ask:
        ask(PUT, Put("I live in Rome."))
        with pytest.raises(LineTooLong):
            ask(PUT, Put("I live in a house with a garden and a view of the whole old town."))


def test_a_model_that_it_names_reads_what_was_said(tmp_path, monkeypatch):
    host = Host().offer(monkeypatch)
    stage = HostStage(tmp_path, host, hostModel=True)
    with a_stand_in() as endpoint:
        settings_file(stage, f'model_base_url = "{endpoint.url}"\nmodel_name = "parrot-1"\n')
        endpoint.plays(lambda asked: host.reply(asked))
        stage.turn(stage.provider(), "I live in Rome.")
        stage.falls_quiet()
        assert eventually(lambda: worked_off(stage))
        assert endpoint.asked
        assert not host.asked
        assert inspected(stage).model_configured
        stage.close()


def test_a_mistyped_setting_in_it_keeps_the_store_closed_and_is_told(stage):
    stage.tell(stage.provider(), "I live in Rome.")
    stage.anew()
    settings_file(stage, 'embeder = "none"\n')
    found = inspected(stage)
    assert not found.reachable
    assert "embeder is not a setting. Did you mean embedder?" in found.detail
    with pytest.raises(Misconfigured):
        hermes_backends.open_backend(stage.configuration(stage.home, "default")[0])
    provider = stage.provider()
    provider.sync_turn("I moved to Oslo.", "I see.")
    settings_file(stage, 'embedder = "none"\n')
    provider = stage.anew().provider("s2")
    stage.flush()
    assert "Oslo" in stage.recall(provider, "Where do I live?")
