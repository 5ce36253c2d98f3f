"""Merged categories: what a grouping may be, the domain that it makes, and what it leaves of a score."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.domain import Domain
from budget_opt.model.groupings.detail import Coarsening

TOWNS = ("york", "leeds", "hull", "bath", "bristol")
REGIONS = {"north": ["york", "leeds", "hull"], "south": ["bath", "bristol"]}


def towns(**fields: Any) -> bo.Attribute:
    return bo.Attribute("town", categories=TOWNS, **fields)


def test_merged_categories_are_read_as_declared_and_released_by_the_names_of_their_groups() -> None:
    domain = towns(grouping=REGIONS, other="bath", missing="category").domain
    assert domain.labels == ("north", "south", None)
    assert domain.fine == Domain("text", (*TOWNS, None), None, 3)
    assert domain.codes == (0, 0, 0, 1, 1, 2)
    assert (domain.kind, domain.other, domain.missing) == ("text", 1, 2)


def test_bins_that_are_merged_into_bins_are_just_the_coarser_bins() -> None:
    grouping = [["[18, 30)", "[30, 45)"], ["[45, 65)"], ["[65, inf)"]]
    fine = bo.Attribute("age", bins=[18, 30, 45, 65, None], scores=[24, 37, 55, 75], grouping=grouping)
    coarse = bo.Attribute("age", bins=[18, 45, 65, None], scores=[30.5, 55, 75])
    assert fine.domain == coarse.domain
    assert fine.domain.labels == ("[18, 45)", "[45, 65)", "[65, inf)")
    assert fine.score_values == coarse.score_values


@pytest.mark.parametrize(
    ("fields", "grouping", "labels"),
    [
        ({"categories": TOWNS}, [["york", "hull"], ["leeds"], ["bath", "bristol"]], None),
        ({"categories": 4}, [[0, 1], [2, 3]], ("0 or 1", "2 or 3")),
        ({"categories": 3}, [[2], [1], [0]], (2, 1, 0)),
        (
            {"categories": [True, False], "missing": "category", "missing_score": 5},
            [[True, None], [False]],
            None,
        ),
        ({"bins": [0, 1, 2, 3]}, {"low": ["[0, 1)", "[1, 2)"], "high": ["[2, 3]"]}, ("low", "high")),
    ],
)
def test_merged_categories_without_names_are_called_by_their_members(
    fields: Any, grouping: Any, labels: Any
) -> None:
    domain = bo.Attribute("a", **fields, grouping=grouping).domain
    expected = (
        labels
        or {
            3: ("york or hull", "leeds", "bath or bristol"),
            2: ("true or missing", "false"),
        }[domain.cardinality]
    )
    assert domain.labels == expected


@pytest.mark.parametrize(
    ("grouping", "limit"),
    [
        ({"north": ["york", "leeds", "hull"]}, "at least two groups"),
        ({"north": ["york", "leeds", "hull"], "south": ["bath"]}, "'bristol' is in none"),
        ({"north": ["york", "leeds", "hull"], "south": ["bath", "Bristol"]}, "'Bristol' is none"),
        ({"north": ["york", "leeds", "hull", "bath"], "south": ["bath", "bristol"]}, "once"),
        ({"north": ["york", "leeds", "hull", None], "south": ["bath", "bristol"]}, "missing category"),
        ({"north": [], "south": list(TOWNS)}, "at least one in each"),
        ("york", "lists of categories"),
        ([["york", "leeds"], "bath"], "lists of categories"),
        ({1: ["york"], "south": ["bath"]}, "names that are text"),
        (4, "lists of categories"),
    ],
)
def test_a_grouping_that_does_not_fit_the_categories_is_refused_with_what_is_wrong(
    grouping: Any, limit: str
) -> None:
    for fields in ({"grouping": grouping}, {"groupings": [grouping]}):
        with pytest.raises(ProblemError) as caught:
            towns(**fields)
        (fault,) = caught.value.faults
        assert fault.where.startswith("grouping")
        assert limit in fault.limit or "groupings" in fields


def test_true_is_no_category_of_the_numbers_although_it_equals_one() -> None:
    with pytest.raises(ProblemError, match="True is none"):
        bo.Attribute("a", categories=3, grouping=[[0, True], [2, 1]])


def test_bins_are_merged_with_their_neighbours_alone() -> None:
    with pytest.raises(ProblemError, match="side by side"):
        bo.Attribute("a", bins=[0, 1, 2, 3], grouping=[["[0, 1)", "[2, 3]"], ["[1, 2)"]])


def test_names_that_would_be_one_label_are_refused() -> None:
    with pytest.raises(ProblemError, match="Name the groups"):
        bo.Attribute("a", categories=["x", "y", "x or y"], grouping=[["x", "y"], ["x or y"]])


def test_a_grouping_that_leaves_no_variance_is_refused() -> None:
    with pytest.raises(ProblemError, match="variance"):
        bo.Attribute("a", categories=4, scores=[1, 2, 2, 1], grouping=[[0, 1], [2, 3]])


def test_a_name_that_the_missing_category_alone_would_have_is_refused() -> None:
    """It stays the missing one, so that the name would be lost without a word."""
    with pytest.raises(ProblemError, match=r"the name 'none', and alone it stays missing\. Leave"):
        towns(missing="category", grouping={"none": [None], **REGIONS})


def test_merged_categories_without_scores_of_which_one_has_all_shares_are_refused_in_these_words() -> None:
    with pytest.raises(ProblemError, match="two merged categories a share of the stated marginal above 0"):
        bo.Attribute(
            "a", categories=["x", "y", "z"], marginal=[0.5, 0.5, 0], grouping={"xy": ["x", "y"], "z": ["z"]}
        )


def test_the_missing_category_stays_alone_unless_a_group_names_it() -> None:
    plain = towns(missing="category", grouping=REGIONS)
    listed = towns(missing="category", grouping=[*REGIONS.values(), [None]])
    inside = towns(missing="category", grouping={**REGIONS, "south": ["bath", "bristol", None]})
    assert plain.domain.labels == ("north", "south", None)
    assert listed.domain.labels == ("york or leeds or hull", "bath or bristol", None)
    assert inside.domain.labels == ("north", "south")
    assert inside.domain.codes[-1] == 1


@pytest.mark.parametrize("grouping", [REGIONS, [["york", "leeds", "hull"], ["bath", "bristol"]]])
def test_a_grouping_survives_its_file(grouping: Any) -> None:
    attribute = towns(grouping=grouping, groupings=[grouping, {"all": list(TOWNS[:4]), "rest": ["bristol"]}])
    again = bo.Attribute(**attribute.to_dict())
    assert again == attribute
    assert again.to_dict()["grouping"] == (
        grouping if isinstance(grouping, dict) else list(map(list, grouping))
    )


def test_a_tree_is_a_candidate_a_level() -> None:
    tree = {"north": {"yorkshire": ["york", "leeds"], "humber": ["hull"]}, "south": ["bath", "bristol"]}
    for candidates in (tree, [tree]):
        labels = [towns(grouping=one).domain.labels for one in towns(groupings=candidates).groupings or ()]
        assert labels == [("yorkshire", "humber", "south"), ("north", "south")]
    lists = [[["york", "leeds"], ["hull"]], ["bath", "bristol"]]
    found = [one.groups for one in towns(groupings=[lists]).groupings or ()]
    assert found == [
        (("york", "leeds"), ("hull",), ("bath", "bristol")),
        (("york", "leeds", "hull"), ("bath", "bristol")),
    ]


def test_groupings_come_from_parents_prefixes_and_ranges() -> None:
    region = {town: name for name, members in REGIONS.items() for town in members}
    assert bo.groupings_from_parents(TOWNS, region)[0].to_json() == REGIONS
    codes = ["A01", "A02", "B95", "C10", "D48", "D50"]
    (by_letter,) = bo.groupings_from_prefixes(codes, 1)
    assert by_letter.to_json() == {"A": ["A01", "A02"], "B": ["B95"], "C": ["C10"], "D": ["D48", "D50"]}
    chapters = bo.groupings_from_ranges(
        codes, {"A00-B99": "infections", "C00-D48": "neoplasms", "D50-D89": "blood"}
    )
    assert chapters.to_json() == {
        "infections": ["A01", "A02", "B95"],
        "neoplasms": ["C10", "D48"],
        "blood": ["D50"],
    }
    with pytest.raises(ProblemError, match="in no range"):
        bo.groupings_from_ranges(codes, {"A00-B99": "infections", "C00-D48": "neoplasms"})
    with pytest.raises(ProblemError, match="no parent"):
        bo.groupings_from_parents(TOWNS, {"york": "north"})


@st.composite
def coarsenings(draw: st.DrawFn) -> tuple[Coarsening, list[float]]:
    """At least two merged categories, all with members, shares and scores of few decimals."""
    count = draw(st.integers(2, 4))
    codes = [*range(count), *draw(st.lists(st.integers(0, count - 1), max_size=5))]
    weights = draw(st.lists(st.integers(0, 20), min_size=len(codes), max_size=len(codes)))
    whole = sum(weights)
    shares = tuple(weight / whole for weight in weights) if whole else None
    scores = draw(st.lists(st.integers(-50, 50), min_size=len(codes), max_size=len(codes)))
    return Coarsening(tuple(codes), count, shares), [score / 10 for score in scores]


@settings(max_examples=40)
@given(coarsenings())
def test_the_detail_is_the_share_of_the_variance_between_the_groups(
    case: tuple[Coarsening, list[float]],
) -> None:
    """Against the variance decomposition in doubles, from the definition."""
    coarsening, scores = case
    p = np.ones(len(scores)) if coarsening.shares is None else np.array(coarsening.shares)
    p, f, codes = p / p.sum(), np.array(scores), np.array(coarsening.codes)
    within = 0.0
    for group in range(coarsening.count):
        inside = codes == group
        if p[inside].sum() > 0:
            mean = np.average(f[inside], weights=p[inside])
            within += p[inside] @ (f[inside] - mean) ** 2
    whole = p @ (f - p @ f) ** 2
    detail = coarsening.detail(scores)
    assert 0 <= detail <= 1
    assert math.isclose(float(detail) * whole, whole - within, abs_tol=1e-9)


@settings(max_examples=40)
@given(coarsenings())
def test_the_nominal_detail_is_the_sum_over_the_indicators_of_all_categories(
    case: tuple[Coarsening, list[float]],
) -> None:
    coarsening, scores = case
    r = len(scores)
    p = [Fraction(1, r)] * r
    if coarsening.shares is not None:
        stated = [exact(share) for share in coarsening.shares]
        p = [share / sum(stated) for share in stated]
    single = [[1.0 if i == j else 0.0 for i in range(r)] for j in range(r)]
    variances = [share * (1 - share) for share in p]
    kept = sum(
        variance * coarsening.detail(indicator) for variance, indicator in zip(variances, single, strict=True)
    )
    whole = sum(variances)
    assert coarsening.detail(None) == (kept / whole if whole else 0)


def test_the_covariance_with_a_linear_partner_loses_exactly_the_detail() -> None:
    """cov(F, V) = detail cov(f, V) where E[V | f] is a line: by enumeration, in fractions."""
    attribute = bo.Attribute(
        "a",
        categories=5,
        scores=[0, 1, 3, 4, 9],
        marginal=[0.3, 0.1, 0.2, 0.2, 0.2],
        grouping=[[0, 3], [1, 2, 4]],
    )
    p = [exact(share) for share in attribute.marginal or ()]
    f = [exact(score) for score in attribute.scores or ()]
    merged = Coarsening((0, 1, 1, 0, 1), 2, attribute.marginal).merged_scores(attribute.scores or ())
    coarse = [merged[code] for code in (0, 1, 1, 0, 1)]
    partner = [2 * score + 7 for score in f]

    def covariance(first: list[Fraction], second: list[Fraction]) -> Fraction:
        means = [sum((w * x for w, x in zip(p, side, strict=True)), Fraction(0)) for side in (first, second)]
        return sum(
            (w * (x - means[0]) * (y - means[1]) for w, x, y in zip(p, first, second, strict=True)),
            Fraction(0),
        )

    assert covariance(coarse, partner) == attribute.detail * covariance(f, partner)
    assert attribute.score_values == tuple(map(float, merged))


def test_shares_and_backgrounds_of_merged_categories_are_sums() -> None:
    marginal = [0.3, 0.1, 0.2, 0.25, 0.15]
    listed = towns(marginal=marginal, background=[0.2, 0.2, 0.1, 0.3, 0.2], grouping=REGIONS)
    assert listed.shares == (0.6, 0.4)
    assert listed.background_weights == (1, 1)
    assert towns(marginal=marginal, background="marginal", grouping=REGIONS).background_weights == (3, 2)
    assert towns(marginal=marginal, grouping=REGIONS).background_weights is None


def test_r12_the_merged_domain_says_what_it_holds_so_that_no_two_groupings_share_words() -> None:
    first, second = (towns(grouping={"a": list(TOWNS[:k]), "b": list(TOWNS[k:])}).domain for k in (2, 3))
    assert first.labels == second.labels
    assert first.identity != second.identity
    assert towns().domain.identity == ("text", TOWNS)


def test_a_run_of_integers_is_named_by_its_ends() -> None:
    age = bo.Attribute("age", categories=9, grouping=[[0, 1, 2, 3], [4, 5], [6, 8, 7]])
    assert age.domain.labels == ("0 to 3", "4 or 5", "6 or 8 or 7")


def test_groupings_of_bins_come_from_coarser_edges() -> None:
    bins = [10, 15, 20, 25, None]
    two, three = bo.groupings_from_edges(bins, [10, 20, None], [10, 15, 25, None])
    age = bo.Attribute("age", bins=bins, scores=[1, 2, 3, 4], groupings=[two, three])
    assert age.groupings == (two, three)
    assert age.with_fields(grouping=two).domain == Domain(
        "bins", ("[10, 20)", "[20, inf)"), (10.0, 20.0, math.inf)
    )
    assert age.with_fields(grouping=three).domain.labels == ("[10, 15)", "[15, 25)", "[25, inf)")


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([10, 25], "at least one edge between"),
        ([10, 15, 20], "must go from 10 to 25"),
        ([10, 17, 25], "some of the edges"),
        ([10, 20, 15, 25], "in order"),
        ([10, 15, 15, 25], "each once"),
    ],
)
def test_edges_that_are_not_those_of_the_bins_are_refused(edges: list[float], said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        bo.groupings_from_edges([10, 15, 20, 25], edges)


def test_a_group_of_what_is_no_category_is_told_what_one_looks_like() -> None:
    with pytest.raises(ProblemError, match=r"such as '\[10, 15\)', '10-15' is none"):
        bo.Attribute("age", bins=[10, 15, 20, 25], grouping=[["10-15"], ["[15, 20)", "[20, 25]"]])
