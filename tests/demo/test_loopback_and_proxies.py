import os
import subprocess
import sys

from ports import vacant_port
from story import Stage


def test_a_cap_for_a_server_on_this_machine_is_not_handed_to_the_proxy_of_the_environment(tmp_path):
    with Stage(tmp_path) as stage, vacant_port() as port:
        stage.serve()
        passed = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
        ended = subprocess.run(
            [sys.executable, "-m", "souvenance", "--url", stage.url, "cap", "whoami"],
            env={
                **passed,
                "SOUVENANCE_HOME": str(stage.home),
                "http_proxy": f"http://127.0.0.1:{port}",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (ended.returncode, ended.stderr) == (0, "")
