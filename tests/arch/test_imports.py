"""What the package loads, and when: a host agent may start a process for every turn."""

import os
import subprocess
import sys

import souvenance

HEAVY = {
    "sqlite3",
    "cryptography",
    "jwt",
    "msgspec",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "prometheus_client",
    "opentelemetry",
    "psycopg",
    "pyrage",
    "click",
    "httpx",
    "starlette",
    "uvicorn",
    "anyio",
    "asyncio",
    "authlib",
    "mcp",
    "mcp_types",
    "pydantic",
    "ssl",
}
RUNS = 9
BUDGET_SECONDS = 0.060


def loaded_by(script, *arguments):
    """The top-level modules that a fresh interpreter has loaded after the script, beyond its own."""
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\nbefore = set(sys.modules)\n{script}\nprint(*set(sys.modules) - before)",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in told.stdout.split()}


def test_importing_the_package_loads_nothing_heavy():
    loaded = loaded_by("import souvenance")
    assert "souvenance" in loaded
    assert loaded & HEAVY == set()


def test_naming_an_error_loads_nothing_heavy():
    assert loaded_by("import souvenance; souvenance.SouvenanceError") & HEAVY == set()


def test_every_public_name_is_there_and_says_what_it_is():
    for name in souvenance.__all__:
        assert getattr(souvenance, name).__doc__, name
    assert set(dir(souvenance)) == set(souvenance.__all__)


def test_what_is_not_there_is_an_attribute_error():
    script = (
        "import souvenance\ntry:\n    souvenance.nothing\nexcept AttributeError:\n    import this_is_missing"
    )
    failed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "ModuleNotFoundError" in failed.stderr


PUT = """
from souvenance import open_installation, settings_from
house = open_installation(settings_from({}, sys.argv[1]))
from souvenance.gate import messages as m, operations as o
from souvenance.gate.token_verifier import Credentials
house.gate.call(o.PUT, Credentials(house.owner_cap), m.Put("hello"))
house.close()
"""


def test_a_put_loads_neither_the_index_nor_the_web(home):
    loaded = loaded_by(PUT, str(home))
    assert "sqlite3" in loaded
    assert loaded & {"numpy", "starlette", "uvicorn", "httpx", "anyio", "asyncio", "click"} == set()


def test_opening_a_folder_from_python_loads_no_web(home):
    script = (
        "import souvenance\nwith souvenance.open(sys.argv[1], embedder='none') as memory: memory.put('hello')"
    )
    loaded = loaded_by(script, str(home))
    assert loaded & {"starlette", "uvicorn", "httpx", "anyio", "asyncio", "click", "onnxruntime"} == set()


def test_the_command_line_loads_the_web_only_to_use_it(home):
    script = """
sys.argv = ["souvenance", "--home", sys.argv[1], "put", "hello"]
from souvenance.commands import main
try:
    main()
except SystemExit:
    pass
"""
    assert loaded_by(script, str(home)) & {"numpy", "starlette", "uvicorn", "httpx", "anyio"} == set()


def test_the_doors_of_a_server_load_the_protocol_of_mcp_only_to_speak_it():
    loaded = loaded_by("import souvenance.surfaces.http.server, souvenance.surfaces.mcp.door")
    assert "starlette" in loaded
    assert loaded & {"mcp", "mcp_types", "pydantic"} == set()


def cpu_seconds(script):
    """What a fresh interpreter spends on the script: user and system time, whatever else runs here."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", script], os.environ)
    _, status, used = os.wait4(child, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


def test_importing_the_package_costs_little_beyond_the_interpreter():
    cpu_seconds("import souvenance")
    package, interpreter = (min(cpu_seconds(it) for _ in range(RUNS)) for it in ("import souvenance", "pass"))
    assert package - interpreter < BUDGET_SECONDS
