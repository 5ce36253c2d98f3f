"""What an allocation file states of its attributes and clusters, as far as the guarantee rests on it.

An attribute alone states its own epsilon and sampler. A cluster states one for all its members, each of which
names the cluster, repeats its epsilon and loss, and has no sampler of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from budget_opt.errors import MISSING
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler, any_sampler_as_stated
from budget_opt.model import values
from budget_opt.model.backgrounds.background import Weights
from budget_opt.model.clusters.block import joint_weights
from budget_opt.model.sources.known_source import known_source
from budget_opt.model.values import UnfitError
from budget_opt.randomizer.local.declared import DeclaredTerms, declared_in
from budget_opt.randomizer.local.stated import Stated, members, stated_matrix, unless_none, width
from budget_opt.randomizer.local.terms import AttributeTerms, BlockTerms

RESULT_FIELDS = frozenset(
    {"name", "background", "cardinality", "epsilon", "loss", "retention", "sampler", "shadow_price"}
    | {"truth_probability", "other_probability"}
)
MEMBER_FIELDS = frozenset(["cluster"])
"""Fields of an attribute that are there only where it is a member of a cluster."""
SOURCE_FIELDS = frozenset(["source", "distortion", "effect"])
"""Fields of an attribute that are there only where a known source chose its matrix."""
CLUSTER_FIELDS = RESULT_FIELDS | {"members"}
_UNIFORM, _PRODUCT = "uniform", "product"
"""What a cluster states as its background: that of its members, each on its own."""


@dataclass(frozen=True)
class StatedAttribute:
    """An attribute that was understood, and the object that states it.

    `bits` of None is no sampler; `cluster` is the name of the one that it is a member of, None if alone.
    `matrix` is that of an attribute with a source (`has_source`), which is taken as stated.
    """

    stated: Stated
    terms: AttributeTerms
    background: Weights | None
    epsilon: float
    bits: int | None
    cluster: str | None
    has_source: bool = False
    matrix: MatrixSampler | None = None


def stated_attribute(stated: Stated) -> StatedAttribute | None:
    """The attribute of an object of the list; None where something is wrong with it."""
    name = stated.take("name", values.name)
    declared = declared_in(stated)
    epsilon = stated.take("epsilon", values.budget)
    source = stated.take("source", unless_none(known_source))
    matrix = None
    if source is None:
        bits = stated.take("sampler", unless_none(width))
    else:
        matrix = stated.take("sampler", unless_none(stated_matrix))
        bits = None if matrix is None else matrix.bits
    cluster = stated.take("cluster", values.name)
    if not stated.sound or name is None or declared is None or epsilon is None:
        return None
    terms = AttributeTerms(name, declared.domain)
    if source is not None:
        return _with_source(
            stated, declared, StatedAttribute(stated, terms, None, epsilon, bits, cluster, True, matrix)
        )
    return StatedAttribute(stated, terms, declared.background, epsilon, bits, cluster)


def _with_source(stated: Stated, declared: DeclaredTerms, one: StatedAttribute) -> StatedAttribute | None:
    """An attribute whose matrix is stated whole: one for its categories, which loses at most its epsilon."""
    matrix = one.matrix
    if declared.background is not None:
        stated.tell(
            "background", MISSING, UnfitError("must be uniform beside a source", "The file is damaged")
        )
    if matrix is not None and matrix.cardinality != declared.domain.cardinality:
        limit = f"must have {declared.domain.cardinality} rows, one a category"
        stated.tell("sampler", matrix.cardinality, UnfitError(limit, "The file is damaged"))
    if matrix is not None and exact(matrix.loss) > exact(one.epsilon):
        limit = f"must lose at most epsilon, {one.epsilon!r}"
        stated.tell("sampler", matrix.loss, UnfitError(limit, "The file is damaged"))
    return one if stated.sound else None


def stated_blocks(
    attributes: Sequence[StatedAttribute], clusters: Sequence[Stated]
) -> tuple[BlockTerms, ...]:
    """What is randomized as one, in the order of its first attribute.

    Where a cluster is faulty, which it is told, there are none: its members would be told what they are not.
    """
    known = {attribute.terms.name: attribute for attribute in attributes}
    cluster_of: dict[str, BlockTerms] = {}
    for stated in clusters:
        block = _cluster(stated, known)
        if block is None:
            return ()
        if not cluster_of.keys().isdisjoint(block.names):
            stated.tell("members", block.names, UnfitError("must be in one cluster", "Take out a member"))
            return ()
        cluster_of |= dict.fromkeys(block.names, block)
    return tuple(
        cluster_of.get(name) or _alone(attribute)
        for name, attribute in known.items()
        if name not in cluster_of or name == _first(known, cluster_of[name])
    )


def _first(known: Iterable[str], block: BlockTerms) -> str:
    """The member that stands before the others in the file."""
    return next(name for name in known if name in block.names)


def _alone(attribute: StatedAttribute) -> BlockTerms:
    """One attribute with the sampler that its epsilon and the stated width must have."""
    block = _block((attribute,), attribute.epsilon, attribute.bits)
    if attribute.cluster is None:
        attribute.stated.compare(_results(block))
    else:
        why = UnfitError("must be the name of a cluster that lists the attribute", "State it under clusters")
        attribute.stated.tell("cluster", attribute.cluster, why)
    return block


def _cluster(stated: Stated, known: Mapping[str, StatedAttribute]) -> BlockTerms | None:
    """A cluster, compared with what its members state; None where something is wrong with it."""
    chosen = stated.take("members", members(known, least=2))
    epsilon = stated.take("epsilon", values.budget)
    bits = stated.take("sampler", unless_none(width))
    if not stated.sound or chosen is None or epsilon is None:
        return None
    inside = tuple(known[name] for name in chosen)
    if math.prod(one.terms.domain.cardinality for one in inside) > values.LARGEST_CARDINALITY:
        why = UnfitError(f"must have at most {values.LARGEST_CARDINALITY:,} joint categories", "Take one out")
        stated.tell("members", chosen, why)
        return None
    block = _block(inside, epsilon, bits)
    results = _results(block)
    background = _UNIFORM if block.background is None else _PRODUCT
    stated.compare({**results, "name": block.name, "background": background})
    for one in inside:
        own = {"cardinality": one.terms.domain.cardinality, "sampler": None}
        one.stated.compare({**results, **own, "epsilon": epsilon, "cluster": block.name})
    return block


def _block(inside: Sequence[StatedAttribute], epsilon: float, bits: int | None) -> BlockTerms:
    """These attributes randomized as one, with the sampler that the stated width must have."""
    shape = [one.terms.domain.cardinality for one in inside]
    background = joint_weights([one.background for one in inside], shape)
    matrices = [one.matrix for one in inside if one.matrix is not None]
    if matrices and len(inside) > 1:
        inside[0].stated.tell(
            "source", MISSING, UnfitError("has no place in a cluster", "The file is damaged")
        )
    sampler: AnySampler | None = matrices[0] if matrices else None
    if not any(one.has_source for one in inside):
        sampler = any_sampler_as_stated(epsilon, math.prod(shape), background, bits)
    return BlockTerms(tuple(one.terms for one in inside), epsilon, sampler, background)


def _results(block: BlockTerms) -> dict[str, Any]:
    """What the file must state of a block, as far as the guarantee rests on it."""
    sampler = block.sampler
    integers: dict[str, Any] | None = None
    if isinstance(sampler, Sampler):
        integers = {"bits": sampler.bits, "q": str(sampler.q)}
    elif isinstance(sampler, MatrixSampler):
        integers = {"bits": sampler.bits, "rows": [[str(count) for count in row] for row in sampler.counts]}
    elif sampler is not None:
        integers = {"bits": sampler.bits, "counts": [str(count) for count in sampler.counts]}
    loss = 0.0 if sampler is None else sampler.loss
    return {"cardinality": block.cardinality, "loss": loss, "sampler": integers}
