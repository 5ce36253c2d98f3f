"""The maps along the axes of a cluster together: the dense matrix of the joint code, exact in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, along_all, joint_channel, retention_of, touches_twice
from budget_opt.estimators.layout import layout_of

STEPS = [Channel.spread, Channel.corrected, Channel.unbiased, Channel.expected, Channel.squared]


@st.composite
def clustered(draw: st.DrawFn) -> list[Channel]:
    """Two to four exact channels, each alone or in one of two clusters, in any order."""
    retentions = {
        name: draw(st.fractions(Fraction(1, 20), 1, max_denominator=100)) for name in ("one", "other")
    }
    found = []
    for place in range(draw(st.integers(2, 4))):
        r = draw(st.integers(2, 3))
        parts = draw(st.lists(st.integers(1, 9), min_size=r, max_size=r))
        background: Any = np.array([Fraction(part, sum(parts)) for part in parts], dtype=object)
        cluster = draw(st.sampled_from([None, "one", "other"]))
        own = draw(st.fractions(Fraction(1, 20), 1, max_denominator=100))
        kept: Any = own if cluster is None else retentions[cluster]
        found.append(Channel(f"a{place}", kept, background, cluster=cluster))
    return found


def dense(channels: list[Channel]) -> Any:
    """P of the whole record, from the definition: each cluster stays or goes as one; rows by the truth."""
    cells = list(product(*(range(one.cardinality) for one in channels)))
    blocks: dict[object, list[int]] = {}
    for place, one in enumerate(channels):
        blocks.setdefault(place if one.cluster is None else one.cluster, []).append(place)

    def entry(x: tuple[int, ...], y: tuple[int, ...]) -> Fraction:
        chance = Fraction(1)
        for members in blocks.values():
            kept: Any = channels[members[0]].retention
            noise = math.prod((channels[m].background[y[m]] for m in members), start=Fraction(1))
            chance *= kept * all(x[m] == y[m] for m in members) + (1 - kept) * noise
        return chance

    return np.array([[entry(x, y) for y in cells] for x in cells], dtype=object)


def numbers(channels: list[Channel], random: Any) -> Any:
    shape = [one.cardinality for one in channels]
    values = [Fraction(random.randint(0, 50)) for _ in range(math.prod(shape))]
    return np.array(values, dtype=object).reshape(shape)


@settings(max_examples=15)
@given(clustered(), st.randoms(use_true_random=False))
def test_r29_clusters_along_their_axes_are_the_dense_matrix(several: list[Channel], random: Any) -> None:
    """All five maps in fractions, members adjacent or not, and the totals and margins of corrected tables."""
    table, matrix = numbers(several, random), dense(several)
    shape, flat = table.shape, table.reshape(-1)
    assert np.array_equal(along_all(Channel.spread, several, table), (flat @ matrix).reshape(shape))
    assert np.array_equal(along_all(Channel.expected, several, table), (matrix @ flat).reshape(shape))
    corrected = along_all(Channel.corrected, several, table)
    assert np.array_equal(corrected.reshape(-1) @ matrix, flat)
    assert corrected.sum() == table.sum()
    unbiased = along_all(Channel.unbiased, several, table)
    assert np.array_equal(matrix @ unbiased.reshape(-1), flat)
    identity = np.array([[Fraction(int(i == j)) for j in range(flat.size)] for i in range(flat.size)])
    inverse = along_all(Channel.unbiased, several, identity.reshape(*shape, -1)).reshape(flat.size, -1)
    squared = along_all(Channel.squared, several, table)
    assert np.array_equal(squared.reshape(-1), (inverse**2).T @ flat)
    # what is left after a margin is a part of each cluster, with the cluster's retention
    margin = along_all(Channel.corrected, several[1:], table.sum(axis=0))
    assert np.array_equal(corrected.sum(axis=0), margin)


@settings(max_examples=20)
@given(clustered(), st.randoms(use_true_random=False))
def test_a_layout_joins_the_axes_of_a_cluster_and_takes_them_apart(
    several: list[Channel], random: Any
) -> None:
    layout, table = layout_of(several), numbers(several, random)
    joined = layout.joined(table)
    assert joined.shape == tuple(one.cardinality for one in layout.blocks)
    assert np.array_equal(layout.apart(joined), table)
    stacked = np.stack([table, 2 * table], axis=-1)
    assert np.array_equal(layout.apart(layout.joined(stacked)), stacked)
    by_blocks = along_all(Channel.corrected, layout.blocks, joined)
    assert np.array_equal(layout.apart(by_blocks), along_all(Channel.corrected, several, table))


def test_a_cluster_counts_once_and_its_members_have_one_retention() -> None:
    half = np.full(2, 0.5)
    members = [Channel(name, 0.5, half, cluster="a + b") for name in "ab"]
    outsider = Channel("c", 0.25, half)
    assert touches_twice([*members, outsider])
    assert not touches_twice([members[0], outsider])
    assert retention_of([members[0], outsider, members[1]]) == 0.125
    assert joint_channel(members).name == "a + b"
    with pytest.raises(InputError, match="one retention"):
        joint_channel([members[0], Channel("b", 0.6, half, cluster="a + b")])
