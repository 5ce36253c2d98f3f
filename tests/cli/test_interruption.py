"""Ctrl-C before a command has begun, and a signal while it releases."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import budget_opt as bo

PROBLEM = bo.Problem(
    attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("income", categories=5)],
    moments=[bo.CrossMoment("smoker", "income")],
    total_epsilon=4.0,
)
INTERRUPTING = """
import sys
from budget_opt.cli import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
sys.exit(main(["schema"]))
"""


@pytest.mark.parametrize("name", ["budget_opt.cli.output", "typer", "budget_opt.cli.app"])
def test_ctrl_c_while_the_parts_are_imported_ends_in_one_line(name):
    environment = {**os.environ, "PYTHONPATH": str(Path(bo.__file__).parents[1])}
    command = [sys.executable, "-c", INTERRUPTING, name]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.startswith("interrupted; ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.slow
def test_r28_ended_by_a_signal_a_release_leaves_nothing(tmp_path, monkeypatch):
    """SIGTERM is as orderly as Ctrl-C: no target, no temporary file, exit code 130."""
    monkeypatch.chdir(tmp_path)
    bo.uniform(PROBLEM).write("allocation.json")
    Path("data.csv").write_text("smoker,income\n" + "0,1\n1,4\n" * 1_000_000)
    command = [sys.executable, "-m", "budget_opt", "randomize", "allocation.json", "data.csv"]
    environment = {**os.environ, "PYTHONPATH": str(Path(bo.__file__).parents[1])}
    process = subprocess.Popen([*command, "-o", "new/r.csv"], env=environment, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not is_writing(process.pid) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    process.stderr.close()
    assert process.returncode == 130
    assert not Path("new").exists()


def is_writing(pid: int) -> bool:
    """Whether the process has a file in the folder `new` open; it has no name until the release is whole."""
    try:
        opened = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:  # a file was closed meanwhile
        return False
    return any(name.startswith(str(Path("new").absolute())) for name in opened)
