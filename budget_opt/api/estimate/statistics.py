"""Entropy, mutual information, chi-square, G^2, Cramer's V and tests of independence of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release

if TYPE_CHECKING:
    from budget_opt.estimators.releases.released import Released
    from budget_opt.estimators.statistics.associations import Associations
    from budget_opt.estimators.statistics.independence import IndependenceTest
    from budget_opt.estimators.statistics.results import StatisticEstimate


def entropy(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    unit: Literal["nats", "bits"] = "nats",
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """The joint entropy of the original attributes, from 0 to the log of the number of their combinations.

    Of a `grouping` it is of the merged categories, as a note says.
    `released` is a table, a path, or `Counts`. `target` says what the error is measured from: the
    `population`, or `data`, the value in the original table. `weight` is the public column of survey
    weights, None for that of the allocation and False for none. The first-order bias of noise and sampling
    is taken out; the interval holds near the uniform table too, where the delta method fails
    (`estimators.statistics.divergence`; Wang 2016, result 5, for the error). Raises `InputError`,
    `DataError`, and `NoiseError` where the standard error, or it with the bias that cells near 0 may leave,
    is above `noise_limit` times the largest value, or rows are fewer than 4 / `noise_limit` a cell near 0.
    """
    from budget_opt.estimators.statistics.estimating import entropy_estimate

    opened = _opened(released, allocation, attributes, weight)
    counts, channels = opened.counts(*attributes), opened.channels_of(*attributes)
    return entropy_estimate(counts, channels, target, unit=unit, noise_limit=noise_limit)


def mutual_information(
    released: Any,
    allocation: Allocation,
    *pair: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    unit: Literal["nats", "bits"] = "nats",
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """The mutual information of two original attributes, 0 where they are independent; else as `entropy`."""
    from budget_opt.estimators.statistics.estimating import pair_estimate

    opened = _opened(released, allocation, pair, weight, 2)
    counts, channels = opened.counts(*pair), opened.channels_of(*pair)
    return pair_estimate("mutual information", counts, channels, target, unit=unit, noise_limit=noise_limit)


def chi_square(
    released: Any,
    allocation: Allocation,
    *pair: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """Pearson's chi-square of two original attributes: with target `data` that of the original table.

    With target `population` it is n times the population's phi^2, without what sampling adds; n is the rows,
    or with survey weights Kish's effective number. It is an estimate with an error, and is not to be compared
    with chi-square quantiles: that is `independence_test`. Else as `entropy`.
    """
    return _pair("chi-square", _opened(released, allocation, pair, weight, 2), pair, target, noise_limit)


def g_square(
    released: Any,
    allocation: Allocation,
    *pair: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """The likelihood ratio G^2 = 2 n times the mutual information in nats; else as `chi_square`."""
    return _pair("G^2", _opened(released, allocation, pair, weight, 2), pair, target, noise_limit)


def phi_square(
    released: Any,
    allocation: Allocation,
    *pair: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """phi^2 = chi-square / n of two original attributes, from 0 to min(r_a, r_b) - 1; else as `entropy`."""
    return _pair("phi^2", _opened(released, allocation, pair, weight, 2), pair, target, noise_limit)


def cramers_v(
    released: Any,
    allocation: Allocation,
    *pair: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> StatisticEstimate:
    """Cramer's V of two original attributes, the root of phi^2 / (min(r_a, r_b) - 1), in 0 .. 1.

    r counts the categories of a report. Else as `entropy`.
    """
    return _pair("Cramer's V", _opened(released, allocation, pair, weight, 2), pair, target, noise_limit)


def associations(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> Associations:
    """Cramer's V of all pairs of these attributes, as a matrix with errors; the release is read once.

    Without names all released attributes with a retention take part.
    Pairs that would be noise are withheld, with a
    note; `NoiseError` where all would be. Else as `entropy`.
    """
    from budget_opt.estimators.statistics.associations import associations_of

    require_release(released, allocation, attributes)
    names = attributes or tuple(one.name for one in allocation.attributes if one.is_correctable)
    opened = _opened(released, allocation, names, weight)
    return associations_of(opened, names, target, noise_limit)


def independence_test(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    method: Literal["released", "likelihood", "corrected", "permutation"] | None = None,
    weight: str | Literal[False] | None = None,
    permutations: int = 9_999,
    seed: int = 0,
) -> IndependenceTest:
    """Are the original attributes independent of each other in the population? Two attributes, or several.

    Merged categories may be independent where the declared ones are not; a note names them.
    `released` (Pearson) and `likelihood` (G^2) test the released table, which is independent if and only if
    the originals are; `corrected` tests the corrected table against the weighted chi-squares of its null;
    `permutation` needs no large counts and draws `permutations` tables with the margins of the released one,
    the same for the same `seed`. One of two attributes may be a public column: a test of homogeneity. Members
    of one cluster are reported together, so that their released table is dependent without the originals:
    they need `corrected`, which is then the default; else it is `released`. With survey weights the null is
    that of Rao and Scott. `permutations` is 1 to 1,000,000, `seed` 0 or more. Raises `InputError`,
    `DataError`.
    """
    from budget_opt.estimators.statistics import independence

    opened = _opened(released, allocation, attributes, weight)
    counts, channels = opened.counts(*attributes), opened.channels_of(*attributes)
    return independence.independence_test(counts, channels, method, permutations=permutations, seed=seed)


def _opened(
    released: Any,
    allocation: Allocation,
    names: tuple[str, ...],
    weight: str | Literal[False] | None,
    exactly: int | None = None,
) -> Released:
    from budget_opt.errors import InputError
    from budget_opt.estimators.releases.released import open_released

    require_release(released, allocation, names)
    if not names or (exactly is not None and len(names) != exactly):
        needed = "one or more" if exactly is None else "two"
        raise InputError(f"attributes: {len(names)} are named, {needed} must be. Give them one by one.")
    return open_released(released, allocation, names, weight)


def _pair(
    statistic: str,
    opened: Released,
    pair: tuple[str, ...],
    target: Literal["population", "data"],
    noise_limit: float,
) -> StatisticEstimate:
    from budget_opt.estimators.statistics.estimating import pair_estimate

    counts, channels = opened.counts(*pair), opened.channels_of(*pair)
    return pair_estimate(statistic, counts, channels, target, noise_limit=noise_limit)
