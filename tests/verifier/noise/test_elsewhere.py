"""The noise of a row must not depend on what another row says, before or after, near or far."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.noise.elsewhere import _FAR, _NEARBY, ElsewhereTally, distances_in_words
from budget_opt.verifier.noise.lags import MOVED, SERIAL
from budget_opt.verifier.release import judge_release
from budget_opt.verifier.release_report import ReleaseReport
from tests.verifier.noise.test_laws import channel
from tests.verifier.sample_release import randomized

Column = npt.NDArray[Any]
Codes = dict[str, Column]
N = 20_000
SIZES = {"a0": 2, "a1": 5}


def allocation_of() -> Allocation:
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in SIZES.items()],
        moments=[bo.CrossMoment("a0", "a1")],
        total_epsilon=5.0,
    )
    return problem.allocation_from({"a0": math.log(4), "a1": 1.0})


def originals(rng: np.random.Generator) -> Codes:
    return {name: rng.integers(0, r, N).astype(np.uint8) for name, r in SIZES.items()}


def reports(rng: np.random.Generator, table: Codes) -> Codes:
    kept = {a.name: float(a.exact_retention) for a in allocation_of().attributes}
    return {name: randomized(rng, table[name], r, kept[name]) for name, r in SIZES.items()}


def failed(report: ReleaseReport) -> list[str]:
    return [check.claim for check in report.failed]


@pytest.mark.parametrize(
    ("lag", "claim"), [(1, _NEARBY), (-1, _NEARBY), (4, _NEARBY), (7, _FAR), (-1_000, _FAR)]
)
def test_r9_a_cell_that_is_changed_by_what_another_row_says_is_convicted(lag: int, claim: str) -> None:
    """The report of a0 tells a1 of another row: every share of changes is as it should be, 1 in 5."""
    rng = np.random.default_rng(lag + 2_000)
    table = originals(rng)
    released = reports(rng, table)
    released["a0"] = (table["a0"] ^ (np.roll(table["a1"], lag) == 0)).astype(np.uint8)
    assert f"{claim}: not so for a0 by a1" in failed(judge_release(allocation_of(), table, released))


def test_r9_a_softer_dependence_on_the_row_before_is_convicted() -> None:
    rng = np.random.default_rng(1)
    table = originals(rng)
    released, truth = reports(rng, table), allocation_of()["a0"].truth_probability
    kept = rng.random(N) < np.where(np.roll(table["a1"], 1) == 0, truth + 0.16, truth - 0.04)
    released["a0"] = np.where(kept, table["a0"], 1 - table["a0"]).astype(np.uint8)
    assert failed(judge_release(allocation_of(), table, released)) == [f"{_NEARBY}: not so for a0 by a1"]


def test_r9_a_cell_that_is_changed_by_the_same_columns_last_truth_is_convicted() -> None:
    """Of four categories kept in half of the rows: those after a truth of 0 or 1."""
    rng = np.random.default_rng(2)
    problem = bo.Problem(
        attributes=[bo.Attribute("a0", categories=4)], moments=[bo.CrossMoment("a0")], total_epsilon=5.0
    )
    allocation = problem.allocation_from({"a0": math.log(3)})
    table = {"a0": rng.integers(0, 4, N).astype(np.uint8)}
    shift = np.where(np.roll(table["a0"], 1) < 2, 0, rng.integers(1, 4, N))
    released = {"a0": ((table["a0"] + shift) % 4).astype(np.uint8)}
    assert failed(judge_release(allocation, table, released)) == [f"{_NEARBY}: not so for a0 by a0"]


def test_r9_what_a_cell_is_changed_into_must_not_depend_on_the_row_before_either() -> None:
    """One wrong category in two tells whether a0 of the row before is 0; none is changed more often."""
    rng = np.random.default_rng(3)
    table = originals(rng)
    released = reports(rng, table)
    shift = (released["a1"].astype(int) - table["a1"]) % 5
    told = np.where(np.roll(table["a0"], 1) == 0, 1, 2) + 2 * rng.integers(0, 2, N)
    released["a1"] = ((table["a1"] + np.where(shift > 0, told, 0)) % 5).astype(np.uint8)
    claims = failed(judge_release(allocation_of(), table, released))
    assert f"{_NEARBY}: not so for a1 by a0" in claims


@pytest.mark.parametrize("order", ["random", "sorted", "constant"])
def test_a_sound_release_passes_in_whatever_order_the_originals_are(order: str) -> None:
    rng = np.random.default_rng(4)
    table = originals(rng)
    if order == "sorted":
        table = {name: np.sort(column) for name, column in table.items()}
    elif order == "constant":
        table = {name: column * 0 for name, column in table.items()}
    assert judge_release(allocation_of(), table, reports(rng, table)).holds


def test_counts_are_those_of_a_loop() -> None:
    rng, rows = np.random.default_rng(5), 300
    channels = (channel(3, name="a"), channel(2, name="b"))
    truths, noisy = ([rng.integers(0, r, rows).astype(np.uint8) for r in (3, 2)] for _ in range(2))
    block = Block(0, channels, truths, noisy)
    tally = ElsewhereTally(channels, 0.1)
    tally.add(block)
    told = [truths[0] == 0, truths[0] == 1, truths[0] == 2, truths[1] == 0]
    noises = [*block.changed, block.shifts[0] == 1]
    for apart, by, of in (
        (tally._near, told, noises),
        (tally._far, [x % 2 == 1 for x in truths], [*block.changed]),
    ):
        for i, lag in enumerate(apart.lags):
            for u, v in np.ndindex(len(by), len(of)):
                before = sum(by[u][row] and of[v][row + lag] for row in range(rows - lag))
                after = sum(by[u][row + lag] and of[v][row] for row in range(rows - lag))
                assert apart._counts[i, :, u, v].tolist() == [before, after]
            assert apart._counts[i, 0, -1, -1] == max(rows - lag, 0)


def test_the_claims_name_the_distances_that_are_looked_at() -> None:
    assert MOVED == (1, 2, 3, 4)
    assert max(SERIAL) == 10_000
    told = distances_in_words([5, 6, 7, 8, 10, 1_000])
    assert told == "5 to 8, 10 or 1,000"
    rng = np.random.default_rng(6)
    table = originals(rng)
    report = judge_release(allocation_of(), table, reports(rng, table))
    sources = {check.name: check.source for check in report.checks}
    assert "1 to 4 rows away" in sources[_NEARBY]
    assert "5 to 8, 10, 16, 32" in sources[_FAR]
    assert "8,192 or 10,000 rows away" in sources[_FAR]
