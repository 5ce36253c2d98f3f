"""A design as people read it: the answer, the alternatives, what the clusters cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.allocation.merging import grouping_sentences, retention_heading
from budget_opt.allocation.show import distortion_lines
from budget_opt.api.design.result import ALONE, Alternative, Design, DesignedMoment, Member
from budget_opt.api.wording import listed
from budget_opt.model.moments.by_moment import told_apart
from budget_opt.tables.printing import NOTHING, percent, text_table
from budget_opt.tables.wide import Column, WideTable


def renderable(design: Design) -> RenderableType:
    """The answer, the alternatives, retentions, members, and what is lost."""
    parts: list[RenderableType] = [Text(line) for line in _answer(design)]
    parts += [_alternatives(design.alternatives), *(Text(line) for line in _beside(design))]
    parts.append(_moments(design, design.moments))
    if design.members:
        parts.append(_members(design.members, with_n=design.n is not None))
    merging = [f"{one}." for one in grouping_sentences(design.problem.attributes)]
    held = [f"{one}." for one in distortion_lines(design.allocation)]
    parts += [Text(line) for line in (*design.lost, *held, *merging, _basis(design))]
    return Group(*parts)


def _answer(design: Design) -> list[str]:
    found = [" + ".join(one.members) for one in design.clusters]
    lines = [
        f"randomize together: {'; '.join(found)}" if found else "no clusters: each attribute alone is best"
    ]
    lines += [f"{name} in coarser categories: {grouping}" for name, grouping in design.groupings.items()]
    value = "undefined" if design.value is None else f"{design.value:.6g}"
    lines.append(
        f"{design.problem.objective} {value}, bound {design.bound:.6g} {design.counts} with at most "
        f"{design.max_cells} joint categories in a cluster: {design.status}, relative gap "
        f"{design.relative_gap:.2g}"
    )
    if design.certified_bound is not None and not _same(design.certified_bound, design.bound):
        lines.append(f"the certificate alone proves {design.certified_bound:.6g}: it leaves ceilings out")
    return lines


def _same(one: float, other: float) -> bool:
    """True where they differ by the digits of two machines at most."""
    return math.isclose(one, other, rel_tol=1e-9)


def _alternatives(alternatives: Sequence[Alternative]) -> RenderableType:
    rows = [
        [
            one.name,
            _number(one.value),
            _number(one.ratio),
            _number(one.variance),
            "yes" if one.keeps_all else _broken(one),
        ]
        for one in alternatives
    ]
    headings = ["alternative", "objective", "ratio", "weighted variance inflation", "keeps all"]
    return text_table(headings, rows)


def _beside(design: Design) -> list[str]:
    """Why an alternative has no split, and what the ratios are to where there is none without clusters."""
    lines = [f"{one.name}: {one.why}" for one in design.alternatives if one.why is not None]
    if design.ratio_to != ALONE:
        lines.append(f"The ratios are to: {design.ratio_to}.")
    return lines


def _broken(one: Alternative) -> str:
    return f"no: {listed(one.broken)}" if one.broken else "impossible"


def _moments(design: Design, moments: Sequence[DesignedMoment]) -> RenderableType:
    marks = [" *" if one.touches_twice else "" for one in moments]
    labels = [label + mark for label, mark in zip(told_apart(design.problem.moments), marks, strict=True)]
    return WideTable(
        Column(f"{retention_heading(design.allocation.moments)} of", labels),
        [
            Column("no clusters", [_percent(one.retention_alone) for one in moments]),
            Column("chosen", [percent(one.retention) for one in moments]),
            Column("inflation,\nno clusters", [_number(one.variance_inflation_alone) for one in moments]),
            Column("inflation,\nchosen", [_number(one.variance_inflation) for one in moments]),
        ],
    )


def _members(members: Sequence[Member], *, with_n: bool) -> RenderableType:
    columns = [
        Column("epsilon\nalone", [_number(one.epsilon_alone) for one in members]),
        Column("epsilon of\nits cluster", [_number(one.epsilon) for one in members]),
        Column("retention\nalone", [_percent(one.retention_alone) for one in members]),
        Column("retention\nin its cluster", [percent(one.retention) for one in members]),
        Column("inflation\nalone", [_number(one.variance_inflation_alone) for one in members]),
        Column("inflation\nin its cluster", [_number(one.variance_inflation) for one in members]),
    ]
    if with_n:
        columns += [
            Column("worth records\nalone", [_records(one.records_alone) for one in members]),
            Column("worth records\nin its cluster", [_records(one.records) for one in members]),
        ]
    return WideTable(Column("marginal of", [one.name for one in members]), columns)


def lost(design: Design) -> tuple[str, ...]:
    """What the clusters cost: shared epsilons, marginals that are worth less, domains, moments inside."""
    return (
        *(_shared(design, name) for name in [one.name for one in design.clusters]),
        *_weaker(design),
        *_inside(design),
    )


def _shared(design: Design, name: str) -> str:
    cluster = next(one for one in design.clusters if one.name == name)
    members = [one for one in design.members if one.cluster == name]
    before = [one.epsilon_alone for one in members]
    alone = "" if None in before else f" (alone: {listed([_number(one) for one in before], 9)})"
    cells = f"its {cluster.cells} joint categories"
    records = (
        ""
        if cluster.records_a_cell is None
        else f" have {cluster.records_a_cell:.3g} records each on average"
    )
    domain = f"; {cells}{records}" if records else f"; it has {cluster.cells} joint categories"
    return (
        f"{name}: one epsilon of {cluster.epsilon:.4g} for all members, so that a change of one of them "
        f"alone costs all of it{alone}{domain}."
    )


def _weaker(design: Design) -> list[str]:
    """Members whose own marginals become less exact."""
    worse = [
        f"{one.name} ({one.variance_inflation:.3g} instead of {one.variance_inflation_alone:.3g})"
        for one in design.members
        if one.variance_inflation is not None
        and one.variance_inflation_alone is not None
        and one.variance_inflation > one.variance_inflation_alone * (1 + 1e-9)
    ]
    if not worse:
        return []
    return [f"Single marginals with more variance: {listed(worse, 6)} times that without noise."]


def _inside(design: Design) -> list[str]:
    twice = [one.label for one in design.moments if one.touches_twice]
    if not twice:
        return []
    told = "the retention is the factor on the function of the cluster, and the moment itself is corrected"
    return [f"* {listed(twice, 6)}: several attributes in one cluster; {told} through the joint table."]


def _basis(design: Design) -> str:
    return f"Clusters by dependence (Domingo-Ferrer and Soria-Comas 2022): from {design.dependence}."


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4g}"


def _percent(share: float | None) -> str:
    return NOTHING if share is None else percent(share)


def _records(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"
