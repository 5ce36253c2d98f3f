"""Random valid problems, as the documents that stand in files."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from budget_opt.mechanisms.exact import exact
from budget_opt.model.problem import Problem

Document = dict[str, Any]

NAMES = ("smoker", "income", "région", "age group", "x[0]", "性別", "a,b", 'quo"ted', "5", "null")
OTHERS = ("wave", "person_id", "weight", "-")
LABELS = ("no", "yes", "", "north", "18+", "é", "true", "1", " padded ", "NaN")
_LABELS = tuple(label for label in LABELS if label)


def decimals(low: int, high: int) -> st.SearchStrategy[float]:
    """Numbers of at most three decimals, in thousandths from `low` to `high`."""
    return st.integers(low, high).map(lambda thousandths: thousandths / 1000)


@st.composite
def domains(draw: st.DrawFn) -> Document:
    """Categories or bins, scores, missing and other, all consistent; and marginal shares."""
    kind = draw(st.sampled_from(("count", "text", "integers", "booleans", "bins")))
    fields: Document = {}
    if kind == "bins":
        edges: list[Any] = sorted(
            draw(st.lists(st.integers(-50, 200), min_size=3, max_size=6, unique=True)),
        )
        if draw(st.booleans()):
            edges[draw(st.sampled_from((0, -1)))] = None
        fields["bins"], size = edges, len(edges) - 1
    elif kind == "count":
        fields["categories"] = size = draw(st.integers(2, 9))
    else:
        pool = {"text": st.sampled_from(_LABELS), "integers": st.integers(-9, 99), "booleans": st.booleans()}
        labels = draw(st.lists(pool[kind], min_size=2, max_size=5, unique=True))
        fields["categories"], size = labels, len(labels)
        if draw(st.booleans()):
            fields["other"] = draw(st.sampled_from(labels))
        if draw(st.booleans()):
            fields["ordered"] = True
    if draw(st.booleans()) or (kind == "bins" and None in fields["bins"]):
        scores = draw(st.lists(decimals(-9000, 9000), min_size=size, max_size=size))
        fields["scores"] = [*scores[:-1], scores[0] + 1.5]
    scored = kind in ("bins", "count") or "scores" in fields or "ordered" in fields
    if draw(st.booleans()):
        fields["missing"] = "category"
        size += 1
        if scored:
            fields["missing_score"] = draw(decimals(-9000, 9000))
    if draw(st.booleans()):
        weights = draw(st.lists(st.integers(1, 50), min_size=size, max_size=size))
        fields["marginal"] = [weight / sum(weights) for weight in weights]
    return fields


@st.composite
def bounds(draw: st.DrawFn, spare: int) -> Document:
    """Pin, minimum or maximum; what it needs is at most `spare` thousandths."""
    kind = draw(st.sampled_from(("none", "none", "pin", "min", "max", "both")))
    unit = draw(st.sampled_from((1000, 3000)))  # few decimals, or all that a double has
    low = draw(st.integers(0, spare)) / unit
    high = low + draw(st.integers(1, 4000)) / unit
    return {
        "none": {},
        "pin": {"epsilon": low},
        "min": {"epsilon_min": low},
        "max": {"epsilon_max": high},
        "both": {"epsilon_min": low, "epsilon_max": high},
    }[kind]


@st.composite
def moments(draw: st.DrawFn, names: list[str]) -> Document:
    moment: Document = {
        "attributes": draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)),
        "weight": draw(st.one_of(st.just(1.0), decimals(1, 9000))),
    }
    if draw(st.booleans()):
        moment["floor"] = draw(decimals(1, 400))
    if draw(st.integers(0, 3)) == 0:
        moment["ceiling"] = draw(decimals(400, 999))
    for field in ("target", "variance"):
        if draw(st.integers(0, 3)) == 0:
            moment[field] = draw(decimals(1, 9000))
    return moment


@st.composite
def documents(draw: st.DrawFn, *, with_bounds: bool = True) -> Document:
    """Well-formed problem files whose floors may be out of reach; `with_bounds`: of single attributes."""
    total = draw(st.integers(10, 20_000))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True))
    attributes = [
        {"name": name, **draw(domains()), **(draw(bounds(total // len(names))) if with_bounds else {})}
        for name in names
    ]
    asked = draw(st.lists(moments(names), min_size=1, max_size=5))
    objective = draw(
        st.sampled_from(("weighted_sum", "geometric_mean", "max_min", "min_epsilon", "min_variance"))
    )
    document: Document = {
        "format": "budget-opt/problem",
        "version": 1,
        "objective": objective,
        "attributes": attributes,
        "moments": asked,
    }
    if objective == "min_epsilon":
        asked[0]["floor"] = draw(decimals(1, 400))
    if objective != "min_epsilon" or draw(st.booleans()):
        document["total_epsilon"] = total / 1000
    groups = draw(
        st.lists(
            st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True), min_size=0, max_size=2
        )
    )
    least = {one["name"]: one.get("epsilon", one.get("epsilon_min", 0.0)) for one in attributes}
    for i, members in enumerate(groups):
        needed = math.ceil(1000 * sum(exact(least[name]) for name in members))
        cap = needed + draw(st.integers(0, 5000))
        document.setdefault("groups", []).append(
            {"name": f"block {i}", "attributes": members, "epsilon_max": cap / 1000}
        )
    return document | draw(texts())


@st.composite
def texts(draw: st.DrawFn) -> Document:
    """The fields that no number depends on."""
    fields: Document = {}
    beside = draw(st.lists(st.sampled_from(OTHERS), max_size=3, unique=True))
    if beside:
        fields["public"] = [{"name": beside[0], "why": "the same for everybody"}]
        fields["dropped"] = beside[1:]
    if draw(st.booleans()):
        fields["name"] = draw(st.sampled_from(("health survey", "été 2026", "")))
    if draw(st.booleans()):
        fields["row_order"] = draw(st.sampled_from(("shuffle", "public")))
    if draw(st.booleans()):
        fields["provenance"] = {"weights": "public", "total": "private data, epsilon 0.5"}
    if beside and draw(st.booleans()):
        rows = draw(st.integers(1, 20))
        fields["unit"] = {"of": "person", "id": draw(st.sampled_from(beside)), "max_rows": rows}
    if draw(st.booleans()):
        fields["waves"] = draw(st.integers(1, 20))
    if beside and draw(st.booleans()):
        fields["survey"] = {"weight": beside[0]}
    return fields


def problems(*, with_bounds: bool = True) -> st.SearchStrategy[Problem]:
    """Well-formed problems; floors may be out of reach."""
    return documents(with_bounds=with_bounds).map(Problem.from_dict)
