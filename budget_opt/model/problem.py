"""The question: what must be released, what matters, and how much may be spent (DESIGN 3.1)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import rfc8785
from pydantic import StrictInt

from budget_opt.errors import Fault, InputError, ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arguments import ordered_list
from budget_opt.model.arrays import TOTAL, Arrays, Objective
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block, block_indices, blocks_of, touched
from budget_opt.model.clusters.rules import cluster_faults, undecided
from budget_opt.model.fields import Cells, Clusters, Delta, Name, PositiveBudget, Title, Waves
from budget_opt.model.moments.faults import moment_faults
from budget_opt.model.moments.moment import CrossMoment, Group, Provenance, PublicColumn, Survey, Unit
from budget_opt.model.moments.rules import MomentRule, expand_rule
from budget_opt.model.parts import Part, below
from budget_opt.model.provenance import not_public
from budget_opt.model.rules import budget_faults, distortion_faults, problem_faults, reference_faults
from budget_opt.model.sources.rules import source_faults

if TYPE_CHECKING:
    from budget_opt.allocation.allocation import Allocation

FORMAT: Literal["budget-opt/problem"] = "budget-opt/problem"
VERSION: Literal[1] = 1
_PARTS: dict[str, type[Part]] = {
    "attributes": Attribute,
    "public": PublicColumn,
    "moments": CrossMoment,
    "moment_rules": MomentRule,
    "groups": Group,
}
_REFERRING = ("moments", "groups")
_SINGLE: dict[str, type[Part]] = {"provenance": Provenance, "unit": Unit, "survey": Survey}


class Problem(Part):
    """Attributes, moments and a total budget; valid once built, changed by `with_…` copies.

    `total_epsilon` in nats is for one record in one wave, whatever `unit` and `waves` say; only
    `min_epsilon` may leave it out. With a `total_delta` above 0 it holds as (epsilon, delta)-DP, by exact
    composition of the losses, and the sum of the epsilons may be larger; groups, pins and bounds are sums
    as ever.

    `clusters` are lists of attributes that are randomized together, each with one epsilon for all its members
    (DESIGN 2.9), or "auto": `design` chooses them, each of at most `max_cells` joint categories. Without
    clusters that limit says nothing but what `design` may choose.
    `moment_rules` (formulas, all pairs, …) are expanded into moments when the problem is built and are empty
    then: file, hash, allocation and certificate are those of the expanded problem. Permuted
    duplicates among the moments are merged, a stated one with one of a rule as well. Raises
    `ProblemError`, all faults at once.
    """

    noun: ClassVar[str] = "the problem"
    later: ClassVar[dict[str, Any]] = {"n": None}
    instead: ClassVar[dict[str, str]] = {
        "n": "Remove the field, and give the number of records to what needs it: plan, design and report "
        "take it as --n (in Python n=)."
    }

    format: Literal["budget-opt/problem"] = FORMAT
    version: Literal[1] = VERSION
    name: Title = ""
    total_epsilon: PositiveBudget | None = None
    total_delta: Delta = 0.0
    objective: Objective = "weighted_sum"
    attributes: tuple[Attribute, ...]
    moments: tuple[CrossMoment, ...] = ()
    groups: tuple[Group, ...] = ()
    public: tuple[PublicColumn, ...] = ()
    dropped: tuple[Name, ...] = ()
    row_order: Literal["shuffle", "public"] = "shuffle"
    unit: Unit = Unit()
    waves: Waves = 1
    n: StrictInt | None = None
    provenance: Provenance = Provenance()
    clusters: Clusters = ()
    max_cells: Cells | None = None
    moment_rules: tuple[MomentRule, ...] = ()
    survey: Survey | None = None

    def __init__(self, /, **fields: Any) -> None:
        parsed, faults, broken = _parse_parts(fields)
        try:
            super().__init__(**parsed)
        except ProblemError as failure:
            faults += (fault for fault in failure.faults if fault.where not in broken)
        if faults:
            raise ProblemError.from_faults(faults)

    def _laws(self) -> list[Fault]:
        clusters = cluster_faults(self)
        own = [*problem_faults(self), *moment_faults(self), *source_faults(self)]
        # what clusters cost is known only where they are sound
        costs = [] if clusters else [*distortion_faults(self), *budget_faults(self)]
        return [*own, *clusters, *costs]

    @classmethod
    def read(cls, path: str | Path) -> Problem:
        """Read a JSON or YAML file; raises `ProblemError` with the path of every fault."""
        from budget_opt.model.documents import read_document, uncollected

        document = read_document(path, FORMAT, VERSION, ProblemError)
        with uncollected():
            return cls.from_dict(document)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Problem:
        """The problem of a parsed file."""
        return cls(**{str(name): value for name, value in document.items()})

    def to_dict(self) -> dict[str, Any]:
        """The problem as it stands in a file; what says its default is left out."""
        return {"format": FORMAT, "version": VERSION, **super().to_dict()}

    def write(self, path: str | Path) -> None:
        """Write the problem as JSON, whole or not at all."""
        from budget_opt.model.documents import write_document

        write_document(self.to_dict(), path)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the parsed problem as RFC 8785 canonical JSON, in hexadecimal digits."""
        return hashlib.sha256(rfc8785.dumps(self.to_dict())).hexdigest()

    @cached_property
    def arrays(self) -> Arrays:
        """The numeric view that solvers work on; its objective is that of the first level."""
        from budget_opt.model.compile import arrays_of

        return arrays_of(self)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The levels of the moments that the objective counts, the first priority first."""
        return tuple(sorted({moment.level for moment in self.moments if moment.weight > 0}))

    def arrays_of_level(self, level: int) -> Arrays:
        """The same question for the moments of this level alone; all floors and ceilings stay."""
        from budget_opt.model.compile import weights_of

        return replace(self.arrays, weight=weights_of(self, level))

    def with_total(self, total_epsilon: float) -> Problem:
        """A copy with another total epsilon (nats)."""
        return self.with_fields(total_epsilon=total_epsilon)

    def with_objective(self, objective: Objective) -> Problem:
        """A copy with another objective."""
        return self.with_fields(objective=objective)

    def allocation_from(self, epsilons: Mapping[str, Any]) -> Allocation:
        """The allocation of a split by hand, epsilons (nats) by name: see `budget_opt.allocation_from`."""
        from budget_opt.allocation.given import allocation_from

        return allocation_from(self, epsilons)

    def attribute(self, name: str) -> Attribute:
        """The attribute of this name; raises `InputError` where there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise InputError(f"attribute {name!r} is not in the problem; it has {self.names}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """What is randomized as one, in the order of the first members: the order of all arrays.

        Raises `ProblemError` while the clusters are still to be chosen ("auto").
        """
        if self.clusters == "auto":
            raise ProblemError.from_faults([undecided()])
        return blocks_of(self.attributes, self.clusters)

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks: an attribute's own, "smoker + income" for a cluster."""
        return tuple(block.name for block in self.blocks)

    def block_of(self, name: str) -> Block:
        """The block of this attribute; raises `InputError` where there is no such attribute."""
        return self.blocks[self._block_index[self.attribute(name).name]]

    def touched(self, names: Iterable[str]) -> dict[int, tuple[str, ...]]:
        """The blocks of these attributes: index among `blocks` -> the ones of it, as they come.

        Names of public columns are passed over: they are in no block, and nothing is spent on them.
        """
        return touched(self._block_index, (name for name in names if name in self._block_index))

    def attributes_in(self, moment: CrossMoment) -> tuple[str, ...]:
        """The attributes that a moment names; the others are public columns, of which everything is kept."""
        known = self._attribute_names
        return tuple(name for name in moment.attributes if name in known)

    @cached_property
    def _attribute_names(self) -> frozenset[str]:
        return frozenset(self.names)

    def detail_of(self, moment: CrossMoment) -> Fraction:
        """What groupings leave of a moment, exactly; 1 without any (assumed, `groupings.detail`)."""
        details = self._details
        return math.prod((details[name] for name in moment.attributes if name in details), start=Fraction(1))

    @cached_property
    def _details(self) -> dict[str, Fraction]:
        return {one.name: one.detail for one in self.attributes if one.grouping is not None}

    def with_grouping(self, name: str, grouping: object) -> Problem:
        """A copy in which the categories of this attribute are merged by `grouping`, not at all for None.

        `grouping` is what the field of an attribute takes: a candidate, lists of categories, or an object
        from names to lists. Raises `InputError` for an unknown attribute, `ProblemError` where the grouping
        does not fit it, or leaves less of a moment than its floor.
        """
        chosen = self.attribute(name).with_fields(grouping=grouping)
        return self.with_fields(
            attributes=tuple(chosen if one.name == name else one for one in self.attributes)
        )

    @cached_property
    def _block_index(self) -> dict[str, int]:
        return block_indices(self.blocks)

    def with_clusters(self, clusters: Iterable[Iterable[str]] | Literal["auto"]) -> Problem:
        """A copy with these clusters, lists of attributes; without any, no limit of cells is kept."""
        listed = ordered_list(clusters)
        chosen = clusters if listed is None else listed  # what is no list is refused as a field's value
        return self.with_fields(clusters=chosen, **({"max_cells": None} if listed == [] else {}))

    @property
    def not_public(self) -> tuple[str, ...]:
        """What the problem uses and does not state to be public: the guarantee assumes that it is."""
        return not_public(self)

    def budgets(self) -> tuple[tuple[str, tuple[str, ...], Fraction], ...]:
        """(name, members, cap) of the total, where there is one, and of every group; exact decimals.

        Of a cluster the one epsilon counts once, in the total and in every group with a member of it.
        With a `total_delta` a sum within the total is enough, and not needed.
        """
        total = () if self.total_epsilon is None else ((TOTAL, self.names, exact(self.total_epsilon)),)
        return (*total, *((group.name, group.attributes, exact(group.epsilon_max)) for group in self.groups))


def _parse_parts(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault], set[str]]:
    """Build every part on its own, so that the faults of all are told with their paths.

    Also returns the names of the lists that lost a part, about which nothing more can be said.
    """
    parsed, faults, broken = dict(fields), list[Fault](), set[str]()
    rules: list[Part | None] = []
    for name, kind in _PARTS.items():
        given = fields.get(name)
        items = ordered_list(given)
        if items is None:
            continue
        built = [_parse_part(f"{name}[{i}]", kind, item) for i, item in enumerate(items)]
        faults += (fault for _, found in built for fault in found)
        parsed[name] = tuple(part for part, _ in built if part is not None)
        if len(parsed[name]) < len(built):
            broken.add(name)
        if name == "moment_rules":
            rules = [part for part, _ in built]  # with the places of faulty ones
        if name in _REFERRING and isinstance(parsed.get("attributes"), tuple):
            # before moments are merged, so that the paths are those of the file
            known = [attribute.name for attribute in parsed["attributes"]]
            if name == "moments" and isinstance(parsed.get("public"), tuple):
                known += [column.name for column in parsed["public"]]
            faults += reference_faults(name, [getattr(part, "attributes", ()) for part, _ in built], known)
    faults += [*_parse_singles(parsed), *_expand_rules(rules, parsed, broken)]
    if isinstance(parsed.get("moments"), tuple):
        parsed["moments"], found = _merge(parsed["moments"])
        faults += found
    return parsed, faults, broken


def _parse_singles(parsed: dict[str, Any]) -> list[Fault]:
    """Build the parts of which there is one each."""
    faults: list[Fault] = []
    for name, kind in _SINGLE.items():
        if isinstance(parsed.get(name), Mapping):
            part, found = _parse_part(name, kind, parsed[name])
            faults += found
            parsed[name] = kind.model_construct() if part is None else part
    return faults


def _expand_rules(rules: list[Part | None], parsed: dict[str, Any], broken: set[str]) -> list[Fault]:
    """Put the moments of the rules after the stated ones, and leave no rule.

    Those of a faulty rule are not there to be counted: nothing is said about the moments as a whole then.
    """
    stated, attributes = parsed.get("moments", ()), parsed.get("attributes")
    if not rules or not isinstance(stated, tuple) or not isinstance(attributes, tuple):
        if parsed.get("moment_rules"):
            broken.add("moments")
        return []
    names = [attribute.name for attribute in attributes]
    stated_public = parsed.get("public", ())
    public = [column.name for column in stated_public] if isinstance(stated_public, tuple) else []
    faults: list[Fault] = []
    for i, rule in enumerate(rules):
        if isinstance(rule, MomentRule):
            moments, _, found = expand_rule(rule, names, f"moment_rules[{i}]", public)
            faults += found
            stated += tuple(moments)
    parsed |= {"moments": stated, "moment_rules": ()}
    if faults or "moment_rules" in broken:
        broken.add("moments")
    return faults


def _parse_part(where: str, kind: type[Part], item: Any) -> tuple[Part | None, list[Fault]]:
    if isinstance(item, kind):
        return item, []
    if not isinstance(item, Mapping):
        return None, [Fault(where, item, "must be an object", f"See the fields of {kind.noun}.")]
    try:
        return kind(**{str(key): value for key, value in item.items()}), []
    except InputError as failure:
        return kind.stand_in(item), below(where, failure.faults)


def _merge(moments: Iterable[CrossMoment]) -> tuple[tuple[CrossMoment, ...], list[Fault]]:
    """Permuted duplicates as one moment, in the order of their first appearance."""
    merged: dict[frozenset[str], CrossMoment] = {}
    faults: list[Fault] = []
    for moment in moments:
        key = frozenset(moment.attributes)
        if key not in merged:
            merged[key] = moment
            continue
        try:
            merged[key] = merged[key].merged(moment)
        except InputError as failure:
            faults += below(f"moments ({moment.label}, stated more than once)", failure.faults)
    return tuple(merged.values()), faults
