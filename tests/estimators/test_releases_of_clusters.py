"""Estimates of whole releases with clusters: through the public functions, from tables and from counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.errors import DataError, InputError
from budget_opt.estimators.channels import channel_of
from budget_opt.estimators.releases.released import randomized_as

NAMES = ("smoker", "income", "region")
LABELS = {"smoker": ["no", "yes"], "income": ["low", "mid", "high"], "region": ["n", "s"]}
LAW = np.array([[[0.2, 0.1], [0.15, 0.05], [0.02, 0.08]], [[0.02, 0.03], [0.03, 0.07], [0.15, 0.1]]])
N = 30_000


def allocation(clusters: list[list[str]], epsilons: dict[str, float] | None = None) -> bo.Allocation:
    problem = bo.Problem(
        attributes=[
            bo.Attribute(name, categories=LABELS[name], scores=range(len(LABELS[name]))) for name in NAMES
        ],
        moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment(*NAMES)],
        clusters=clusters,
        total_epsilon=9.0,
    )
    return bo.allocation_from(problem, epsilons or {"smoker": 3.0, "income": 3.0, "region": 2.5})


def released(made: bo.Allocation, seed: int = 1, n: int = N) -> pd.DataFrame:
    """Drawn here from the definition: a block stays as a whole, or goes to any joint category."""
    rng = np.random.default_rng(seed)
    codes = dict(zip(NAMES, np.unravel_index(rng.choice(LAW.size, n, p=LAW.ravel()), LAW.shape), strict=True))
    for block in made.blocks:
        lost = rng.random(n) >= float(block.exact_retention)
        for one in block.members:
            noise = rng.integers(0, one.cardinality, n)
            codes[one.name] = np.where(lost, noise, codes[one.name])
    return pd.DataFrame({name: np.array(LABELS[name])[codes[name]] for name in NAMES})


CLUSTERED = allocation([["smoker", "income"]])


def test_estimates_of_a_release_with_a_cluster_are_near_the_truth_of_its_population() -> None:
    """Within 5 of their own errors: moments, correlations, group means, Cramer's V, a regression."""
    table = released(CLUSTERED)
    f = [np.arange(r, dtype=float) for r in LAW.shape]
    centred = np.ix_(
        *(scores - (LAW.sum(axis=tuple({0, 1, 2} - {m})) @ scores) for m, scores in enumerate(f))
    )
    third = bo.estimate.moment(table, CLUSTERED, *NAMES)
    assert third.value == pytest.approx(
        float((LAW * centred[0] * centred[1] * centred[2]).sum()), abs=5 * third.standard_error
    )
    pair = LAW.sum(axis=2)
    second = bo.estimate.moment(table, CLUSTERED, "smoker", "income")
    truth = float((pair * centred[0][..., 0] * centred[1][..., 0]).sum())
    assert second.value == pytest.approx(truth, abs=5 * second.standard_error)
    assert second.retention == pytest.approx(CLUSTERED["smoker"].retention)
    assert bo.estimate.covariance(table, CLUSTERED)["smoker", "income"].value == pytest.approx(second.value)
    mean = bo.estimate.group_means(table, CLUSTERED, "income", by="smoker")["yes"]
    assert mean.value == pytest.approx(pair[1] @ f[1] / pair[1].sum(), abs=5 * mean.standard_error)
    slope = bo.estimate.regress(table, CLUSTERED, "income ~ smoker").coefficients[1]
    wanted = pair[1] @ f[1] / pair[1].sum() - pair[0] @ f[1] / pair[0].sum()
    assert slope.value == pytest.approx(wanted, abs=5 * slope.standard_error)
    share = bo.estimate.table(table, CLUSTERED, *NAMES, method="unbiased")
    assert np.all(np.abs(share.shares - LAW) <= 5 * share.standard_errors)
    assert share.epsilon == 5.5  # the cluster's once
    with pytest.raises(InputError, match="Use method="):
        bo.estimate.independence_test(table, CLUSTERED, "smoker", "income", method="released")
    assert bo.estimate.independence_test(table, CLUSTERED, "smoker", "income").p_value < 1e-9


@pytest.mark.parametrize("target", ["population", "data"])
def test_the_bootstrap_of_a_moment_of_members_agrees_with_the_formula(target: str) -> None:
    found = bo.estimate.moment(
        released(CLUSTERED),
        CLUSTERED,
        "smoker",
        "income",
        target=target,
        bootstrap=200,
        rng=np.random.default_rng(2),
    )
    assert found.bootstrap is not None
    assert found.bootstrap.standard_error == pytest.approx(found.standard_error, rel=0.2)


def test_counts_tell_a_cluster_from_its_columns_alone_and_from_another_cluster() -> None:
    """Also where both clusters have the same matrix."""
    alone = allocation([])
    other = allocation([["income", "region"]], {"income": 3.0, "region": 3.0, "smoker": 2.5})
    assert other.block_of("income").sampler == CLUSTERED.block_of("income").sampler
    digests = {randomized_as(made["income"]) for made in (CLUSTERED, alone, other)}
    assert len(digests) == 3
    assert randomized_as(CLUSTERED["region"]) == randomized_as(alone["region"])
    counts = bo.estimate.count(released(CLUSTERED), CLUSTERED, "smoker", "income")
    again = type(counts).from_dict(counts.to_dict())
    assert bo.estimate.moment(again, CLUSTERED, "smoker", "income").value == pytest.approx(
        bo.estimate.moment(released(CLUSTERED), CLUSTERED, "smoker", "income").value
    )
    for made in (alone, other):
        with pytest.raises(InputError, match="another allocation"):
            bo.estimate.moment(counts, made, "smoker", "income")
    with pytest.raises(InputError, match="allocations that differ"):
        counts + bo.estimate.count(released(alone), alone, "smoker", "income")


def test_the_channel_of_a_member_has_the_clusters_integers() -> None:
    member = channel_of(CLUSTERED["income"])
    assert member.retention == float(CLUSTERED.block_of("income").exact_retention)
    assert member.cluster == "smoker + income"
    assert channel_of(CLUSTERED["region"]).cluster is None


def test_a_release_of_a_cluster_is_possible_and_the_originals_themselves_are_not() -> None:
    """A dependence that attributes randomized alone can hardly show is what a cluster leads to."""
    high = allocation([["smoker", "income"]], {"smoker": 4.5, "income": 4.5, "region": 2.5})
    rng = np.random.default_rng(4)
    kept = rng.random(N) < float(high.block_of("smoker").exact_retention)
    smoker, income = (np.where(kept, 1, rng.integers(0, r, N)) for r in (2, 3))
    region = rng.integers(0, 2, N)
    codes = dict(zip(NAMES, (smoker, income, region), strict=True))
    table = pd.DataFrame({name: np.array(LABELS[name])[codes[name]] for name in NAMES})
    assert bo.estimate.moment(table, high, "smoker", "income").n == N
    alone = allocation([], {"smoker": 1.5, "income": 1.5, "region": 2.5})
    with pytest.raises(DataError, match="impossible"):
        bo.estimate.moment(table, alone, "smoker", "income")
    originals = pd.DataFrame({name: [LABELS[name][0]] * N for name in NAMES})
    with pytest.raises(DataError, match="impossible"):
        bo.estimate.moment(originals, high, "smoker", "income")
