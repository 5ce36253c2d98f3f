"""The mutants of R9 can be made: `benchmarks/mutants.py` then shows that each of them fails the tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.mutations import all_mutations, require_all


def test_r9_every_mutant_is_one_change_of_a_text_that_stands_once(root: Path) -> None:
    mutations = all_mutations()
    require_all(root, mutations)
    assert all(mutation.before != mutation.after for mutation in mutations)
    assert max(Counter(mutation.name for mutation in mutations).values()) == 1


def test_r9_the_mutants_that_the_requirement_lists_are_among_them() -> None:
    names = {mutation.name for mutation in all_mutations()}
    listed = {
        "the offset is one less: a different report for what is the truth",
        "the truth is kept with p + (1 - p) p",
        "floor for ceil in the count of words",
        "biased modulo: the word modulo the number of categories",
        "the last chunk is forgotten",
        "one stream for two attributes",
    }
    assert listed <= names
