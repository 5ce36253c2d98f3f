"""The page: sections into one HTML file that loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from budget_opt.report.content import ReportContent
from budget_opt.report.writing import GENERATOR
from budget_opt.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("retention.js", "split.js", "words.js", "explorer.js")
"""In the order in which they build on each other."""


def page_of(content: ReportContent) -> str:
    """The file's text; names are escaped wherever they stand."""
    from markupsafe import Markup

    style = static("style.css")
    script = "".join(static(name) for name in SCRIPTS)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            content=content,
            generator=Markup(f'{GENERATOR} {__version__}">'),
            policy=policy(style, script),
            style=Markup(style),
            script=Markup(script),
            data=None if content.explorer is None else Markup(json_in_html(content.explorer)),
        )
    )


def policy(style: str, script: str) -> str:
    """Nothing is loaded from anywhere, and only this style and this script count."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def json_in_html(document: dict[str, Any]) -> str:
    """JSON that no name can end: what means something to HTML or to JavaScript is escaped."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def static(name: str) -> str:
    """A style sheet or script of the page."""
    return files("budget_opt.report").joinpath("static", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("budget_opt.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
