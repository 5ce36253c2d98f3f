"""Every check of a cluster, a background, a grouping and a known source fails for a forged allocation.

What it says then names the number that is wrong, as it is stated and as it must be. The reader refuses most
of these files, so they are built as objects, as a careless program or one that means harm would hand them
over. Other kinds of checks: `test_forgeries`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.exact import float_at_most, log_at_least
from budget_opt.mechanisms.hamming import MatrixSampler, sampler_of
from budget_opt.mechanisms.hamming.matrix import matrix_of
from budget_opt.mechanisms.sampler import Sampler, sampler_for
from budget_opt.model.clusters.block import Block
from budget_opt.verifier.static import verify_privacy
from tests.verifier.sample_allocations import unchecked, with_block


def known_source(*shares: float) -> bo.Attribute:
    """The attribute s under these shares of its categories, and its epsilon."""
    return bo.Attribute("s", categories=3, source={"distributions": [shares[:3]]}, epsilon=shares[3])


SPLIT = {"a": 2.5, "b": 2.5, "x": 2.5, "d": 2.0, "s": 1.0}
GROUPING = {"A": ["A1", "A2"], "B": ["B1", "B2"]}
PROBLEM = bo.Problem(
    name="survey",
    total_epsilon=9.0,
    attributes=[
        bo.Attribute("a", categories=["no", "yes"]),
        bo.Attribute("b", categories=3),
        bo.Attribute("x", categories=3, background=[0.6, 0.3, 0.1], distortion_max=0.5),
        bo.Attribute("d", categories=["A1", "A2", "B1", "B2"], scores=[0, 1, 2, 3], grouping=GROUPING),
        known_source(0.6, 0.3, 0.1, 1.0),
    ],
    moments=[
        bo.CrossMoment("a", "b"),
        bo.CrossMoment("a", "d", floor=0.3),
        bo.CrossMoment("x", "d", ceiling=0.9),
    ],
    clusters=[("a", "b")],
    groups=[bo.Group("g", attributes=["b"], epsilon_max=2.5)],
)
MADE = bo.allocation_from(PROBLEM, SPLIT)


def sampler(name: str) -> Any:
    return MADE.block_of(name).sampler


def with_counts(name: str, counts: Any) -> bo.Allocation:
    return with_block(MADE, name, sampler=replace(sampler(name), counts=counts))


def with_moment(number: int, **changes: Any) -> bo.Allocation:
    moments = list(MADE.moments)
    moments[number] = replace(moments[number], **changes)
    return replace(MADE, moments=tuple(moments))


def made_of(**fields: Any) -> bo.Allocation:
    """The honest allocation of another problem."""
    return bo.allocation_from(PROBLEM.with_fields(**fields), SPLIT)


def redeclared(*attributes: bo.Attribute) -> bo.Allocation:
    named = {attribute.name: attribute for attribute in attributes}
    return made_of(attributes=[named.get(one.name, one) for one in PROBLEM.attributes])


def declaring(name: str, **fields: Any) -> bo.Allocation:
    """The results of an attribute as if it were declared otherwise."""
    return with_block(MADE, name, block=Block((bo.Attribute(name, **fields),)))


LESS = replace(sampler("a"), q=sampler("a").q - 2**20)
RAREST = (*sampler("x").counts[:2], sampler("x").counts[2] - 2**20)
LEAKING = (
    (sampler("s").counts[0][0] + 2**60, sampler("s").counts[0][1] - 2**60, 0),
    *sampler("s").counts[1:],
)
POOR = sampler_of(matrix_of((Fraction(1),) * 3, Fraction(3, 2)), 1.0, least_bits=64)
WORDS = 2 ** sampler("a").bits
Forge = Callable[[], bo.Allocation]
FORGED: list[tuple[str, str, Forge, tuple[object, ...]]] = [
    (
        "loss",
        "loss of a + b",
        lambda: with_block(MADE, "a + b", sampler=LESS),
        (f"{log_at_least(Fraction(WORDS - 5 * LESS.q, LESS.q)):.12g}, limit 2.5",),
    ),
    (
        "composed loss",
        "loss of group g",
        lambda: with_block(MADE, "a + b", sampler=LESS),
        (f"{LESS.loss:.12g}, limit 2.5",),
    ),
    (
        "subset",
        "loss of a change of b alone",
        lambda: with_block(MADE, "a + b", sampler=LESS),
        (f"{LESS.loss:.12g}, limit 2.5", "costs all of the cluster's"),
    ),
    (
        "sampler",
        "sampler of a + b",
        lambda: with_block(MADE, "a + b", sampler=LESS),
        (f"q {LESS.q}, expected q {sampler('a').q}",),
    ),
    (
        "sampler size",
        "the sampler of a + b",
        lambda: with_block(MADE, "a + b", sampler=sampler_for(2.5, 5)),
        ("5, expected 6",),
    ),
    (
        "budget",
        "epsilon of group g",
        lambda: replace(
            MADE,
            question=PROBLEM.with_fields(groups=[bo.Group("g", attributes=["b"], epsilon_max=2.4)]),
        ),
        ("2.5, limit 2.4",),
    ),
    (
        "moment figures",
        "stated retention and variance inflation of a x b",
        lambda: with_moment(0, touches_twice=False),
        ("touches_twice False, expected touches_twice True",),
    ),
    # the members each with the lambda of the cluster, as if they were randomized apart
    (
        "moment figures",
        "stated retention and variance inflation of a x b",
        lambda: with_moment(0, exact_retention=sampler("a").retention ** 2),
        (
            f"retention {float_at_most(sampler('a').retention ** 2)!r}, expected ",
            f"expected retention {MADE.moments[0].retention!r} (",
        ),
    ),
    (
        "question",
        "the allocation states the problem's",
        lambda: made_of(clusters=[("b", "a")]),
        ("clusters[0][0] 'b', clusters[0][1] 'a', expected clusters[0][0] 'a', clusters[0][1] 'b'",),
    ),
    ("loss", "loss of x", lambda: with_counts("x", RAREST), (", limit 2.5",)),
    (
        "sampler",
        "sampler of x",
        lambda: with_counts("x", RAREST),
        (f"count 2 is {RAREST[2]}, expected count 2 is {RAREST[2] + 2**20}",),
    ),
    (
        "sampler",
        "sampler of x",
        lambda: with_block(MADE, "x", sampler=sampler_for(2.5, 3)),
        ("q ", "expected a count for each of 3 categories"),
    ),
    (
        "figures",
        "stated loss, retention and probabilities of x",
        lambda: with_block(MADE, "x", sampler=sampler_for(2.5, 3)),
        ("other_probability None, expected ",),
    ),
    (
        "sampler size",
        "the sampler of x",
        lambda: with_counts("x", sampler("x").counts[:2]),
        ("2, expected 3",),
    ),
    ("coherence", "the results are", lambda: declaring("x", categories=3), ("different: 'x'",)),
    (
        "question",
        "the allocation states the problem's",
        lambda: redeclared(bo.Attribute("x", categories=3, background=[0.5, 0.3, 0.2])),
        (
            (
                "attributes[2].background[0] 0.5, attributes[2].background[2] 0.2, "
                "expected attributes[2].background[0] 0.6, attributes[2].background[2] 0.1"
            ),
        ),
    ),
    (
        "distortion",
        "expected share of changed cells of x",
        lambda: bo.allocation_from(
            PROBLEM.with_fields(
                attributes=[
                    bo.Attribute("x", categories=3, background=[0.6, 0.3, 0.1]) if one.name == "x" else one
                    for one in PROBLEM.attributes
                ]
            ),
            {**SPLIT, "x": 1.0},
        ),
        (", limit 0.5",),
    ),
    # what is left of the randomized scores, as if nothing had been merged
    (
        "moment figures",
        "stated retention and variance inflation of a x d",
        lambda: with_moment(1, detail=Fraction(1), exact_retention=MADE.moments[1].kept),
        (
            f"retention {float_at_most(MADE.moments[1].kept)!r}, detail 1.0, ",
            f"expected retention {MADE.moments[1].retention!r}, detail 0.8 ",
        ),
    ),
    (
        "floor",
        "floor of a x d",
        lambda: bo.allocation_from(PROBLEM, {**SPLIT, "d": 1.0}),
        (", limit 0.3 (exact product 0.", "x 0.8 of the variance of d's score"),
    ),
    ("coherence", "the results are", lambda: declaring("d", categories=2), ("different: 'd'",)),
    (
        "question",
        "the allocation states the problem's",
        lambda: bo.allocation_from(PROBLEM.with_grouping("d", None), SPLIT),
        (f"attributes[3].grouping None, expected attributes[3].grouping {GROUPING!r}",),
    ),
    ("loss", "loss of s", lambda: with_counts("s", LEAKING), (", limit 1 ",)),
    (
        "sampler",
        "expected share of changed cells of s",
        lambda: with_block(MADE, "s", sampler=POOR),
        (f"{float(1 - POOR.probability(0, 0)):.12g}", ", limit 0."),
    ),
    (
        "figures",
        "stated loss, retention and probabilities of s",
        lambda: stating_distortion(0.1),
        (f"distortion 0.1, expected distortion {MADE.block_of('s').distortion!r}",),
    ),
    (
        "sampler",
        "sampler of s",
        lambda: with_block(MADE, "s", sampler=None),
        ("none, expected a matrix of its source",),
    ),
    (
        "sampler",
        "sampler of s",
        lambda: with_block(MADE, "s", sampler=sampler_for(1.0, 3)),
        ("no matrix of its source, expected a matrix of its source",),
    ),
    (
        "sampler size",
        "the sampler of s",
        lambda: with_counts("s", tuple(row[:2] for row in sampler("s").counts[:2])),
        ("2, expected 3",),
    ),
    (
        "bounds",
        "bounds of s",
        lambda: bo.allocation_from(
            PROBLEM.with_fields(attributes=[*PROBLEM.attributes[:4], known_source(0.6, 0.3, 0.1, 0.9)]),
            {**SPLIT, "s": 0.9},
        ),
        ("0.9, limit 1.0 to 1.0",),
    ),
    ("coherence", "the results are", lambda: declaring("s", categories=3), ("different: 's'",)),
    (
        "question",
        "the allocation states the problem's",
        lambda: redeclared(known_source(0.5, 0.4, 0.1, 1.0)),
        (
            (
                "attributes[4].source.distributions[0][0] 0.5, attributes[4].source.distributions[0][1] 0.4, "
                "expected attributes[4].source.distributions[0][0] 0.6, "
                "attributes[4].source.distributions[0][1] 0.3"
            ),
        ),
    ),
]


def stating_distortion(share: float) -> bo.Allocation:
    """A block that says that it changes fewer cells than its counts do."""
    one = MADE.block_of("s")
    flattering = type("Forged", (type(one),), {"distortion": share})
    changed = flattering(one.block, one.epsilon, one.sampler, one.shadow_price)
    return replace(MADE, blocks=tuple(changed if block is one else block for block in MADE.blocks))


def verified(allocation: bo.Allocation) -> bo.VerificationReport:
    return bo.verify(allocation, problem=PROBLEM, subsets=[("b",)])


def test_the_sound_allocation_passes_every_check() -> None:
    verified(MADE).require()


@pytest.mark.parametrize(("name", "claim", "forge", "told"), FORGED)
def test_a_forged_block_fails_by_a_check_that_says_what_is_wrong_and_what_must_be(
    name: str, claim: str, forge: Forge, told: tuple[str, ...]
) -> None:
    failed = [one for one in verified(forge()).failed if one.name == name and one.claim.startswith(claim)]
    assert len(failed) == 1
    assert all(text in str(failed[0]) for text in told), str(failed[0])


def test_every_check_about_a_block_or_a_moment_of_this_allocation_has_a_forgery() -> None:
    """A check that no forgery fails might be one that cannot fail."""
    forged = {name for name, *_ in FORGED} | {"matrix", "ceiling"}
    report = verified(MADE)
    assert {check.name for check in report.checks if check.about} <= forged


def test_a_ceiling_that_is_passed_fails_whatever_is_merged() -> None:
    tight = [*PROBLEM.moments[:2], bo.CrossMoment("x", "d", ceiling=0.3)]
    (failed,) = bo.verify(made_of(moments=tight)).failed
    assert (failed.name, failed.limit) == ("ceiling", 0.3)
    assert failed.measured == MADE.moments[2].retention


# --- what is judged before any value is randomized ---


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("x", unchecked(BackgroundSampler, bits=32, counts=(2**31, 2**31, 1))),
        ("x", unchecked(BackgroundSampler, bits=32, counts=(2**30, 2**30, 0))),
        ("s", unchecked(MatrixSampler, bits=32, counts=((2**31, 2**31, 0), (2**31, 2**31, 0), (1, 1, 0)))),
        # a report that is possible for some truths only
        ("s", unchecked(MatrixSampler, bits=32, counts=((2**32, 0, 0), (2**31, 2**31, 0), (2**32, 0, 0)))),
    ],
)
def test_counts_that_are_no_matrix_are_refused_before_anything_is_drawn(name: str, forged: Any) -> None:
    report = verify_privacy(with_block(MADE, name, sampler=forged))
    assert [(check.name, check.about) for check in report.failed] == [("matrix", (name,)), ("loss", (name,))]


@pytest.mark.parametrize("name", ["a + b", "x", "s"])
def test_integers_for_other_categories_are_refused_before_anything_is_drawn(name: str) -> None:
    """The loss is judged for the categories that there are, and words would be drawn for others."""
    fewer: dict[str, Any] = {
        "a + b": Sampler(5, 32, 2**29),
        "x": replace(sampler("x"), counts=sampler("x").counts[:2]),
        "s": replace(sampler("s"), counts=tuple(row[:2] for row in sampler("s").counts[:2])),
    }
    report = verify_privacy(with_block(MADE, name, sampler=fewer[name]))
    assert "sampler size" in {check.name for check in report.failed}
