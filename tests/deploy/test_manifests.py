"""What is in deploy/: the Helm chart, the units for systemd and launchd, and compose.yaml beside them."""

from __future__ import annotations

import json
import os
import platform
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import httpx
import pytest
import yaml

from deploy.image import ROOT
from environments import client_program
from objects.seaweed import Seaweed
from objects.signed import ask
from processes import PATIENCE_SECONDS
from souvenance.adapters.key_files import KeyFiles
from souvenance.config import settings_from

PAGE = ROOT / "docs/howto/run-in-containers.md"
CHART = ROOT / "deploy/helm/souvenance"
UNIT = ROOT / "deploy/systemd/souvenance.service"
KUBERNETES = "kubernetes-1.37.0"
AGENT = ROOT / "deploy/launchd/io.souvenance.server.plist"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
BOUNDED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def helm(*command, values="{}"):
    """Runs Helm itself, with values as JSON over those of the chart."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("Helm can be installed on x86_64 alone")
    program = (client_program(KUBERNETES, "helm"), *command, "--values", "-")
    return subprocess.run(program, input=values, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def template(*flags, chart=CHART, values="{}"):
    return helm("template", "memory", chart, "--namespace", "agents", *flags, values=values)


@cache
def rendered(values, *flags):
    """What Helm makes of the chart with values (as JSON), held against Kubernetes' own schemas."""
    ran = template(*flags, values=values)
    assert ran.returncode == 0, ran.stderr
    held = subprocess.run(
        (client_program(KUBERNETES), ROOT / "tests/deploy/kubernetes_objects.py"),
        input=ran.stdout,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert held.returncode == 0, held.stderr
    return {one["kind"]: one for one in json.loads(held.stdout)}


def made(**values):
    return rendered(json.dumps(values))


EVERYTHING = {
    "servers": 2,
    "workers": 3,
    "secret": "memory-secret",
    "keys": "memory-keys",
    "hostNames": ["memory.example", "memory"],
    "storage": {"className": "fast"},
    "settings": {"SOUVENANCE_STORE": "@/run/secrets/souvenance/store", "SOUVENANCE_BODY_BYTES": 'a"b'},
}


def pod(found):
    return found["spec"]["template"]["spec"]


def test_the_chart_makes_one_server_with_a_disk_and_a_service_that_finds_it():
    found = made()
    assert found.keys() == {"StatefulSet", "Service"}
    servers = found["StatefulSet"]["spec"]
    assert servers["replicas"] == 1
    labels = servers["template"]["metadata"]["labels"]
    assert servers["selector"]["matchLabels"].items() <= labels.items()
    assert found["Service"]["spec"]["selector"].items() <= labels.items()
    [claim] = servers["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "memory" and "storageClassName" not in claim["spec"]


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["alone", "everything"])
def test_every_container_is_bounded_and_every_mount_has_its_volume(values):
    for found in made(**values).values():
        if found["kind"] == "Service":
            continue
        spec = pod(found)
        assert spec["securityContext"]["runAsNonRoot"] and spec["automountServiceAccountToken"] is False
        claims = found["spec"].get("volumeClaimTemplates", [])
        volumes = {one["name"] for one in spec["volumes"]} | {one["metadata"]["name"] for one in claims}
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            assert container["securityContext"] == BOUNDED
            assert {one["name"] for one in container["volumeMounts"]} <= volumes


def test_secrets_come_as_files_and_keys_before_the_server_begins():
    found = made(**EVERYTHING)
    assert found.keys() == {"StatefulSet", "Service", "Deployment"}
    for one in (found["StatefulSet"], found["Deployment"]):
        [container], [keys] = pod(one)["containers"], pod(one)["initContainers"]
        assert {"name": "SOUVENANCE_STORE", "value": "@/run/secrets/souvenance/store"} in container["env"]
        assert {"name": "SOUVENANCE_BODY_BYTES", "value": 'a"b'} in container["env"]
        assert keys["name"] == "keys" and "memory-keys" in json.dumps(pod(one)["volumes"])
        for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
            [host] = container[probe]["httpGet"]["httpHeaders"]
            assert host == {"name": "Host", "value": "memory.example"}
    assert found["Deployment"]["spec"]["replicas"] == 3
    assert pod(found["Deployment"])["containers"][0]["args"][0] == "work"


@pytest.fixture
def keys(tmp_path):
    """Runs what the chart runs before the server begins, with a Secret and a disk of its own."""
    (tmp_path / "secret").mkdir()
    [container] = pod(made(**EVERYTHING)["StatefulSet"])["initContainers"]
    [script] = container["args"]
    command = [*container["command"], script.replace("/run/secrets/keys", str(tmp_path / "secret"))]
    disk = tmp_path / "disk/memory"

    def begin(**given):
        for name in ("root", "signing"):
            (tmp_path / f"secret/{name}.key").write_text(given[name])
        ran = subprocess.run(
            command, env={**os.environ, "SOUVENANCE_HOME": str(disk)}, capture_output=True, text=True
        )
        return ran, {path.name: path.read_text() for path in disk.iterdir()}

    return begin


def test_an_upgrade_keeps_the_keys_that_are_on_a_disk(keys):
    ran, there = keys(root="one", signing="two")
    assert (ran.returncode, there) == (0, {"root.key": "one", "signing.key": "two"})
    ran, there = keys(root="one", signing="two")
    assert (ran.returncode, there) == (0, {"root.key": "one", "signing.key": "two"})
    for other in ({"root": "new", "signing": "two"}, {"root": "one", "signing": "new"}):
        ran, there = keys(**other)
        assert (ran.returncode, there) == (1, {"root.key": "one", "signing.key": "two"})
        assert "Nothing was changed" in ran.stderr


def test_the_keys_that_the_chart_copies_are_those_that_a_server_makes(keys, tmp_path):
    KeyFiles.create(tmp_path)
    made_there = {path.name: path.read_text() for path in tmp_path.glob("*.key")}
    ran, there = keys(root=made_there["root.key"], signing=made_there["signing.key"])
    assert (ran.returncode, there) == (0, made_there)
    disk = tmp_path / "disk/memory"
    assert KeyFiles.create(disk).instance == KeyFiles(tmp_path).instance
    assert {disk.stat().st_mode & 0o777, *((disk / name).stat().st_mode & 0o777 for name in there)} == {
        0o700,
        0o600,
    }


def test_no_disk_goes_with_an_upgrade_or_with_the_chart():
    policy = made()["StatefulSet"]["spec"]["persistentVolumeClaimRetentionPolicy"]
    assert policy == {"whenDeleted": "Retain", "whenScaled": "Retain"}


def test_the_chart_is_of_this_version_and_its_settings_are_settings(tmp_path):
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/souvenance/version.py").read_text("utf-8"))[1]
    assert chart["version"] == chart["appVersion"] == values["image"]["tag"] == version
    assert settings_from(values["settings"], str(tmp_path)).telemetry.metrics


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"servers": 2, "settings": {"SOUVENANCE_STORE": "@/x"}},
            "keys: String length must be greater than or equal to 1",
        ),
        ({"servers": 2, "keys": "memory-keys"}, "settings: SOUVENANCE_STORE is required"),
        (
            {"workers": 1, "settings": {"SOUVENANCE_STORE": "@/x"}},
            "keys: String length must be greater than or equal to 1",
        ),
        ({"servers": 0}, "servers: Must be greater than or equal to 1"),
        ({"replicas": 2}, "Additional property replicas is not allowed"),
        (
            {"settings": {"SOUVENANCE_BODY_BYTES": 100}},
            "SOUVENANCE_BODY_BYTES: Invalid type. Expected: string, given: integer",
        ),
        ({"storage": {"size": 10}}, "storage.size: Invalid type. Expected: string, given: integer"),
    ],
    ids=str,
)
def test_the_chart_refuses_values_that_make_no_memory(wrong, told):
    ran = template(values=json.dumps(wrong))
    assert ran.returncode != 0
    assert told in ran.stderr


def test_the_notes_say_how_to_get_the_owner_s_token(tmp_path):
    """Helm prints them in a cluster alone, so here they stand in an object of a copy of the chart."""
    chart = shutil.copytree(CHART, tmp_path / "souvenance")
    notes = (chart / "templates/NOTES.txt").read_text("utf-8")
    (chart / "templates/notes.yaml").write_text("notes: |\n" + textwrap.indent(notes, "  "), "utf-8")
    ran = template("--show-only", "templates/notes.yaml", chart=chart)
    assert "-n agents exec memory-0 -- cat" in yaml.safe_load(ran.stdout)["notes"]


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["alone", "everything"])
def test_helm_lints_the_chart_strictly_with_one_server_and_with_several(values):
    ran = helm("lint", "--strict", CHART, values=json.dumps(values))
    assert ran.returncode == 0, ran.stdout
    assert "[WARNING]" not in ran.stdout + ran.stderr


def test_helm_lint_notices_what_is_wrong_with_a_chart(tmp_path):
    chart = shutil.copytree(CHART, tmp_path / "souvenance")
    with (chart / "templates/service.yaml").open("a", encoding="utf-8") as template:
        template.write("{{ .Values.none.at.all }}\n")
    assert helm("lint", "--strict", chart).returncode != 0


def test_helm_takes_what_the_page_sets_when_it_installs_and_when_it_grows():
    """An upgrade that reuses values has those of the installation, and its own over them."""
    commands = re.findall(
        r"^helm (?:install|upgrade) memory deploy/helm/souvenance (.*)$",
        PAGE.read_text("utf-8").replace("\\\n", ""),
        re.M,
    )
    install, upgrade = (shlex.split(one) for one in commands)
    assert rendered("{}", *install)["StatefulSet"]["spec"]["replicas"] == 1
    upgrade.remove("--reuse-values")
    grown = rendered("{}", *install, *upgrade)
    assert grown["StatefulSet"]["spec"]["replicas"] == 3
    assert grown["Deployment"]["spec"]["replicas"] == 2


@pytest.mark.parametrize(("version", "taken"), [("1.28.0", False), ("1.29.0", True), ("1.37.0", True)])
def test_the_chart_says_which_kubernetes_it_needs(version, taken):
    assert (template("--kube-version", version).returncode == 0) == taken


def verified(unit, *how):
    folder = unit.parent / "run"
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        ["systemd-analyze", *how, "verify", unit],
        env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_systemd_finds_nothing_wrong_with_the_unit_but_a_program_that_is_not_installed(tmp_path):
    """The program is another, for none is in /opt here. All else stands as it is."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text("utf-8").replace("/opt/souvenance/bin/souvenance", "/usr/bin/true"))
    ran = verified(unit)
    assert (ran.returncode, ran.stderr) == (0, "")
    unit.write_text(unit.read_text("utf-8").replace("ProtectSystem=strict", "ProtectSistem=strict"))
    assert "ProtectSistem" in verified(unit).stderr


def test_systemd_calls_the_unit_s_exposure_ok(tmp_path):
    ran = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", UNIT],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran.stdout[-400:] + ran.stderr


def test_the_agent_of_launchd_starts_the_same_as_the_unit():
    agent = plistlib.loads(AGENT.read_bytes())
    unit = UNIT.read_text("utf-8")
    assert " ".join(agent["ProgramArguments"]) in unit
    assert agent["Umask"] == 0o077 and f"{agent['Umask']:04o}" in unit


def ours_waits_for(services):
    """What must be there before Souvenance starts, where its profile is on."""
    waits = services["souvenance"]["depends_on"]
    assert all(one["required"] is False for one in waits.values())
    return {name: one["condition"] for name, one in waits.items()}


def test_compose_makes_the_bucket_once_its_store_is_healthy(seaweed):
    """Both commands are run as they stand there, with the programs and ports of this machine."""
    services = COMPOSE["services"]
    weed = Path(client_program("seaweedfs-4.48", "weed")).parent
    path = {"PATH": f"{weed}:{os.environ['PATH']}"}
    [_, *health] = services["s3"]["healthcheck"]["test"]
    address = seaweed.url.removeprefix("http://")
    assert "http://127.0.0.1:8333/" in health[-1]
    asked = health[-1].replace("127.0.0.1:8333", address)
    assert httpx.get(asked, trust_env=False).status_code == 200
    [script] = services["bucket"]["command"]
    assert services["bucket"]["entrypoint"] == ["sh", "-ec"] and "s3:9333" in script
    assert seaweed.ask("GET", "/souvenance")[0] == 404
    for _ in range(2):  # It is run again whenever everything is started.
        command = ["sh", "-ec", script.replace("s3:9333", seaweed.master)]
        ran = subprocess.run(command, env=path, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert seaweed.ask("GET", "/souvenance")[0] == 200


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    """What the page's commands make, with stand-ins for sudo and docker: the folder, who is given which file,
    and the settings that each profile is started with."""
    folder = tmp_path_factory.mktemp("secrets")
    stands_in = """#!/bin/sh
echo "$(basename "$0") $*" >> "$TOLD"; env | grep ^SOUVENANCE_ >> "$TOLD" || true
"""
    for name in ("sudo", "docker"):
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(stands_in)
        program.chmod(0o755)
    blocks = re.findall(r"^```sh\n(mkdir .*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TOLD": str(folder / "told")}
    for block in blocks:
        subprocess.run(["bash", "-ec", block], cwd=folder, env=environment, check=True)
    return folder / "secrets", (folder / "told").read_text().splitlines()


def test_the_page_makes_the_secrets_that_compose_mounts(secrets, tmp_path):
    folder, told = secrets
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == dict.fromkeys(["store", "postgres.password", "s3.id", "s3.secret", "s3.json"], 0o600)
    given = {name: words[2] for words in map(str.split, told) for name in words[3:] if words[0] == "sudo"}
    assert {Path(name).name: user for name, user in given.items()} == {
        **dict.fromkeys(["store", "s3.id", "s3.secret"], "10001"),
        "postgres.password": "999",
        "s3.json": "1000",
    }
    assert [line for line in told if line.startswith("docker ")] == [
        "docker compose --profile postgres up --detach",
        "docker compose --profile s3 up --detach",
    ]
    named = dict(line.split("=", 1) for line in told if line.startswith("SOUVENANCE_"))
    assert set(named) <= COMPOSE["services"]["souvenance"]["environment"].keys()
    assert settings_from(named, str(tmp_path)).objects == named["SOUVENANCE_OBJECTS"]
    assert {name for name in named.values() if name.startswith("@")} == {
        f"@/run/secrets/{name}" for name in ("store", "s3.id", "s3.secret")
    }
    password = (folder / "postgres.password").read_text()
    assert (folder / "store").read_text() == f"postgresql://souvenance:{password}@postgres/souvenance\n"


def test_seaweedfs_lets_the_key_of_the_page_in_and_no_other(secrets, tmp_path):
    folder, _ = secrets
    key = ((folder / "s3.id").read_text(), (folder / "s3.secret").read_text())
    server = Seaweed(tmp_path, (folder / "s3.json").read_text(), key)
    try:
        server.start()
        assert server.ask("PUT", "/souvenance")[0] == 200
        assert ask(server.port, "GET", "/souvenance", key=key[0], secret="another")[0] == 403
    finally:
        server.kill()


def test_compose_starts_one_bounded_service_and_the_others_by_profile():
    services = COMPOSE["services"]
    assert {name for name, one in services.items() if "profiles" not in one} == {"souvenance"}
    assert {name: one["profiles"] for name, one in services.items() if "profiles" in one} == {
        "postgres": ["postgres"],
        "s3": ["s3"],
        "bucket": ["s3"],
    }
    assert ours_waits_for(services) == {
        "postgres": "service_healthy",
        "bucket": "service_completed_successfully",
    }
    assert services["bucket"]["depends_on"] == {"s3": {"condition": "service_healthy"}}
    assert all("healthcheck" in services[name] for name in ("postgres", "s3"))
    ours = services["souvenance"]
    assert ours["read_only"] and ours["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in ours["ports"])
    named = {volume.split(":")[0] for one in services.values() for volume in one.get("volumes", ())}
    assert {one for one in named if not one.startswith("$")} == COMPOSE["volumes"].keys()


def test_what_compose_sets_are_settings_with_and_without_the_variables_that_it_reads(tmp_path):
    given = COMPOSE["services"]["souvenance"]["environment"]
    defaults = {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in given.items()}
    assert settings_from(defaults, str(tmp_path)).store is None
    documented = re.findall(r"`(SOUVENANCE_\w+)=(\S+)`", PAGE.read_text("utf-8"))
    secrets = {name: value for name, value in documented if value.startswith("@/run/secrets/")}
    assert secrets.keys() >= {"SOUVENANCE_STORE", "SOUVENANCE_OBJECTS_ACCESS_KEY"}
    assert secrets.keys() <= given.keys()
    found = settings_from({**defaults, **secrets}, str(tmp_path))
    assert (found.store, found.objects_key) == (
        "@/run/secrets/store",
        ("@/run/secrets/s3.id", "@/run/secrets/s3.secret"),
    )
