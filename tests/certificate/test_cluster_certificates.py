"""Certificates of problems with clusters, in memory and in files, evaluated again from the document alone."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import budget_opt as bo
from budget_opt.certificate import certify
from budget_opt.certificate.document import read_certificate
from budget_opt.errors import CertificateError
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, FloatArray, Objective
from tests.solvers.cluster_problems import CLUSTERS, Reading, survey

MOST = 40.0
"""Nats; far above every total here."""


Clusters = tuple[tuple[str, ...], ...]
Solve = Callable[[Objective, Clusters], tuple[bo.Allocation, Path]]


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Solve:
    """The survey's allocation and certificate, each solved once; the files are not to be written to."""
    folder = tmp_path_factory.mktemp("certificates")

    @cache
    def solve(objective: Objective, clusters: Clusters) -> tuple[bo.Allocation, Path]:
        path = folder / f"{objective} {' '.join(map('-'.join, clusters))}.zip"
        return bo.solve(survey(objective, clusters), certificate=path), path

    return solve


def _unpacked(path: Path) -> tuple[dict[str, object], dict[str, FloatArray]]:
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("certificate.json"))
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    return header, arrays


def _highest(function: Callable[[float], float], most: float) -> float:
    """The largest value over 0 < e <= most, by a fine grid and a search around its best point."""
    grid = np.concatenate([np.geomspace(1e-9, most, 4000), np.linspace(1e-3, most, 4000)])
    grid.sort()
    values = np.array([function(e) for e in grid])
    best = int(np.argmax(values))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(lambda e: -function(e), bounds=ends, method="bounded", options={"xatol": 1e-12})
    return max(float(values[best]), -float(found.fun))


def _bound_of(reading: Reading, numbers: dict[str, FloatArray]) -> float:
    """What the multipliers prove, by weak duality, block by block (DESIGN 2.5); a cluster is one block.

    For `min_variance` log sum exp(t) >= sum q (t - log q) with the shares q at the stated point (Gibbs).
    """
    moments, blocks = reading.document["moments"], range(len(reading.blocks))
    kind = reading.document.get("objective", "weighted_sum")
    weights = np.array([moment.get("weight", 1.0) for moment in moments])
    floors, shares = numbers["multipliers/floors"], numbers["multipliers/moments"]
    price = float(numbers["multipliers/budgets"][0])
    constant = price * reading.document["total_epsilon"]
    constant -= sum(y * math.log(moment["floor"]) for y, moment in zip(floors, moments, strict=True) if y > 0)
    pull, spread = floors.copy(), np.zeros(len(moments))
    if kind == "geometric_mean":
        pull += weights / weights.sum()
    elif kind == "max_min":
        pull += shares
        constant -= sum(
            s * math.log(moment.get("target", 1.0)) for s, moment in zip(shares, moments, strict=True)
        )
    elif kind == "min_variance":
        point = numbers["multipliers/point"]
        scale = [
            math.log(w * moment.get("variance", 1.0)) for w, moment in zip(weights, moments, strict=True)
        ]
        logs = [
            known + math.log(reading.inflation(moment, point))
            for known, moment in zip(scale, moments, strict=True)
        ]
        spread = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
        constant -= float(spread @ (np.array(scale) - np.log(spread)))
    touched = [reading.touched(moment) for moment in moments]
    powers = {
        (k, i): reading.powers_of_tau(i, names) for k, own in enumerate(touched) for i, names in own.items()
    }
    cost = price + (1.0 if kind == "min_epsilon" else 0.0)

    def of_block(i: int) -> float:
        inside = [k for k, own in enumerate(touched) if i in own]

        def gained(e: float) -> float:
            lam = reading.kept(i, e)
            tau = 1 / lam - 1
            lost = sum(
                spread[k] * math.log1p(powers[k, i][0] * tau + powers[k, i][1] * tau**2) for k in inside
            )
            return float(sum(pull[k] for k in inside) * math.log(lam) - lost - cost * e)

        return _highest(gained, MOST if kind == "min_epsilon" else reading.document["total_epsilon"])

    found = constant + sum(of_block(i) for i in blocks)
    if kind == "min_epsilon":
        return -found
    return math.exp(-found if kind == "min_variance" else found)


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_the_file_s_multipliers_prove_its_bound_without_the_package(
    objective: Objective, clusters: Clusters, solved: Solve
) -> None:
    allocation, path = solved(objective, clusters)
    header, numbers = _unpacked(path)
    assert header["epsilon"] == [block.epsilon for block in allocation.blocks]
    proved = _bound_of(Reading({**header["problem"], "objective": objective}), numbers)  # type: ignore[dict-item]
    stated, sign = header["bound"], -1.0 if objective in MINIMIZED else 1.0
    assert isinstance(stated, float)
    # the package linearizes what is left convex here, so that its own bound is no better
    assert sign * stated >= sign * proved * (1 - sign * 1e-9)
    assert stated == pytest.approx(proved, rel=1e-5)
    assert allocation.objective.bound == stated


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_verify_evaluates_the_file_again(
    objective: Objective, clusters: Clusters, solved: Solve, tmp_path: Path
) -> None:
    problem = survey(objective, clusters)
    allocation, path = solved(objective, clusters)
    allocation.write(tmp_path / "allocation.json")
    read = bo.Allocation.read(tmp_path / "allocation.json")
    report = bo.verify(read, problem=problem, certificate=path)
    report.require()
    document, _ = read_certificate(path)
    assert document.problem == problem
    assert document.epsilon.tolist() == [block.epsilon for block in allocation.blocks]


def test_a_weighted_sum_s_tree_excludes_no_split_of_a_grid(solved: Solve) -> None:
    problem = survey("weighted_sum", CLUSTERS["two pairs"])
    _, path = solved("weighted_sum", CLUSTERS["two pairs"])
    reading, bound = Reading.of(problem), read_certificate(path)[0].bound
    assert bound is not None
    assert max(reading.value(split) for split in reading.splits(0.1, 40)) <= bound


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_split_alone_proves_a_bound_of_its_own(objective: Objective, solved: Solve) -> None:
    problem = survey(objective)
    allocation, _ = solved(objective, CLUSTERS["a pair"])
    found = certify(problem.arrays, allocation.epsilons)
    assert found.value == pytest.approx(Reading.of(problem).value(allocation.epsilons), rel=1e-9)
    # that of a weighted sum is the bound of one box
    assert found.relative_gap <= (0.05 if objective == "weighted_sum" else 1e-6)


def test_the_certificate_of_other_clusters_is_no_proof(solved: Solve, tmp_path: Path) -> None:
    problem = survey("geometric_mean", CLUSTERS["a pair"])
    allocation, _ = solved("geometric_mean", CLUSTERS["a pair"])
    other = problem.with_clusters([["age", "sex"]])
    bo.solve(other, certificate=tmp_path / "other.zip")
    report = bo.verify(allocation, problem=problem, certificate=tmp_path / "other.zip")
    assert not report.holds
    assert any("of the allocation's problem" in check.claim for check in report.failed)


def test_a_file_with_an_epsilon_for_every_member_is_refused(solved: Solve, tmp_path: Path) -> None:
    header, arrays = _unpacked(solved("geometric_mean", CLUSTERS["a pair"])[1])
    path = tmp_path / "certificate.zip"
    epsilons = header["epsilon"]
    assert isinstance(epsilons, list)
    header["epsilon"] = [epsilons[0], *epsilons]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("certificate.json", json.dumps(header))
        for name, values in arrays.items():
            stream = io.BytesIO()
            np.save(stream, values)
            archive.writestr(f"{name}.npy", stream.getvalue())
    with pytest.raises(
        CertificateError, match="epsilon has 4 numbers, the problem 3 attributes and clusters"
    ):
        read_certificate(path)


def test_a_file_whose_clusters_are_still_to_be_chosen_is_refused(solved: Solve, tmp_path: Path) -> None:
    header, _ = _unpacked(solved("geometric_mean", CLUSTERS["a pair"])[1])
    path = tmp_path / "certificate.zip"
    stated = header["problem"]
    assert isinstance(stated, dict)
    stated["clusters"] = "auto"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("certificate.json", json.dumps(header))
    with pytest.raises(CertificateError, match="problem has 1 fault:\n  clusters: 'auto' is a choice"):
        read_certificate(path)
