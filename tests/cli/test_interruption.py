"""Ctrl-C before a command has begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import budget_opt as bo

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
