"""Categories as text, where other software has no types of ours; a cluster has one text a joint category."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import product

from budget_opt.model.domain import Label


def as_text(labels: Iterable[Label | None], missing: str = "") -> list[str]:
    """The labels as they stand in a CSV release: true, false, 12; `missing` for the missing category.

    No declared label is empty, so the default is never one of the others.
    """
    return [missing if label is None else _text(label) for label in labels]


def _text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


MISSING = "(missing)"
"""Stands for the missing category where a label cannot be empty."""


def named(labels: Iterable[Label | None]) -> tuple[list[str], str]:
    """The labels as text, none of them empty, and what the missing one among them is called."""
    given = list(labels)
    missing = unused(MISSING, as_text(label for label in given if label is not None))
    return as_text(given, missing), missing


def unused(word: str, labels: Collection[str]) -> str:
    """The word, with as many underscores as it takes to be none of the labels."""
    while word in labels:
        word += "_"
    return word


def separator_for(members: Sequence[Sequence[str]]) -> str:
    """What stands between the members' labels in a joint one: " + ", with more signs where a label has them.

    It has one sign more than any run of them in a label, and blanks on both sides: so a joint label has such
    a run where labels meet and nowhere else, and can be read in one way only.
    """
    runs = [len(run) for labels in members for label in labels for run in re.findall(r"\++", label)]
    return f" {'+' * (1 + max(runs, default=0))} "


def joint_labels(members: Sequence[Sequence[str]], separator: str) -> list[str]:
    """The joint labels by joint code, row-major; the labels themselves of one member."""
    return [separator.join(labels) for labels in product(*members)]
