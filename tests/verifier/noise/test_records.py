"""Certain records must not be randomized otherwise than the rest."""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.verifier.noise.records import BUCKETS, RecordTally
from budget_opt.verifier.release import judge_release
from tests.verifier.sample_release import N, Table, allocation_of, originals, sound

CHANGES = "the changes of an attribute do not depend on the whole record"
WHOLE = "records are left as they are in every attribute as often as they should be: not so for"


def with_told(table: Table, released: Table, told: np.ndarray) -> Table:
    return {name: np.where(told, table[name], column) for name, column in released.items()}


def test_r9_one_record_content_that_is_released_as_it_is_is_convicted() -> None:
    """Some 0.4 % of the rows: no attribute's share of kept cells shows it."""
    rng = np.random.default_rng(1)
    allocation, table = allocation_of(), originals(rng)
    told = (table["smoker"] == 1) & (table["income"] == 2) & (table["region"] == 2) & (table["twin"] == 0)
    assert 100 < told.sum() < 700
    report = judge_release(allocation, table, with_told(table, sound(rng, allocation, table), told))
    claims = [check.claim for check in report.failed]
    assert any(claim.startswith(CHANGES) for claim in claims)
    assert any(claim.startswith(WHOLE) and "a certain record" in claim for claim in claims)
    assert not any("share of cells" in claim for claim in claims)


def test_r9_some_records_that_are_told_whole_are_convicted() -> None:
    """3 % of the rows, wherever: no attribute's share of kept cells shows it."""
    rng = np.random.default_rng(2)
    allocation, table = allocation_of(), originals(rng)
    told = rng.random(N) < 0.03
    report = judge_release(allocation, table, with_told(table, sound(rng, allocation, table), told))
    assert any(check.claim.startswith(f"{WHOLE} the rows as a whole") for check in report.failed)


def test_r9_a_change_by_two_attributes_that_neither_shows_alone_is_convicted() -> None:
    """The twin of a row is changed by the parity of two other truths."""
    rng = np.random.default_rng(3)
    allocation = allocation_of()
    table = {**originals(rng), "smoker": rng.integers(0, 2, N).astype(np.uint8)}
    table["region"] = rng.integers(0, 4, N).astype(np.uint8)
    released, truth = sound(rng, allocation, table), allocation["twin"].truth_probability
    odd = (table["smoker"] + table["region"]) % 2
    kept = rng.random(N) < np.where(odd == 1, truth + 0.15, truth - 0.15)
    released["twin"] = np.where(kept, table["twin"], 1 - table["twin"])
    claims = [check.claim for check in judge_release(allocation, table, released).failed]
    assert f"{CHANGES}: not so for twin" in claims
    assert not any("the truth of another one" in claim for claim in claims)


@pytest.mark.parametrize("categories", [4, 1_000])
def test_memory_is_bounded_by_the_buckets(categories: int) -> None:
    from budget_opt.verifier.noise.blocks import Block
    from tests.verifier.noise.test_laws import channel

    rng, rows = np.random.default_rng(4), 50_000
    channels = tuple(channel(categories) for _ in range(3))
    truths, reports = ([rng.integers(0, categories, rows).astype(np.uint16) for _ in range(3)] for _ in "ab")
    tally = RecordTally(channels, 1e-9)
    tally.add(Block(0, channels, truths, reports))
    assert tally._rows.size == BUCKETS
    assert tally._rows.sum() == rows
    assert np.count_nonzero(tally._rows) == (64 if categories == 4 else BUCKETS)
    assert tally._whole.sum() == np.all(np.stack(truths) == np.stack(reports), axis=0).sum()
