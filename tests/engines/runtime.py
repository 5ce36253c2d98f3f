"""Where tests of Spark can run."""

from __future__ import annotations

import os
import shutil

import pytest

SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"}
"""For a Java process that ends after seconds: what is compiled more thoroughly would not pay."""


def require_java_runtime() -> None:
    """Without a Java runtime the test is skipped, in CI it fails."""
    if shutil.which("java") is None:
        message = "there is no java; apt-get install default-jre-headless brings it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
