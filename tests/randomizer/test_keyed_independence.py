"""Words of keyed mode are shared by nothing: R33, R34, and the attack on shared words fails.

Joint tables of two columns of reports of the same rows are compared with the product of the two matrices'
rows, each count with its exact binomial distribution: the false-alarm rate of each comparison is at most
1e-9, and with 200,000 rows a joint probability that is off by 0.008 (7 standard deviations) is found. Words
that two columns share move 0.1 or more of the joint probability.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from budget_opt.allocation import AllocatedAttribute
from budget_opt.randomizer.drawing import Keyed
from budget_opt.randomizer.kernel import kernel_for
from budget_opt.randomizer.row_names import positions
from budget_opt.randomizer.words import SeededWords
from tests.randomizer.exact_counts import assert_binomial, assert_independent, claimed
from tests.randomizer.keyed_cells import attribute, by_name, codes_for, parts, release_under

ROWS = 200_000
CODE = 1


ONE = attribute("x", ["a", "b", "c"])


@dataclass(frozen=True)
class Setting:
    """All that names the words of one column."""

    attribute: AllocatedAttribute = ONE
    data: str = "survey"
    number: int = 1
    row_id: str | None = None

    def reports(self, key: bytes, code: int = CODE) -> npt.NDArray[np.integer]:
        columns = by_name(self.attribute)
        keyed = Keyed(parts(columns), release_under(key, self.data, self.number), self.row_id)
        codes = codes_for(columns, np.full(ROWS, code))
        return keyed.reports(codes, positions(0, ROWS))[self.attribute.name]

    @property
    def row(self) -> npt.NDArray[np.float64]:
        return claimed(self.attribute)[CODE]


OTHERS = {
    "epsilon": Setting(attribute("x", ["a", "b", "c"], 2.0)),
    "a hair of epsilon": Setting(attribute("x", ["a", "b", "c"], 1.000001)),
    "width": Setting(attribute("x", ["a", "b", "c"], least_bits=64)),
    "attribute": Setting(attribute("y", ["a", "b", "c"])),
    "order of the categories": Setting(attribute("x", ["c", "b", "a"])),
    "type of the categories": Setting(attribute("x", [1, 2, 3])),
    "spelling of a category": Setting(attribute("x", ["a", "b", "C"])),
    "one category more": Setting(attribute("x", ["a", "b", "c", "d"])),
    # under shared words only unseen cells would differ in two releases, and so be told with certainty
    "category of unseen values": Setting(attribute("x", ["a", "b", "c"], other="b")),
    "data set": Setting(data="Survey"),
    "release": Setting(number=2),
    "naming of the rows": Setting(row_id="id"),
}


@pytest.mark.parametrize("change", OTHERS)
def test_r33_anything_else_has_words_of_its_own(change: str) -> None:
    key = secrets.token_bytes(32)
    one, other = Setting(), OTHERS[change]
    assert_independent(one.reports(key), other.reports(key), (one.row, other.row))


def test_r33_two_id_columns_have_words_of_their_own() -> None:
    key = secrets.token_bytes(32)
    one, other = Setting(row_id="person"), Setting(row_id="household")
    assert_independent(one.reports(key), other.reports(key), (one.row, other.row))


def test_r33_the_order_of_categories_that_differ_only_in_type_has_words_of_its_own() -> None:
    key = secrets.token_bytes(32)
    one, other = Setting(attribute("x", [1, 2, 3])), Setting(attribute("x", ["1", "2", "3"]))
    assert_independent(one.reports(key), other.reports(key), (one.row, other.row))


def test_r33_two_keys_have_words_of_their_own() -> None:
    one = Setting()
    first, second = (one.reports(secrets.token_bytes(32)) for _ in range(2))
    assert_independent(first, second, (one.row, one.row))


@pytest.mark.parametrize("least_bits", [32, 64, 128])
def test_r34_a_changed_cell_has_an_independent_report(least_bits: int) -> None:
    """The same rows with another value; with shared words the one report would follow from the other."""
    one = Setting(attribute("x", ["a", "b", "c"], least_bits=least_bits))
    key = secrets.token_bytes(32)
    matrix = claimed(one.attribute)
    for before, after in ((0, 1), (0, 2), (1, 2)):
        assert_independent(one.reports(key, before), one.reports(key, after), (matrix[before], matrix[after]))


def test_r34_a_changed_cell_has_an_independent_report_under_every_key() -> None:
    """One row under 3,000 keys: a joint probability that is off by 0.06 is found."""
    columns = by_name(attribute("x", 2))
    matrix = claimed(columns["x"])
    codes = codes_for(columns, [0, 1])
    rows = positions(7, 1).repeat(2, axis=0)
    drawn = np.array(
        [
            Keyed(parts(columns), release_under(secrets.token_bytes(32))).reports(codes, rows)["x"]
            for _ in range(3000)
        ]
    )
    assert_independent(drawn[:, 0], drawn[:, 1], (matrix[0], matrix[1]))


def test_r33_neighbouring_rows_and_neighbouring_attributes_are_independent() -> None:
    columns = by_name(attribute("x", 3), attribute("y", 3))
    reports = Keyed(parts(columns), release_under(secrets.token_bytes(32))).reports(
        codes_for(columns, np.full(ROWS, CODE)), positions(0, ROWS)
    )
    row = claimed(columns["x"])[CODE]
    assert_independent(reports["x"], reports["y"], (row, row))
    assert_independent(reports["x"][0::2], reports["x"][1::2], (row, row))


@pytest.mark.parametrize("categories", [2, 3, 17, 300])
def test_r9_every_row_of_the_matrix_is_met(categories: int) -> None:
    columns = by_name(attribute("x", categories, 2.0))
    keyed = Keyed(parts(columns), release_under(secrets.token_bytes(32)))
    for truth in {0, categories // 2, categories - 1}:
        drawn = keyed.reports(codes_for(columns, np.full(ROWS, truth)), positions(0, ROWS))["x"]
        counts = np.bincount(drawn, minlength=categories)
        assert_binomial(counts, ROWS, claimed(columns["x"])[truth])


ONCE, TWICE = attribute("smoker", 2, 1.0), attribute("smoker", 2, 2.0)
"""The same attribute under two budgets; the second report is right more often."""

Draw = Callable[[AllocatedAttribute, npt.NDArray[np.uint8]], npt.NDArray[np.integer]]


def with_shared_words(one: AllocatedAttribute, truth: npt.NDArray[np.uint8]) -> npt.NDArray[np.integer]:
    """What must not be done: the word of a row, whatever the budget."""
    words = SeededWords(1).stream(b"the same for every allocation", 32).take(truth.size)
    return kernel_for(one.sampler, 2).report(truth, words)


def with_keyed_words(one: AllocatedAttribute, truth: npt.NDArray[np.uint8]) -> npt.NDArray[np.integer]:
    return Keyed(parts(by_name(one)), release_under(bytes(range(32)))).reports(
        {"smoker": truth}, positions(0, truth.size)
    )["smoker"]


def attacked(draw: Draw) -> tuple[int, int]:
    """How many records have two different reports, and how many of these the second report tells."""
    truth = np.random.default_rng(0).integers(0, 2, ROWS).astype(np.uint8)
    first, second = draw(ONCE, truth), draw(TWICE, truth)
    suspects = first != second
    return int(np.count_nonzero(suspects)), int(np.count_nonzero(second[suspects] == truth[suspects]))


def test_r33_words_shared_by_two_budgets_reveal_fifteen_percent_of_the_records_and_ours_none() -> None:
    """A word below the first threshold and above the second keeps the truth in the second report only.

    So with shared words two reports that differ betray the record: the second one is the truth, always.
    With words of their own the second one is right as often as the two matrices say: 73.1 %, the odds of
    exp(2) to exp(1) that the two losses allow.
    """
    lies = [one.other_probability for one in (ONCE, TWICE)]
    found, right = attacked(with_shared_words)
    assert right == found
    assert_binomial(np.array([found]), ROWS, np.array([lies[0] - lies[1]]))
    assert lies[0] - lies[1] == pytest.approx(0.1497, abs=1e-4)

    found, right = attacked(with_keyed_words)
    told, misled = lies[0] * (1 - lies[1]), (1 - lies[0]) * lies[1]
    assert_binomial(np.array([found]), ROWS, np.array([told + misled]))
    assert_binomial(np.array([right]), found, np.array([told / (told + misled)]))
    assert told / misled == pytest.approx(np.e, rel=1e-6)
