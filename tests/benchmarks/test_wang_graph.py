"""Corrected degrees and triangles of a graph whose pairs were randomized (benchmarks/wang_graph.py)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import networkx
import numpy as np
import pytest

from benchmarks.wang_graph import (
    Adjacency,
    Motifs,
    motifs,
    read_graph,
    released,
    standard_errors,
    variances,
)
from benchmarks.wang_graph_rows import edge_retention, rows

KEPT = 0.37


def small_graph() -> Adjacency:
    adjacency = np.zeros((5, 5), dtype=np.float32)
    for i, j in [(0, 1), (0, 2), (1, 2), (2, 3), (1, 3)]:
        adjacency[i, j] = adjacency[j, i] = 1.0
    return adjacency


def all_releases(adjacency: Adjacency) -> Iterator[tuple[float, Motifs]]:
    """The corrected counts of every possible release, with its probability."""
    n = adjacency.shape[0]
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    for changes in itertools.product([False, True], repeat=len(pairs)):
        i, j = pairs[list(changes)].T
        reported = adjacency.copy()
        reported[i, j] = reported[j, i] = 1.0 - reported[i, j]
        changed = sum(changes)
        probability = ((1 - KEPT) / 2) ** changed * ((1 + KEPT) / 2) ** (len(pairs) - changed)
        yield probability, motifs(reported, KEPT)


def test_counts_and_their_variances_are_exactly_unbiased_over_all_releases() -> None:
    """2^10 releases of a graph of five nodes; the formulas hold to the last digits."""
    true = motifs(small_graph())
    exact = variances(true, KEPT)
    chances, found = zip(*all_releases(small_graph()), strict=True)
    chance = np.array(chances)
    assert chance.sum() == pytest.approx(1.0)

    def mean(values: list[object]) -> object:
        return np.tensordot(chance, np.array(values, dtype=np.float64), axes=1)

    for name in ("degrees", "triangles", "paths", "neighbours"):
        assert mean([getattr(one, name) for one in found]) == pytest.approx(getattr(true, name), abs=1e-9)
    assert mean([(one.degrees - true.degrees) ** 2 for one in found]) == pytest.approx(
        np.full(5, exact.degree)
    )
    assert mean([(one.triangles - true.triangles) ** 2 for one in found]) == pytest.approx(exact.triangles)
    assert mean([(one.total - true.total) ** 2 for one in found]) == pytest.approx(exact.total)
    stated = [variances(one, KEPT) for one in found]
    assert mean([one.triangles for one in stated]) == pytest.approx(exact.triangles)
    assert mean([one.total for one in stated]) == pytest.approx(exact.total)


def test_networkx_counts_the_same_degrees_triangles_and_common_neighbours() -> None:
    graph = networkx.gnp_random_graph(600, 0.05, seed=4)  # more nodes than one block has rows
    found = motifs(networkx.to_numpy_array(graph, dtype=np.float32))
    assert found.degrees.tolist() == [degree for _, degree in sorted(graph.degree())]
    assert found.triangles.tolist() == list(networkx.triangles(graph).values())
    shared = [len(list(networkx.common_neighbors(graph, 3, j))) for j in range(600) if j != 3]
    assert found.paths[3] == sum(c * c for c in shared)


def test_a_release_changes_pairs_in_both_directions_alike_and_no_node_with_itself() -> None:
    adjacency = np.zeros((700, 700), dtype=np.float32)
    reported = released(adjacency, 0.5, np.random.default_rng(5))
    assert np.array_equal(reported, reported.T)
    assert not np.diag(reported).any()
    pairs = 700 * 699 / 2
    assert abs(reported.sum() / 2 - pairs / 4) < 6 * np.sqrt(pairs * 3 / 16)


def test_the_laplace_edge_keeps_less_than_randomized_response() -> None:
    for epsilon in (0.1, 1.0, 4.0):
        assert edge_retention("LM", epsilon) == pytest.approx(1 - np.exp(-epsilon / 2), rel=1e-12)
        assert edge_retention("RR", epsilon) == pytest.approx(np.tanh(epsilon / 2), rel=1e-6)
        assert edge_retention("LM", epsilon) < edge_retention("RR", epsilon)


@pytest.mark.slow
def test_the_graph_is_that_of_the_truth_file(shared_data: Path) -> None:
    truth = json.loads((shared_data / "facebook_ego.truth.json").read_text())
    adjacency = read_graph(shared_data)
    assert adjacency.sum(axis=1).tolist() == truth["degree_sequence"]
    assert motifs(adjacency).total == truth["triangles"]


@pytest.mark.slow
def test_intervals_of_degrees_and_triangles_cover_and_errors_are_those_of_the_formulas(
    shared_data: Path,
) -> None:
    """The first 300 nodes, 4,000 releases each: a nominal 95 % within 94 to 96.

    With 100 nodes the noise of three edges is not yet normal: 96.4 % at epsilon 0.5.
    """
    for row in rows(read_graph(shared_data, 300), [0.5, 2.0], 4_000, ["RR"]):
        assert 0.94 < row.covered < 0.96, row
        assert row.corrected < row.exact < 1.5 * row.corrected


@pytest.mark.slow
def test_corrected_counts_of_the_whole_graph_are_near_the_truth_file_in_units_of_their_errors(
    shared_data: Path,
) -> None:
    adjacency = read_graph(shared_data)
    true, kept = motifs(adjacency), edge_retention("RR", 1.0)
    found = motifs(released(adjacency, kept, np.random.default_rng(6)), kept)
    _, each, total = standard_errors(found, kept)
    assert abs(found.total - true.total) < 6 * total
    scaled = (found.triangles - true.triangles) / each
    assert abs(scaled.std() - 1) < 0.1
    exact = variances(true, kept)
    assert np.median(each**2 / exact.triangles) == pytest.approx(1.0, abs=0.03)
