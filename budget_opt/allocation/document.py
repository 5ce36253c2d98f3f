"""The allocation file: written from an allocation, and read by making the allocation again (DESIGN 3.2).

A reader takes only what cannot be recomputed (declarations, epsilons, widths, bound, texts), builds
the allocation anew and compares: integers and text exactly, doubles to 1e-12 relative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from budget_opt.allocation.allocation import AllocatedMoment, Allocation
from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock
from budget_opt.allocation.build import Statement, assemble
from budget_opt.allocation.overstated import overstated
from budget_opt.allocation.schema import (
    FORMAT,
    PRODUCT,
    RETENTION_OF,
    UNIFORM,
    VERSION,
    AllocationDocument,
    AttributeResults,
    ClusterResults,
    MomentResults,
    OutcomeResults,
    Privacy,
    SamplerIntegers,
)
from budget_opt.errors import AllocationError, Fault, InputError
from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler, any_sampler_as_stated
from budget_opt.model.backgrounds.background import to_json
from budget_opt.model.clusters.block import Block
from budget_opt.model.differences import differences
from budget_opt.model.documents import read_document, uncollected
from budget_opt.model.moments.moment import Unit
from budget_opt.model.parts import Part, below
from budget_opt.model.problem import Problem

_BOUNDS = ("epsilon", "epsilon_min", "epsilon_max", "distortion_max", "groupings")
_DEFAULTS = {"target": 1.0, "variance": 1.0}
P = TypeVar("P", bound=Part)


def document_of(allocation: Allocation) -> dict[str, Any]:
    """The file's content."""
    question = allocation.question.to_dict()
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": allocation.name,
        "problem_sha256": allocation.problem_sha256,
        "created": allocation.created,
        "software": allocation.software,
        "total_epsilon": allocation.total_epsilon,
        "total_delta": allocation.total_delta,
        "spent_epsilon": allocation.spent_epsilon,
        "privacy": _privacy(allocation),
        "objective": dict(vars(allocation.objective)),
        "attributes": [_attribute(attribute) for attribute in allocation.attributes],
        "moments": [_moment(moment) for moment in allocation.moments],
        "clusters": [_cluster(block) for block in allocation.clusters],
        "groups": question.get("groups", []),
        "public": question.get("public", []),
        "dropped": list(allocation.dropped),
        "row_order": allocation.row_order,
        "provenance": question.get("provenance", {}),
        "sensitivity": dict(allocation.sensitivity),
        **({"survey": question["survey"]} if "survey" in question else {}),
    }


def _privacy(allocation: Allocation) -> dict[str, Any]:
    """What one record loses; and, where the problem speaks of persons or waves, how these add up."""
    unit = allocation.unit
    stated: dict[str, Any] = {
        "unit": unit.of,
        "neighbours": "one record's values replaced",
        "composition": "convolution" if allocation.total_delta > 0 else "sum",
        "loss": allocation.loss,
    }
    if unit.of == "person":
        stated |= {"id": unit.id, "max_rows": unit.max_rows}
    if allocation.waves > 1:
        stated["waves"] = allocation.waves
    if unit.of == "person" or allocation.waves > 1:
        stated["planned_loss"] = allocation.planned_loss
    return stated


def _attribute(attribute: AllocatedAttribute) -> dict[str, Any]:
    declared = attribute.declared.to_dict()
    return {
        **{name: value for name, value in declared.items() if name not in _BOUNDS},
        "cardinality": attribute.cardinality,
        "background": to_json(attribute.declared.background),
        "epsilon": attribute.epsilon,
        "loss": attribute.loss,
        "retention": attribute.retention if attribute.has_retention else None,
        "truth_probability": attribute.truth_probability,
        "other_probability": attribute.other_probability,
        # members are not drawn on their own: who knows no clusters finds nothing to draw with
        "sampler": None if attribute.cluster else _integers(attribute.sampler),
        "shadow_price": attribute.shadow_price,
        **({"cluster": attribute.part.name} if attribute.cluster else {}),
        **({} if attribute.distortion is None else {"distortion": attribute.distortion}),
        **({} if attribute.effect is None else {"effect": [float(score) for score in attribute.effect]}),
    }


def _cluster(block: AllocatedBlock) -> dict[str, Any]:
    return {
        "name": block.name,
        "members": list(block.names),
        "cardinality": block.cardinality,
        "background": UNIFORM if block.has_uniform_background else PRODUCT,
        "epsilon": block.epsilon,
        "loss": block.loss,
        "retention": block.retention,
        "truth_probability": block.truth_probability,
        "other_probability": block.other_probability,
        "sampler": _integers(block.sampler),
        "shadow_price": block.shadow_price,
    }


def _integers(sampler: AnySampler | None) -> dict[str, Any] | None:
    if sampler is None:
        return None
    if isinstance(sampler, Sampler):
        return {"bits": sampler.bits, "q": str(sampler.q)}
    if isinstance(sampler, MatrixSampler):
        return {"bits": sampler.bits, "rows": [[str(count) for count in row] for row in sampler.counts]}
    return {"bits": sampler.bits, "counts": [str(count) for count in sampler.counts]}


def _moment(moment: AllocatedMoment) -> dict[str, Any]:
    stated = moment.stated
    scales = {name: getattr(stated, name) for name in _DEFAULTS}
    return {
        "attributes": list(stated.attributes),
        "weight": stated.weight,
        "floor": stated.floor,
        "ceiling": stated.ceiling,
        **{name: value for name, value in scales.items() if value != _DEFAULTS[name]},
        "level": stated.level,
        "retention": moment.retention,
        "variance_inflation": moment.variance_inflation,
        "variance_basis": moment.variance_basis,
        "floor_price": moment.floor_price,
        "ceiling_price": moment.ceiling_price,
        **({"retention_of": RETENTION_OF} if moment.touches_twice else {}),
        **({"detail": float_at_most(moment.detail)} if moment.detail < 1 else {}),
    }


def read_allocation(path: str | Path) -> Allocation:
    """The allocation in a file that agrees with itself; raises `AllocationError`, all faults at once."""
    document = read_document(path, FORMAT, VERSION, AllocationError)
    try:
        with uncollected():
            return allocation_of(document)
    except InputError as failure:
        raise AllocationError.from_faults(failure.faults, str(path)) from None


def allocation_of(document: Mapping[str, Any]) -> Allocation:
    """The allocation of a parsed file."""
    stated = AllocationDocument(**document)
    faults: list[Fault] = []
    results = [
        _part(AttributeResults, f"attributes[{i}]", item, faults) for i, item in enumerate(stated.attributes)
    ]
    moments = [_part(MomentResults, f"moments[{i}]", item, faults) for i, item in enumerate(stated.moments)]
    outcome = _part(OutcomeResults, "objective", stated.objective, faults)
    privacy = _part(Privacy, "privacy", stated.privacy, faults)
    clusters = [
        _part(ClusterResults, f"clusters[{i}]", item, faults) for i, item in enumerate(stated.clusters)
    ]
    if faults or outcome is None or privacy is None:
        raise AllocationError.from_faults(faults)
    attributes = [part for part in results if part is not None]
    question = _question(stated, outcome, privacy, [part for part in clusters if part is not None])
    if len(question.moments) < len(moments):
        raise AllocationError.from_faults([_repetition(stated.moments)])
    parts = _parts_of(question, attributes, [part for part in clusters if part is not None])
    samplers = [
        _sampler(where, block, part, faults)
        for block, (where, part) in zip(question.blocks, parts, strict=True)
    ]
    if faults:
        raise AllocationError.from_faults(faults)
    made = assemble(
        question,
        np.array([part.epsilon for _, part in parts]),
        samplers,
        Statement(outcome.bound, outcome.gap_tolerance, outcome.solver, outcome.seconds),
        stated.problem_sha256,
    )
    prices = [part.shadow_price for _, part in parts]
    allocation = _with_texts(made, stated, outcome, prices, [part for part in moments if part is not None])
    faults += differences(document, document_of(allocation)) or overstated(document, allocation)
    if faults:
        raise AllocationError.from_faults(faults)
    return allocation


def _parts_of(
    question: Problem, attributes: Sequence[AttributeResults], clusters: Sequence[ClusterResults]
) -> list[tuple[str, AttributeResults | ClusterResults]]:
    """What a file states of every block of its problem, and where."""
    stated: dict[tuple[str, ...], tuple[str, AttributeResults | ClusterResults]] = {
        (name,): (f"attributes[{i}]", part)
        for i, (name, part) in enumerate(zip(question.names, attributes, strict=True))
    }
    stated |= {part.members: (f"clusters[{i}]", part) for i, part in enumerate(clusters)}
    return [stated[block.names] for block in question.blocks]


def _part(kind: type[P], where: str, item: Mapping[str, Any], faults: list[Fault]) -> P | None:
    """The results in an object that also holds a declaration."""
    fields = kind.model_fields
    own = {name: value for name, value in item.items() if name in fields}
    try:
        return kind(**own)
    except InputError as failure:
        faults += below(where, failure.faults)
        return None


def _sampler(
    where: str, block: Block, part: AttributeResults | ClusterResults, faults: list[Fault]
) -> AnySampler | None:
    """The sampler that the stated width must have; its integers are compared with the file afterwards."""
    stated = (
        None if part.sampler is None else _part(SamplerIntegers, f"{where}.sampler", part.sampler, faults)
    )
    if block.source is not None:
        return (
            None
            if stated is None
            else _matrix_sampler(f"{where}.sampler", block, part.epsilon, stated, faults)
        )
    bits = None if stated is None else stated.bits
    return any_sampler_as_stated(part.epsilon, block.cardinality, block.background_weights, bits)


def _matrix_sampler(
    where: str, block: Block, epsilon: float, stated: SamplerIntegers, faults: list[Fault]
) -> MatrixSampler | None:
    """The stated rows, which are taken as they are where they lose no more than epsilon.

    The loss and the changed cells that the file states are compared with theirs; whether others would change
    fewer is for `verify` to say, as a solver may have found them.
    """
    rows = tuple(tuple(map(int, row)) for row in stated.rows or ())
    if len(rows) != block.cardinality:
        limit = f"must be {block.cardinality}, one for each category of an attribute with a source"
        faults.append(Fault(f"{where}.rows", len(rows), limit, "The file was changed."))
        return None
    try:
        sampler = MatrixSampler(stated.bits, rows)
    except ValueError as why:
        faults.append(
            Fault(f"{where}.rows", f"{len(rows)} rows", f"are no matrix: {why}", "The file was changed.")
        )
        return None
    if exact(sampler.loss) > exact(epsilon):
        limit = f"must lose at most epsilon, {epsilon!r}"
        faults.append(Fault(f"{where}.rows", sampler.loss, limit, "The file was changed."))
        return None
    return sampler


def _question(
    stated: AllocationDocument, outcome: OutcomeResults, privacy: Privacy, clusters: Sequence[ClusterResults]
) -> Problem:
    """The problem as far as an allocation states it: without pins, bounds and thus without their faults."""
    return Problem(
        name=stated.name,
        total_epsilon=stated.total_epsilon,
        total_delta=stated.total_delta,
        objective=outcome.kind,
        attributes=[_declaration(item) for item in stated.attributes],
        moments=[_without(item, MomentResults) for item in stated.moments],
        groups=stated.groups,
        public=stated.public,
        dropped=stated.dropped,
        row_order=stated.row_order,
        unit=Unit(of=privacy.unit, id=privacy.id, max_rows=privacy.max_rows),
        waves=privacy.waves,
        provenance=stated.provenance,
        survey=stated.survey,
        clusters=[part.members for part in clusters],
    )


def _declaration(item: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration of an attribute; with a source its epsilon is the pin that chose the matrix."""
    declared = _without(item, AttributeResults)
    if declared.get("source") is None:
        return declared
    return {**declared, "epsilon": item["epsilon"]}


def _repetition(moments: Sequence[Mapping[str, Any]]) -> Fault:
    sets = [frozenset(moment["attributes"]) for moment in moments]
    twice = next(i for i, names in enumerate(sets) if names in sets[:i])
    return Fault(f"moments[{twice}]", moments[twice]["attributes"], "is stated already", "Remove one.")


def _without(item: Mapping[str, Any], results: type[Part]) -> dict[str, Any]:
    fields = results.model_fields
    return {name: value for name, value in item.items() if name not in fields}


def _with_texts(
    made: Allocation,
    stated: AllocationDocument,
    outcome: OutcomeResults,
    prices: Sequence[float | None],
    moments: Sequence[MomentResults],
) -> Allocation:
    """The allocation with what a file states and nobody can recompute from it."""
    return replace(
        made,
        is_stated=True,
        blocks=tuple(
            replace(block, shadow_price=price) for block, price in zip(made.blocks, prices, strict=True)
        ),
        moments=tuple(
            replace(moment, floor_price=part.floor_price, ceiling_price=part.ceiling_price)
            for moment, part in zip(made.moments, moments, strict=True)
        ),
        objective=replace(made.objective, certificate_sha256=outcome.certificate_sha256),
        created=stated.created,
        software=stated.software,
        sensitivity=dict(stated.sensitivity),
    )
