"""What has to be installed for Spark: pyspark, and a Java runtime where the session runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from budget_opt.errors import InputError

LEAST_JAVA = 17
"""The lowest major version of Java that Spark 4 runs on."""

_EXTRA = "python -m pip install 'budget-opt[spark]'"
_GET_JAVA = (
    f"Spark runs on a Java runtime, version {LEAST_JAVA} or later: on Debian or Ubuntu install it with "
    "apt-get install openjdk-17-jre-headless, elsewhere from adoptium.net; then let JAVA_HOME be its folder, "
    "or put its java on the PATH."
)
_ANSWERS_WITHIN = 60
"""Seconds that java gets to say its version."""


def require_pyspark() -> None:
    """`InputError` that names the extra where pyspark is not installed."""
    if find_spec("pyspark") is None:
        raise InputError(f"pyspark is not installed. Install it with: {_EXTRA}. {_GET_JAVA}")


def require_java() -> None:
    """`InputError` where Spark would find no Java runtime, or one that is too old, and how to get one."""
    java = _java()
    major = _major_version(java)
    if major is None:
        raise InputError(f"{java}: is no Java runtime. {_GET_JAVA}")
    if major < LEAST_JAVA:
        raise InputError(f"{java}: is Java {major}, which is too old. {_GET_JAVA}")


def _java() -> str:
    """The program that Spark's own scripts would start."""
    if home := os.environ.get("JAVA_HOME"):
        program = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not program.is_file():
            raise InputError(f"JAVA_HOME: is {home!r}, where there is no bin/java. {_GET_JAVA}")
        return str(program)
    found = shutil.which("java")
    if found is None:
        raise InputError(f"java: is not on the PATH, and JAVA_HOME is not set. {_GET_JAVA}")
    return found


def _major_version(java: str) -> int | None:
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=_ANSWERS_WITHIN
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # "1.8.0_392" was version 8, "17.0.15" is 17
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(version[1]) if version else None
