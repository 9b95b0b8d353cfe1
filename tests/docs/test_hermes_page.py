import json
import re

from reference_pages import REFERENCE

from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.configuration import KEYS, NOT_NEEDED

PAGE = (REFERENCE / "hermes-configuration.md").read_text("utf-8")


def reading(home, document):
    (home / "souvenance.json").write_text(json.dumps(document), "utf-8")
    return read_configuration(home, {})


def test_every_setting_and_every_variable_is_in_the_page():
    assert all(f"| `{key.name}` |" in PAGE for key in KEYS)
    assert all(f"| `{key.variable}` |" in PAGE for key in KEYS if key.variable)
    assert all(f"`{name}`" in PAGE for name in NOT_NEEDED)


def test_the_example_of_the_page_works_for_every_host_in_it(tmp_path):
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    coder = tmp_path / "profiles/coder"
    coder.mkdir(parents=True)
    for home, agent in ((tmp_path, "hermes"), (coder, "coder")):
        configuration, complaints = reading(home, json.loads(example))
        assert (configuration.ai_peer, complaints) == (agent, [])


def test_complaints_are_told_as_the_page_shows_them(tmp_path):
    [shown] = re.findall(r"```text\n(.*?)```", PAGE, re.S)
    wrong = {"dialecticCadence": "often", "hosts": {"hermes": {"recalMode": "tools"}}}
    _, complaints = reading(tmp_path, wrong)
    told = {str(one).replace(str(tmp_path), "/home/you/.hermes") for one in complaints}
    assert told == set(shown.splitlines())
