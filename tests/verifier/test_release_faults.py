"""Faults of words and loops that leave every single column as it should be, and what convicts them (R9).

40,000 rows, four attributes of epsilon 1.5. Every fault changes what no test of one column's counts can see;
each must be convicted by the claim that names it, and no sound release by any (at most 1e-9 each).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from budget_opt.allocation import Allocation
from budget_opt.verifier.release import judge_release
from tests.verifier.sample_release import N, Table, originals
from tests.verifier.word_samplers import allocation_of, reports, textbook, words

Fault = Callable[[np.random.Generator, Allocation, Table], Table]

CHANGES = "the changes of different attributes are independent of each other: not so for"
CATEGORIES = (
    "the categories that different attributes are changed into are independent of each other: not so for"
)
TOGETHER = "what different attributes are changed into does not go together: not so for"
MOVED = "the changes of an attribute are independent of those of another some rows before: not so for"
SERIAL = "the changes of an attribute are independent from row to row: not so for"
SECOND = (
    "no noise of an attribute stands a second time in the same order, in it or in another one: not so for"
)
BLOCK = "no block of rows has the noise of another one in the same order: not so for the rows as a whole"
RUN = "no stretch of rows is left as it was, or changed by one and the same shift: not so for"
ROWS = "no stretch of rows is left as it was in every attribute: not so for the rows as a whole"
STRETCH = "every stretch of rows is changed as often as it should be: not so for"
ENDS = "the first and the last row of a batch are changed as often as all others: not so for"
CONTENT = "the changes of an attribute do not depend on the truth of another one: not so for"
ALIKE = "records that are alike get different noise: not so for"


def one_seed_for_every_column(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """Different cardinalities share it too: what is changed in one is changed in all of them."""
    return reports(allocation, table, dict.fromkeys(table, rng.random(N)))


def one_seed_at_two_epsilons(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """The words of smoker again for twin, at another epsilon: the changes of one are among the other's."""
    other = allocation_of({"smoker": 0.5, "twin": 2.5})
    drawn = words(rng, other, N)
    return reports(other, table, {**drawn, "twin": drawn["smoker"]})


def one_seed_for_what_replaces(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """Whether a cell is kept is drawn for each column, the noise once: income and region get one category."""
    return textbook(allocation, table, words(rng, allocation, N), dict.fromkeys(table, rng.random(N)))


def words_of_the_row_before(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    drawn = words(rng, allocation, N)
    return reports(allocation, table, {**drawn, "income": np.roll(drawn["smoker"], 1)})


def words_of_another_column_far_away(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """The stream of twin begins where that of smoker had got to after 5,003 rows."""
    stream = rng.random(N + 5_003)
    return reports(
        allocation, table, {**words(rng, allocation, N), "smoker": stream[:N], "twin": stream[5_003:]}
    )


def words_that_remember(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """One word in eight is that of the row before."""
    drawn = words(rng, allocation, N)
    again = rng.random(N) < 1 / 8
    return reports(
        allocation, table, {**drawn, "income": np.where(again, np.roll(drawn["income"], 1), drawn["income"])}
    )


def a_repeated_block(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """200 of 40,000 rows get the words of 200 others."""
    drawn = words(rng, allocation, N)
    for of in drawn.values():
        of[25_003:25_203] = of[10_000:10_200]
    return reports(allocation, table, drawn)


def batches_seeded_anew(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """Batches of 7,919 rows begin with the same seed, for one column only."""
    again = np.resize(rng.random(7_919), N)
    return reports(allocation, table, {**words(rng, allocation, N), "region": again})


def the_last_batch_forgotten(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """40 of 40,000 rows."""
    released = reports(allocation, table, words(rng, allocation, N))
    return {name: np.concatenate([column[:-40], table[name][-40:]]) for name, column in released.items()}


def a_block_of_one_column_forgotten(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    released = reports(allocation, table, words(rng, allocation, N))
    released["income"][20_000:20_150] = table["income"][20_000:20_150]
    return released


def a_stuck_generator(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    drawn = words(rng, allocation, N)
    drawn["income"][7_000:7_040] = 0.0
    return reports(allocation, table, drawn)


def half_the_noise_for_a_while(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """2,048 rows of another epsilon."""
    sound, other = (
        reports(chosen, table, words(rng, chosen, N))
        for chosen in (allocation, allocation_of({"income": 2.5}))
    )
    sound["income"][4_096:6_144] = other["income"][4_096:6_144]
    return sound


def the_last_row_of_each_batch_forgotten(
    rng: np.random.Generator, allocation: Allocation, table: Table
) -> Table:
    """A loop to n - 1: 40 of 40,000 rows."""
    released = reports(allocation, table, words(rng, allocation, N))
    for name, column in released.items():
        column[999::1_000] = table[name][999::1_000]
    return released


def changes_by_another_attribute(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """The region of smokers is changed more often, that of others less often: in all as it should be."""
    smokes = table["smoker"] == 1
    drawn = words(rng, allocation, N)
    share = smokes.mean()
    stretched = np.where(
        smokes, drawn["region"] / (1 + 0.3 * (1 - share)), drawn["region"] / (1 - 0.3 * share)
    )
    return reports(allocation, table, {**drawn, "region": stretched})


def a_seed_from_the_record(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """Equal records get equal noise."""
    record = table["smoker"] + 2 * (
        table["income"] + 5 * (table["region"] + 4 * table["twin"].astype(np.int64))
    )
    return reports(allocation, table, {name: rng.random(80)[record] for name in table})


def a_dropped_row_and_a_doubled_one(rng: np.random.Generator, allocation: Allocation, table: Table) -> Table:
    """As many rows as there should be; 1,000 of 40,000 stand beside the truth of the row before."""
    released = reports(allocation, table, words(rng, allocation, N))
    for column in released.values():
        column[30_000:31_000] = column[29_999:30_999].copy()
    return released


FAULTS: tuple[tuple[Fault, str], ...] = (
    (one_seed_for_every_column, f"{CHANGES} smoker and income, smoker and region, smoker and twin"),
    (one_seed_at_two_epsilons, f"{CHANGES} smoker and twin"),
    (one_seed_for_what_replaces, CATEGORIES),
    (one_seed_for_what_replaces, TOGETHER),
    (words_of_the_row_before, f"{MOVED} income after smoker"),
    (words_of_another_column_far_away, f"{SECOND} smoker in twin"),
    (words_that_remember, f"{SERIAL} income"),
    (a_repeated_block, BLOCK),
    (batches_seeded_anew, f"{SECOND} region"),
    (the_last_batch_forgotten, ROWS),
    (a_block_of_one_column_forgotten, f"{RUN} income"),
    (a_stuck_generator, f"{RUN} income"),
    (half_the_noise_for_a_while, f"{STRETCH} income"),
    (the_last_row_of_each_batch_forgotten, f"{ENDS} the rows as a whole"),
    (a_dropped_row_and_a_doubled_one, STRETCH),
    (changes_by_another_attribute, f"{CONTENT} region by smoker"),
    (a_seed_from_the_record, ALIKE),
)


@pytest.mark.parametrize(("fault", "convicted"), FAULTS)
def test_r9_a_fault_of_words_or_loops_is_convicted_by_its_name(fault: Fault, convicted: str) -> None:
    rng = np.random.default_rng(9)
    allocation = allocation_of({"smoker": 0.5, "twin": 2.5} if fault is one_seed_at_two_epsilons else {})
    table = originals(rng)
    report = judge_release(allocation, table, fault(rng, allocation, table))
    failed = [check.claim for check in report.failed]
    assert any(claim.startswith(convicted) for claim in failed), report.in_full


@pytest.mark.parametrize("seed", range(2))
def test_r9_a_sound_release_from_words_passes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    allocation, table = allocation_of(), originals(rng)
    drawn, other = words(rng, allocation, N), words(rng, allocation, N)
    for released in (reports(allocation, table, drawn), textbook(allocation, table, drawn, other)):
        report = judge_release(allocation, table, released)
        assert report.holds, report.in_full
