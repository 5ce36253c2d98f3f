"""Categories as text, where other software has no types of ours."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from budget_opt.model.domain import Label


def as_text(labels: Iterable[Label | None], missing: str = "") -> list[str]:
    """The labels as they stand in a CSV release: true, false, 12; `missing` for the missing category.

    No declared label is empty, so the default is never one of the others.
    """
    return [missing if label is None else _text(label) for label in labels]


def _text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def unused(word: str, labels: Collection[str]) -> str:
    """The word, with as many underscores as it takes to be none of the labels."""
    while word in labels:
        word += "_"
    return word
