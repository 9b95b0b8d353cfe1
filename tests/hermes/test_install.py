"""Placing the plugin in the homes of Hermes: everywhere, once, and only over what is ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from souvenance.entry.souvenance import cli
from souvenance.errors import Conflict, Misconfigured, NotFound, StorageReadOnly
from souvenance.hermes.setup.install import FILES, MARK, folder_of, install, is_placed, reach, uninstall
from souvenance.hermes.setup.profiles import DEFAULT, environment_of, find_installation, profile_at
from souvenance.version import __version__


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Hermes home with two profiles."""
    home = tmp_path / "hermes"
    for name in ("coder", "writer"):
        (home / "profiles" / name).mkdir(parents=True)
    return home


def profiles(root, *names):
    return find_installation({}, str(root)).chosen(names)


def outcomes(steps):
    return {step.profile: step.outcome for step in steps}


def everything_in(root):
    """Every path below, with what is in it and when that was written."""
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
    }


class TestTheHomes:
    def test_the_default_home_and_every_profile_are_found(self, root):
        (root / "profiles" / "not a profile").mkdir()
        (root / "profiles" / "a-file").write_text("")
        found = find_installation({"HERMES_HOME": str(root)}).profiles()
        assert [(one.name, one.home) for one in found] == [
            (DEFAULT, root),
            ("coder", root / "profiles" / "coder"),
            ("writer", root / "profiles" / "writer"),
        ]

    def test_the_home_of_a_profile_leads_to_all_of_them(self, root):
        found = find_installation({"HERMES_HOME": str(root / "profiles" / "coder")})
        assert (found.root, found.current.name) == (root, "coder")
        assert len(found.profiles()) == 3

    def test_the_profile_that_was_chosen_for_good_is_the_current_one(self, root):
        (root / "active_profile").write_text("writer\n")
        assert find_installation({}, str(root)).current.home == root / "profiles" / "writer"
        assert find_installation({}, str(root), DEFAULT).current.home == root
        (root / "active_profile").write_text("gone")
        assert find_installation({}, str(root)).current.name == DEFAULT

    def test_a_missing_home_is_named_with_what_to_do(self, tmp_path):
        with pytest.raises(Misconfigured, match="nowhere is not a Hermes home") as told:
            find_installation({"HERMES_HOME": str(tmp_path / "nowhere")})
        assert "--home" in told.value.hint

    def test_an_unknown_profile_is_answered_with_those_that_are(self, root):
        with pytest.raises(NotFound, match="'tester'") as told:
            profiles(root, "coder", "tester")
        assert told.value.hint == "Profiles: default, coder, writer."

    def test_what_the_profile_keeps_for_its_environment_wins(self, root):
        (root / ".env").write_text("# HONCHO_API_KEY=no\nexport A='x y'\nB=\"z\"\nC=\nnonsense\n")
        seen = environment_of(profile_at(root), {"A": "old", "D": "d"})
        assert seen == {"A": "x y", "B": "z", "C": "", "D": "d"}


class TestPlacing:
    def test_every_profile_gets_the_plugin(self, root):
        assert set(outcomes(install(profiles(root))).values()) == {"placed"}
        for profile in profiles(root):
            assert is_placed(profile)
            folder = folder_of(profile)
            assert {path.name for path in folder.iterdir()} == {
                *("plugin.yaml", "pyproject.toml", "panel.json", "__init__.py"),
                *("cli.py", "config_schema.py", "oauth_flow.py", "dashboard", "desktop"),
            }
            assert "register_memory_provider" in (folder / "__init__.py").read_text()[:8192]
            assert f"version: {__version__}" in (folder / "plugin.yaml").read_text()

    def test_the_repository_has_the_same_for_the_host_to_install(self):
        folder = Path(__file__).resolve().parents[2] / "plugin"
        assert {name: (folder / name).read_text() for name in FILES} == FILES

    def test_doing_it_again_touches_nothing(self, root):
        install(profiles(root))
        before = everything_in(root)
        assert set(outcomes(install(profiles(root))).values()) == {"already in place"}
        assert everything_in(root) == before

    def test_a_profile_made_later_is_all_that_the_next_run_adds(self, root):
        install(profiles(root))
        (root / "profiles" / "tester").mkdir()
        done = outcomes(install(profiles(root)))
        assert [name for name, outcome in done.items() if outcome == "placed"] == ["tester"]

    def test_only_the_named_profiles_get_it(self, root):
        install(profiles(root, "coder"))
        assert [is_placed(one) for one in profiles(root)] == [False, True, False]

    def test_what_an_older_version_placed_is_renewed(self, root):
        install(profiles(root))
        older = folder_of(profile_at(root)) / "__init__.py"
        older.write_text(f"{MARK}\nfrom souvenance.older import register\n")
        assert outcomes(install(profiles(root)))[DEFAULT] == "renewed"
        assert older.read_text() == FILES["__init__.py"]

    @pytest.mark.parametrize("name", FILES)
    def test_somebody_elses_file_stops_everything_before_it_begins(self, root, name):
        foreign = folder_of(profiles(root, "writer")[0]) / name
        foreign.parent.mkdir(parents=True)
        foreign.write_text(f"mine\n{MARK}\n")
        before = everything_in(root)
        with pytest.raises(Conflict, match=str(foreign)) as told:
            install(profiles(root))
        assert "Nothing was changed" in told.value.hint
        with pytest.raises(Conflict):
            uninstall(profiles(root))
        assert everything_in(root) == before

    def test_a_link_to_nothing_and_a_file_are_in_the_way(self, root):
        folder = folder_of(profile_at(root))
        folder.parent.mkdir()
        folder.symlink_to(root / "gone")
        with pytest.raises(Conflict, match="leads to nothing"):
            install(profiles(root))
        folder.unlink()
        folder.write_text("")
        with pytest.raises(Conflict, match="is not a folder"):
            install(profiles(root))

    def test_a_home_that_takes_no_plugins_is_told(self, root):
        (root / "plugins").write_text("")
        with pytest.raises(StorageReadOnly, match="plugins"):
            install(profiles(root))

    def test_a_dry_run_says_the_same_and_does_nothing(self, root):
        before = everything_in(root)
        told = outcomes(install(profiles(root), dry_run=True))
        assert everything_in(root) == before
        assert told == outcomes(install(profiles(root)))
        before = everything_in(root)
        told = outcomes(uninstall(profiles(root), dry_run=True))
        assert everything_in(root) == before
        assert told == outcomes(uninstall(profiles(root)))


class TestLinks:
    def test_a_linked_folder_is_written_through(self, root, tmp_path):
        real = tmp_path / "plugin"
        real.mkdir()
        folder = folder_of(profile_at(root))
        folder.parent.mkdir()
        folder.symlink_to(real)
        install(profiles(root))
        assert folder.is_symlink()
        assert {str(path.relative_to(real)) for path in real.rglob("*") if path.is_file()} == {*FILES}

    def test_taking_it_away_takes_the_link_and_not_what_it_leads_to(self, root, tmp_path):
        install(profiles(root, DEFAULT))
        real = folder_of(profile_at(root))
        link = folder_of(profiles(root, "coder")[0])
        link.parent.mkdir()
        link.symlink_to(real)
        assert outcomes(uninstall(profiles(root, "coder"))) == {"coder": "removed"}
        assert not link.is_symlink()
        assert is_placed(profile_at(root))

    def test_profiles_that_share_their_plugins_share_the_plugin(self, root):
        (root / "plugins").mkdir()
        (root / "profiles" / "coder" / "plugins").symlink_to(root / "plugins")
        assert outcomes(install(profiles(root, DEFAULT, "coder"))) == {
            DEFAULT: "placed",
            "coder": "already in place",
        }


class TestTakingAway:
    def test_nothing_of_ours_is_left(self, root):
        before = {path for path in root.rglob("*")}
        install(profiles(root))
        compiled = folder_of(profile_at(root)) / "__pycache__"
        compiled.mkdir()
        for name in ("__init__", "cli", "config_schema", "oauth_flow"):
            (compiled / f"{name}.cpython-311.pyc").write_bytes(b"")
        assert set(outcomes(uninstall(profiles(root))).values()) == {"removed"}
        assert {path for path in root.rglob("*") if path.name != "plugins"} == before
        assert set(outcomes(uninstall(profiles(root))).values()) == {"not there"}

    def test_what_somebody_added_stays(self, root):
        install(profiles(root))
        added = folder_of(profile_at(root)) / "notes.txt"
        added.write_text("mine")
        uninstall(profiles(root))
        assert [path.name for path in added.parent.iterdir()] == ["notes.txt"]
        assert not is_placed(profile_at(root))


class TestTheInterpreterOfHermes:
    def program(self, folder: Path, text: str, name: str = "hermes") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def interpreter(self, folder: Path, answer: str) -> Path:
        return self.program(folder, f"#!/bin/sh\necho '{answer}'\n", "python")

    def environment(self, folder: Path, *modules: str) -> Path:
        """One of its own with a `hermes` in it, and of packages nothing but these modules."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = folder / "lib" / version / "site-packages"
        for name in ("hermes_cli/__init__.py", *modules):
            (packages / name).parent.mkdir(parents=True, exist_ok=True)
            (packages / name).write_text("")
        base = Path(getattr(sys, "_base_executable", sys.executable))
        (folder / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
        self.program(folder / "bin", "")
        (folder / "bin" / "python").symlink_to(base)
        return folder / "bin" / "python"

    def advice(self, python: Path) -> str:
        found = reach({"PATH": str(python.parent)})
        assert (found.python, found.version) == (python, None)
        return found.advice.partition("Run: ")[2]

    def test_one_that_has_no_souvenance_gets_the_exact_command(self, tmp_path):
        python = self.environment(tmp_path / "its venv", "pip.py")
        assert self.advice(python) == f"'{python}' -m pip install 'souvenance[hermes]'"

    def test_one_without_pip_is_served_by_uv(self, tmp_path):
        python = self.environment(tmp_path)
        assert self.advice(python) == f"uv pip install --python {python} 'souvenance[hermes]'"

    def test_on_windows_it_is_one_that_every_shell_there_reads(self, monkeypatch):
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setattr(sys, "executable", r"C:\Users\Ann Lee\python.exe")
        told = cli.command()
        assert r'"C:\Users\Ann Lee\python.exe"' in told
        assert told.endswith(" souvenance[hermes]") and "'" not in told

    @pytest.mark.parametrize("installer", ["pm/workspace.py", "hermes_cli/plugin_python_deps.py"])
    def test_one_that_installs_what_plugins_need_is_left_to_do_so(self, tmp_path, installer):
        """What pip adds to it, its next update drops."""
        python = self.environment(tmp_path, "pip.py", installer)
        assert self.advice(python) == "hermes plugins enable souvenance"

    @pytest.mark.parametrize("wrapper", ['#!/bin/sh\nexec "{}" "$@"\n', '#!/bin/bash\n{} "$@"\n'])
    def test_a_wrapper_leads_to_the_real_one(self, tmp_path, wrapper):
        venv = tmp_path / "venv"
        python = self.interpreter(venv / "bin", '{"version": "0.1.0", "command": ""}')
        (venv / "pyvenv.cfg").write_text("")
        real = self.program(venv / "bin", "")
        self.program(tmp_path / "bin", wrapper.format(real))
        assert reach({"PATH": str(tmp_path / "bin")}).python == python

    def test_a_link_leads_to_the_real_one(self, tmp_path):
        venv = tmp_path / "venv"
        python = self.interpreter(venv / "bin", '{"version": "9.9", "command": ""}')
        (venv / "pyvenv.cfg").write_text("")
        real = self.program(venv / "bin", "")
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "hermes").symlink_to(real)
        found = reach({"PATH": f"{tmp_path / 'bin'}{os.pathsep}/bin"})
        assert (found.python, found.version, found.advice) == (python, "9.9", "")

    def test_wrappers_that_lead_in_circles_are_given_up(self, tmp_path):
        first, second = tmp_path / "a" / "hermes", tmp_path / "b" / "hermes"
        self.program(first.parent, f"#!/bin/sh\nexec {second}\n")
        self.program(second.parent, f"#!/bin/sh\nexec {first}\n")
        assert reach({"PATH": str(first.parent)}).version is None

    def test_the_environment_that_we_are_in_needs_no_asking(self, tmp_path):
        self.program(tmp_path, f"#!{sys.executable}\n")
        assert reach({"PATH": str(tmp_path)}).version == __version__

    def test_where_hermes_is_not_found_the_next_step_is_told(self, tmp_path):
        found = reach({"PATH": str(tmp_path)})
        assert found.python is None
        assert found.advice.endswith("run: souvenance hermes install")
