"""An allocation with every kind of category, and labels that quotes, escapes and encodings trip over."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import budget_opt as bo
from budget_opt.allocation.blocks import AllocatedAttribute
from budget_opt.mechanisms.samplers import any_sampler_for

HOSTILE = ("nörth", 'so"uth', "we\\st", "e'ast", "日本 😀", "%d\\n", "${x}`#", "(missing)")
UNDECOMPOSED = ("\u00e9", "e\u0301")
"""One letter in two spellings, which are two categories."""
NAMES = ("smoker", 're"g\\ion é', "age", "children", "works", "letter")


def hostile(total: float = 6.0) -> bo.Allocation:
    """Six attributes with equal budgets, of every kind, with two spellings of a letter; one is left out."""
    text, region, age, children, works, letter = NAMES
    return bo.uniform(
        bo.Problem(
            name='the "hostile" één \\ survey',
            total_epsilon=total,
            attributes=[
                bo.Attribute(text, categories=["no", "yes"]),
                bo.Attribute(region, categories=HOSTILE, missing="category"),
                bo.Attribute(age, bins=[0, 18.1, 40, None], scores=[9, 30, 60]),
                bo.Attribute(children, categories=[0, 1, 100000], missing="category"),
                bo.Attribute(works, categories=[False, True]),
                bo.Attribute(letter, categories=UNDECOMPOSED, other="e\u0301"),
                bo.Attribute("nothing", categories=2, epsilon=0),
            ],
            moments=[bo.CrossMoment(text, age)],
            public=[bo.PublicColumn("wave", why="the same for everybody")],
            dropped=["id"],
        )
    )


def single(epsilon: float, r: int) -> bo.Allocation:
    """One attribute with r categories, which has all of the total."""
    return bo.allocation_from(
        bo.Problem(
            attributes=[bo.Attribute("a", categories=r)],
            moments=[bo.CrossMoment("a")],
            total_epsilon=epsilon,
        ),
        {"a": epsilon},
    )


def equal_budgets(count: int, total: float) -> bo.Problem:
    """Attributes of 2 to 6 categories; the even split gives each the same share of the total."""
    return bo.Problem(
        attributes=[bo.Attribute(f"a{i}", categories=2 + i % 5) for i in range(count)],
        moments=[bo.CrossMoment("a0", "a1")],
        total_epsilon=total,
    )


def wide(allocation: bo.Allocation) -> bo.Allocation:
    """The same epsilons with 64-bit samplers, as where a floor binds: their losses reach the last digits."""
    return replace(
        allocation,
        blocks=tuple(
            replace(
                one,
                sampler=any_sampler_for(
                    one.epsilon, one.cardinality, one.block.background_weights, least_bits=64
                ),
            )
            for one in allocation.blocks
        ),
    )


def entries(attribute: AllocatedAttribute) -> tuple[Fraction, Fraction]:
    """P(report = truth) and P(report = one given other category), from the file's integers."""
    assert attribute.sampler is not None
    other = Fraction(attribute.sampler.q, 2**attribute.sampler.bits)
    return 1 - (attribute.cardinality - 1) * other, other


def steps_below(number: float, steps: int) -> float:
    """The double so many steps nearer to 0."""
    for _ in range(steps):
        number = math.nextafter(number, 0.0)
    return number
