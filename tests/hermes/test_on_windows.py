"""The provider where the Unix-only parts of Python are missing, and files obey Windows' rules.

A real Windows was not at hand: what stands in for it are its rules, in a process of its own. The locks are
`filelock`'s, by which that process has this system's; that they hold on Windows is the library's promise.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.stage import PATIENCE_SECONDS
from souvenance.hermes.host import default_home, usual_home

_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)\d)(\..*)?", re.I)
UNIX_ONLY = ("fcntl", "pwd", "grp", "resource", "termios")
STAND_IN = f"""
import os, sys
from pathlib import Path
from types import ModuleType
import filelock

filelock._unix.os = ModuleType("os")
vars(filelock._unix.os).update(vars(os))
for name in {UNIX_ONLY}:
    sys.modules[name] = None
for name in dir(os):
    if name in ("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "fork", "fchmod", "fchown",
                "chown", "geteuid", "getuid", "getgid", "getegid", "pread", "pwrite", "register_at_fork"):
        delattr(os, name)

def is_open(path):
    real = os.path.realpath(path)
    for one in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{{one}}") == real:
                return True
        except OSError:
            continue
    return False

def refusing(function, refused):
    def guarded(*args, **kwargs):
        if any(refused(one) for one in args[:2] if isinstance(one, str | os.PathLike)):
            raise PermissionError(13, "Permission denied", str(args[0]))
        return function(*args, **kwargs)
    return guarded

os.O_BINARY = 1 << 30
opened = refusing(os.open, os.path.isdir)

def opening(path, flags, *args, **kwargs):
    if os.fspath(path).endswith("-wal") and not flags & os.O_BINARY:
        raise AssertionError("Windows would read the log as text")
    return opened(path, flags & ~os.O_BINARY, *args, **kwargs)

os.open = opening
for name in ("replace", "rename", "unlink", "remove"):
    setattr(os, name, refusing(getattr(os, name), is_open))
"""
REMEMBERS = """
from hermes.stage import Stage
stage = Stage(Path(sys.argv[1]))
stage.tell(stage.provider("s1"), "I am going to Chengdu on May 25.")
stage.anew()
from souvenance.hermes.config_files import write_setting
write_setting(stage.home, "hermes", {"contextTokens": 900}, environment=stage.environment)
provider = stage.provider("s2")
print(stage.recall(provider, "When do I travel to Chengdu?"))
provider.shutdown()
stage.close()
from types import SimpleNamespace
from souvenance.commands import souvenance_command

def run(*arguments):
    try:
        souvenance_command(SimpleNamespace(arguments=["--home", str(stage.home), *arguments]))
    except SystemExit as ended:
        print(arguments[0], "ended with", ended.code)

run("setup", "--yes", "--peer", "ann")
run("status")
run("show", "--json")
import contextlib, io, json
with contextlib.redirect_stdout(io.StringIO()) as shown:
    run("show", "--json")
line = json.loads(shown.getvalue().splitlines()[0])["told"][0]["id"]
run("correct", line, "I am going to Kunming on May 25.", "--yes")
run("show")
run("install", "--uninstall")
print("loaded:", sorted(name for name in %r if sys.modules.get(name)))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    program = STAND_IN + REMEMBERS % (UNIX_ONLY,)
    paths = [one for one in sys.path if one]
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    return folder, done


def test_what_was_said_is_recalled_by_the_next_process(ran):
    _, done = ran
    assert done.returncode == 0, done.stderr
    assert "I am going to Chengdu on May 25." in done.stdout
    assert "loaded: []" in done.stdout
    assert "Traceback" not in done.stderr


def test_the_commands_set_up_show_correct_and_take_away(ran):
    _, done = ran
    commands = ("setup", "status", "show", "correct", "install")
    assert [name for name in commands if f"{name} ended with 0" not in done.stdout] == [], done.stdout
    assert "memory      on, and it works" in done.stdout
    assert "I am going to Kunming on May 25." in done.stdout


def test_every_file_has_a_name_that_windows_takes(ran):
    folder, _ = ran
    names = [path.name for path in folder.rglob("*")]
    assert "souvenance.json" in names
    for name in names:
        assert not set(name) & set('<>:"/\\|?*'), name
        assert not name.endswith((".", " ")), name
        assert not _RESERVED.fullmatch(name), name


@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({"LOCALAPPDATA": "/d/local", "USERPROFILE": "/c/ann"}, "/d/local/hermes"),
        ({"LOCALAPPDATA": " ", "USERPROFILE": "/c/ann"}, "/c/ann/AppData/Local/hermes"),
        ({"HOME": "/git-bash/ann", "LOCALAPPDATA": "/d/local"}, "/d/local/hermes"),
    ],
)
def test_the_default_profile_is_where_the_host_has_it_on_windows(environment, home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert usual_home(environment) == Path(home)
    assert default_home(Path(home, "profiles", "work"), environment) == Path(home)
