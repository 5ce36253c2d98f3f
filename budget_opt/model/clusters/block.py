"""What is randomized as one: an attribute alone, or the members of a cluster together (DESIGN 2.9).

A cluster is one attribute with the product of its members' categories. Its code is row-major over the
members in the order in which the problem lists them, its background the product of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from budget_opt.mechanisms.hamming import Source
from budget_opt.mechanisms.samplers import AnySampler, any_sampler_for
from budget_opt.model.backgrounds.background import Weights
from budget_opt.model.distortion import epsilon_of_retention

if TYPE_CHECKING:
    from budget_opt.model.attribute import Attribute


@dataclass(frozen=True)
class Block:
    """One attribute, or the members of one cluster in the order of the joint code; at least one."""

    members: tuple[Attribute, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the members."""
        return tuple(attribute.name for attribute in self.members)

    @cached_property
    def name(self) -> str:
        """The attribute's name, or those of all members: smoker + income."""
        return cluster_name(self.names)

    @property
    def is_cluster(self) -> bool:
        """True for two members and more."""
        return len(self.members) > 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of every member."""
        return tuple(attribute.cardinality for attribute in self.members)

    @property
    def cardinality(self) -> int:
        """The number of joint categories, the product of those of the members."""
        return math.prod(self.shape)

    @property
    def effective_cardinality(self) -> float:
        """1 / least share of the joint background, which is the product of the members' backgrounds."""
        return math.prod(attribute.effective_cardinality for attribute in self.members)

    @cached_property
    def background_weights(self) -> Weights | None:
        """The background of the joint code times a common factor; None where all members' are uniform."""
        return joint_weights([one.background_weights for one in self.members], self.shape)

    @property
    def source(self) -> Source | None:
        """What is known of the distribution of an attribute whose matrix is chosen by that; else None."""
        return None if self.is_cluster else self.members[0].known_source

    def sampler(self, epsilon: float, least_bits: int = 32) -> AnySampler | None:
        """The sampler of this block at `epsilon` (nats), at least so wide; None where nothing is released."""
        if not self.is_cluster:
            return self.members[0].sampler(epsilon, least_bits)
        return any_sampler_for(epsilon, self.cardinality, self.background_weights, least_bits=least_bits)

    @property
    def is_pinned(self) -> bool:
        """True where a member has a pin, which holds for all."""
        return any(attribute.pin is not None for attribute in self.members)

    @property
    def lower(self) -> float:
        """The least epsilon (nats) that the members allow: a change of any of them costs all of it.

        The largest of their pins, minima, and what `distortion_max` needs: a member's own column has the
        lambda of the whole cluster.
        """
        return max(self.stated_lower, self.lower_of_distortion)

    @property
    def stated_lower(self) -> float:
        """The largest pin or minimum of a member."""
        return max(attribute.lower for attribute in self.members)

    @property
    def least_retention(self) -> Fraction:
        """The least lambda that the `distortion_max` of its members allows, exactly; 0 where none has one."""
        return max(attribute.least_retention for attribute in self.members)

    @property
    def most_distorted(self) -> Attribute | None:
        """The member whose `distortion_max` is behind `lower`, None where a pin or minimum asks as much."""
        if self.lower_of_distortion <= self.stated_lower:
            return None
        return next(one for one in self.members if one.least_retention == self.least_retention)

    @cached_property
    def lower_of_distortion(self) -> float:
        """The least epsilon (nats) at which every member's `distortion_max` is kept; 0 without any."""
        return epsilon_of_retention(self.least_retention, self.effective_cardinality)

    @property
    def upper(self) -> float:
        """The largest epsilon that every member allows; inf where none limits it."""
        return min(attribute.upper for attribute in self.members)

    def spread_of(self, names: Collection[str]) -> tuple[float, float]:
        """(a, b) of DESIGN 2.3 for the product of the centred scores of these members.

        With F = prod (f_t - mu_t), delta_t = mu_t - u_t and independent members, E F = 0, Var F = prod Var_t
        and E_q F = prod (-delta_t). Centred at E_q F its second moment is Var F + prod delta_t^2, and
        E_q F^2 - (E_q F)^2 = prod (s_t + delta_t^2) - prod delta_t^2, while a_t - 1 = delta_t^2 / Var_t.
        """
        spreads = [attribute.spread for attribute in self.members if attribute.name in names]
        if len(spreads) == 1:
            return spreads[0]
        shift = math.prod(a - 1.0 for a, _ in spreads)
        return 1.0 + shift, math.prod(b + (a - 1.0) for a, b in spreads) - shift


def joint_weights(backgrounds: Sequence[Weights | None], shape: Sequence[int]) -> Weights | None:
    """The product of these backgrounds, by joint code; None where all are uniform."""
    if all(weights is None for weights in backgrounds):
        return None
    stated = [weights or (1,) * r for weights, r in zip(backgrounds, shape, strict=True)]
    return tuple(math.prod(combination) for combination in product(*stated))


def cluster_name(names: Iterable[str]) -> str:
    """What a cluster of these members is called; the name itself of one attribute."""
    return " + ".join(names)


def blocks_of(attributes: Sequence[Attribute], clusters: Sequence[Sequence[str]]) -> tuple[Block, ...]:
    """The blocks of a valid problem, in the order of their first members among the attributes."""
    known = {attribute.name: attribute for attribute in attributes}
    cluster_of = {name: tuple(names) for names in clusters for name in names}
    members = dict.fromkeys(cluster_of.get(attribute.name, (attribute.name,)) for attribute in attributes)
    return tuple(Block(tuple(known[name] for name in names)) for names in members)


def block_indices(blocks: Sequence[Block]) -> dict[str, int]:
    """The index of its block, by name of the attribute."""
    return {name: i for i, block in enumerate(blocks) for name in block.names}


def touched(index: dict[str, int], names: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """The blocks that these attributes belong to: index of the block -> the ones of it, as they come."""
    found: dict[int, tuple[str, ...]] = {}
    for name in names:
        found[index[name]] = (*found.get(index[name], ()), name)
    return found
