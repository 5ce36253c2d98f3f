"""Reports that many tests read, and one browser for all of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import budget_opt as bo
from budget_opt.report.blocks import Figure
from tests.report.parsed_page import Page
from tests.report.reported_problems import hand_made, health, hostile

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

RECORDS = 20_000


@dataclass(frozen=True)
class Written:
    """A split and the report that was written about it."""

    allocation: bo.Allocation
    path: Path

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def page(self) -> Page:
        return Page(self.source)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A report on a split by hand that keeps every limit, at 20,000 records."""
    allocation = hand_made(health())
    return Written(allocation, bo.report(allocation, tmp_path_factory.mktemp("report") / "r.html", n=RECORDS))


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A report on a problem whose every name is an attack on the page."""
    allocation = hostile()
    return Written(allocation, bo.report(allocation, tmp_path_factory.mktemp("report") / "h.html", n=RECORDS))


@pytest.fixture
def nothing_is_drawn(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what is written: but for the report that all share, figures have no drawing."""
    figures = import_module("budget_opt.report.figures")
    monkeypatch.setattr(figures, "_figure", lambda draw, name, title, text: Figure("<svg/>", title, text))


def _program(*names: str) -> str:
    """The path of an installed program; without one the test is skipped, in CI it fails."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        message = f"{names[0]} is not installed; apt-get install chromium chromium-driver brings it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def _start(*switches: str) -> Chrome:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    # a container's root has no sandbox, and little shared memory
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", *switches):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(_program("chromedriver")))


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """A headless Chromium."""
    driver = _start()
    yield driver
    driver.quit()


@pytest.fixture
def browser_without_scripts() -> Iterator[Chrome]:
    """The same with scripts switched off for pages; the driver itself still asks by other means."""
    driver = _start("blink-settings=scriptEnabled=false")
    yield driver
    driver.quit()
