"""What the reports of a cluster give away of its members, against every record under every report."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.mechanisms.exact import exact, float_at_least, log_at_least
from tests.accounting.cluster_problems import law, records, two_clusters
from tests.accounting.meaning_problems import learned_of

NAMES = tuple("abcde")
ALLOCATION = two_clusters()
SHAPE = tuple(attribute.cardinality for attribute in ALLOCATION.attributes)
LAWS = {truth: law(ALLOCATION, truth) for truth in records(SHAPE)}
Cells = dict[tuple[int, ...], Fraction]


@st.composite
def joints(draw: st.DrawFn) -> tuple[np.ndarray, Cells]:
    """A joint of all attributes, often with empty cells."""
    cells = math.prod(SHAPE)
    counts = draw(st.lists(st.integers(0, 4), min_size=cells, max_size=cells).filter(any))
    table = np.array(counts).reshape(SHAPE)
    return table, {where: Fraction(int(table[where]), sum(counts)) for where in records(SHAPE)}


def seen_of(joint: Cells, axis: int, columns: tuple[int, ...]) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """By the reports of these columns: P(value of the axis, reports)."""
    found: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for truth, share in joint.items():
        if share:
            for report, chance in LAWS[truth].items():
                at = found.setdefault(tuple(report[c] for c in columns), {})
                at[truth[axis]] = at.get(truth[axis], Fraction(0)) + share * chance
    return found


def largest_odds(joint: Cells, axis: int, columns: tuple[int, ...]) -> Fraction:
    """Of two values of the axis, by reports of these columns."""
    return odds_of(joint, axis, seen_of(joint, axis, columns))


def odds_of(joint: Cells, axis: int, reports: dict[tuple[int, ...], dict[int, Fraction]]) -> Fraction:
    shares: dict[int, Fraction] = {}
    for truth, share in joint.items():
        shares[truth[axis]] = shares.get(truth[axis], Fraction(0)) + share
    possible = [v for v, share in shares.items() if share]
    return max(
        seen[v] * shares[w] / (seen[w] * shares[v])
        for seen in reports.values()
        for v, w in itertools.product(possible, repeat=2)
    )


@given(joints(), st.permutations(range(5)))
@settings(max_examples=5, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_odds_and_guesses_under_a_joint_are_those_of_every_record_under_every_report(
    case: tuple[np.ndarray, Cells], order: list[int]
) -> None:
    """In whatever order the attributes of the joint are named."""
    table, joint = case
    names = tuple(NAMES[axis] for axis in order)
    found = learned_of(ALLOCATION, names, table.transpose(order))
    assert found.sum_loss == ALLOCATION.loss
    assert found.others == 0
    for learned in found.learned:
        axis = NAMES.index(learned.name)
        of_all, own = (seen_of(joint, axis, columns) for columns in (tuple(range(5)), (axis,)))
        odds = odds_of(joint, axis, of_all)
        assert learned.log_odds == log_at_least(odds)
        if odds > 1:
            assert learned.own_loss == log_at_least(odds_of(joint, axis, own))
            assert learned.own_loss <= learned.log_odds <= ALLOCATION.loss
        for guess, reports in ((learned.guess_with, of_all), (learned.guess_own, own)):
            right = sum((max(seen.values()) for seen in reports.values()), Fraction(0))
            assert guess == float_at_least(right)


@given(joints(), st.sets(st.integers(0, 4), min_size=2, max_size=4))
@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_a_joint_of_some_members_bounds_what_the_whole_record_shows(
    case: tuple[np.ndarray, Cells], chosen: set[int]
) -> None:
    """Whatever the rest has to do with them: here it is drawn, and often says all of one of them."""
    table, joint = case
    axes = tuple(sorted(chosen))
    names = tuple(NAMES[axis] for axis in axes)
    some = table.sum(axis=tuple(axis for axis in range(5) if axis not in chosen))
    found = learned_of(ALLOCATION, names, some)
    for learned, axis in zip(found.learned, axes, strict=True):
        assert learned.log_odds == log_at_least(largest_odds(joint, axis, axes))
        whole = log_at_least(largest_odds(joint, axis, tuple(range(5))))
        assert whole <= learned.log_odds_with_others * (1 + 1e-14)
        assert learned.log_odds_with_others <= ALLOCATION.loss


def test_a_known_partner_lets_both_columns_show_the_whole_loss_of_the_cluster() -> None:
    """c is the same for everybody, so the columns of a and c together are the joint column of the cluster."""
    table = np.zeros((2, 3), dtype=int)
    table[:, 1] = 1
    (found,) = bo.meaning(ALLOCATION, joint={("a", "c"): table}).joints
    of_a, of_c = found.learned
    assert of_a.log_odds == ALLOCATION["a"].loss
    assert of_a.own_loss < of_a.log_odds
    assert of_c.log_odds == 0


def test_the_column_of_a_member_is_told_by_its_own_law_and_with_what_the_cluster_costs() -> None:
    meaning = bo.meaning(ALLOCATION)
    for axis, column in enumerate(meaning.columns):
        uniform = {
            tuple(v if other == axis else 0 for other in range(5)): Fraction(1, SHAPE[axis])
            for v in range(SHAPE[axis])
        }
        assert column.loss == log_at_least(largest_odds(uniform, axis, (axis,)))
        in_cluster = len(ALLOCATION[NAMES[axis]].cluster) > 0
        assert (column.cluster_loss is not None) == in_cluster
        if column.cluster_loss is not None:
            assert column.cluster == ALLOCATION[NAMES[axis]].cluster
            assert exact(column.loss) < exact(column.cluster_loss) == exact(ALLOCATION[NAMES[axis]].loss)
    told = [sentence for sentence in meaning.sentences if "Randomized together" in sentence]
    assert len(told) == 2
    assert told[0].startswith("Randomized together are a and c: a change of one of them alone costs all of")


@pytest.mark.parametrize("alone", [("a", "c"), ("b", "d")])
def test_a_cluster_that_is_not_released_shows_nothing(alone: tuple[str, str]) -> None:
    split = {"a": 1.0, "c": 1.0, "b": 0.7, "d": 0.7, "e": 0.5} | dict.fromkeys(alone, 0.0)
    allocation = bo.allocation_from(ALLOCATION.question, split)
    (found,) = bo.meaning(
        allocation, joint={alone: np.arange(1, 1 + 2 * allocation[alone[1]].cardinality).reshape(2, -1)}
    ).joints
    for learned in found.learned:
        assert learned.log_odds == learned.own_loss == 0
        assert learned.guess_with == learned.guess_own == learned.guess_without
        assert exact(learned.log_odds_with_others) <= exact(allocation.loss)
    assert not any(" and ".join(alone) in sentence for sentence in bo.meaning(allocation).sentences)
