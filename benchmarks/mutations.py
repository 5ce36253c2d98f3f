"""Faults that a randomizer can have, one small change of the source each, from the files in `faults/`.

A file lists sources with the tests that are likely to notice, which run first, and for each change a name,
the text `before`, which stands exactly once in the source, and the text `after`. Nothing there changes only
speed or the words of a message.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "faults"


class NoMutantError(Exception):
    """A change that cannot be made, or tests that judge nothing."""


@dataclass(frozen=True)
class Mutation:
    """One change of one file of the package."""

    name: str
    path: str
    tests: tuple[str, ...]
    before: str
    after: str


def all_mutations() -> list[Mutation]:
    """Every change, in the order of the files."""
    return [
        Mutation(path=file["path"], tests=tuple(file["tests"]), **mutant)
        for listed in sorted(FOLDER.glob("*.toml"))
        for file in tomllib.loads(listed.read_text(encoding="utf-8"))["file"]
        for mutant in file["mutant"]
    ]


def mutated(source: str, mutation: Mutation) -> str:
    """The source with the change; `NoMutantError` where its text does not stand exactly once."""
    times = source.count(mutation.before)
    if times != 1:
        raise NoMutantError(f"{mutation.name}: stands {times} times in {mutation.path}, must stand once")
    changed = source.replace(mutation.before, mutation.after)
    try:
        compile(changed, mutation.path, "exec")
    except SyntaxError as failure:
        raise NoMutantError(f"{mutation.name}: line {failure.lineno} is no Python then") from None
    return changed


def require_all(root: Path, mutations: Sequence[Mutation]) -> None:
    """Raise `NoMutantError` with every change that cannot be made in the package at `root`."""
    faults = []
    for mutation in mutations:
        try:
            mutated((root / mutation.path).read_text(encoding="utf-8"), mutation)
        except (NoMutantError, OSError) as failure:
            faults.append(str(failure))
        faults += [
            f"{mutation.name}: there is no {test}" for test in mutation.tests if not (root / test).exists()
        ]
    if faults:
        raise NoMutantError("\n".join(faults))
