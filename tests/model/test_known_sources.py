"""The field `source` of an attribute: what may be stated, what it fixes, and what it rules out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.errors import ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import least_distortion, least_epsilon
from budget_opt.model.provenance import used_fields

BETWEEN = {"between": {"lower": [0.5, 0.1, 0.0], "upper": [0.7, 0.4, 0.1]}}
ORDERED = {"ordered": {"first_at_least": 0.6}}
LISTED = {"distributions": [[0.6, 0.3, 0.1], [0.5, 0.25, 0.25]]}


def attribute(**fields: Any) -> bo.Attribute:
    return bo.Attribute("s", **{"categories": 3, "source": BETWEEN, "epsilon": 1.0, **fields})


def asked(*clusters: list[str], moments: Any = (("x", "y"),), **fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[bo.Attribute("x", categories=4), bo.Attribute("y", categories=2), attribute(**fields)],
        moments=[bo.CrossMoment(*names) for names in moments],
        total_epsilon=4.0,
        clusters=clusters,
    )


@pytest.mark.parametrize("stated", [BETWEEN, ORDERED, LISTED])
def test_what_is_stated_comes_back_and_is_the_set_of_distributions(stated: dict[str, Any]) -> None:
    one = attribute(source=stated)
    assert one.to_dict()["source"] == stated
    assert bo.Attribute(**one.to_dict()) == one
    assert one.known_source is not None
    # every vertex keeps what is stated, in exact decimals
    for vertex in one.known_source.vertices:
        if stated is BETWEEN:
            low, high = (stated["between"][end] for end in ("lower", "upper"))
            assert all(exact(a) <= p <= exact(b) for a, p, b in zip(low, vertex, high, strict=True))
        if stated is ORDERED:
            assert vertex[0] >= Fraction(6, 10)
            assert list(vertex) == sorted(vertex, reverse=True)
    if stated is LISTED:
        assert one.known_source.vertices[1] == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


def test_a_pinned_epsilon_is_the_epsilon_and_a_distortion_fixes_the_least_one() -> None:
    assert (attribute().lower, attribute().upper) == (1.0, 1.0)
    one = attribute(epsilon=None, distortion_max=0.2)
    assert one.known_source is not None
    assert one.lower == one.upper == one.pin
    least = least_epsilon(one.known_source, 0.2)
    # within a hair of the proved bound, and of what the sampler needs
    assert least.bound <= one.lower <= least.bound * (1 + 1e-6)
    sampler = one.sampler(one.lower)
    assert sampler is not None
    assert exact(sampler.loss) <= exact(one.lower)
    assert least_distortion(one.known_source, one.lower * (1 - 1e-6)).bound > 0.2
    assert one.least_retention == 0


def test_without_a_source_nothing_is_said_and_no_hash_changes() -> None:
    plain = bo.Attribute("s", categories=3, epsilon=1.0)
    assert "source" not in plain.to_dict()
    assert (plain.pin, plain.effective_cardinality) == (1.0, 3.0)


def test_a_block_with_a_source_is_pinned_counts_in_the_total_and_is_in_no_moment() -> None:
    problem = asked(epsilon=None, distortion_max=0.2)
    arrays = problem.arrays
    assert arrays.lower[2] == arrays.upper[2] == problem.attribute("s").pin
    assert 2 in arrays.budgets[0].members
    assert not np.asarray(arrays.incidence.todense())[:, 2].any()
    made = bo.solve(problem)
    assert made.spent_epsilon == 4.0
    assert made["s"].epsilon == problem.attribute("s").pin


def test_a_total_that_is_too_small_for_it_is_told_with_what_asks_for_it() -> None:
    with pytest.raises(ProblemError, match="distortion_max of s need"):
        asked(epsilon=None, distortion_max=0.2).with_total(1.0)


def test_its_source_is_public_knowledge_that_the_provenance_speaks_of() -> None:
    assert "marginals" in used_fields(asked())
    assert "marginals" not in used_fields(asked(source=None))


@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"distortion_max": 0.2}, "source", "pinned epsilon or a distortion_max, and not both"),
        ({"epsilon": None}, "source", "pinned epsilon or a distortion_max, and not both"),
        ({"background": [0.5, 0.25, 0.25]}, "background", "no meaning beside a source"),
        ({"groupings": [[[0, 1], [2]]]}, "groupings", "no meaning beside a source"),
        ({"epsilon": None, "distortion_max": 0.6}, "distortion_max", "one report for everybody"),
        ({"epsilon": None, "distortion_max": 0.01, "epsilon_max": 1.0}, "distortion_max", "needs epsilon"),
        ({"epsilon": 701.0}, "epsilon", "must be at most 700"),
        ({"categories": 4}, "source", "must have 4 shares in every list"),
        (
            {"source": {"between": {"lower": [0.5, 0.5, 0.5], "upper": [1, 1, 1]}}},
            "source",
            "no distribution",
        ),
        ({"source": {"between": {"lower": [0.1, 0.1, 0.1]}}}, "source", "must be"),
        ({"source": {"distributions": [[0.5, 0.5, 0.5]]}}, "source", "states no distribution"),
        ({"source": {"distributions": []}}, "source", "must list 1 to"),
        ({"source": {"ordered": {"first_at_least": 1.5}}}, "source", "shares from 0 to 1"),
        ({"source": {**BETWEEN, **ORDERED}}, "source", "must be"),
        ({"source": "uniform"}, "source", "must be"),
        ({"source": ORDERED, "categories": 1000}, "source", "at most 256 categories"),
    ],
)
def test_faults_say_what_and_the_way_out(fields: dict[str, Any], where: str, said: str) -> None:
    with pytest.raises(ProblemError) as caught:
        attribute(**fields)
    (fault,) = caught.value.faults
    assert fault.where == where
    assert said in fault.limit
    assert fault.remedy


def test_it_is_refused_in_moments_and_in_clusters_by_name() -> None:
    with pytest.raises(ProblemError, match="no single factor"):
        asked(moments=[("x", "y"), ("x", "s")])
    with pytest.raises(ProblemError, match="randomized alone"):
        asked(["y", "s"])
    with pytest.raises(ProblemError, match="must stay alone"):
        asked().with_clusters("auto")
    with pytest.raises(bo.InputError, match="design: s has a source"):
        bo.design(asked())
