"""R8, R30: what estimated tables are asked with the wrong arguments, and that nobody can write to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.joint.estimating import TableOptions, estimate_marginals
from budget_opt.estimators.joint.table import TableEstimate
from budget_opt.model.arguments import require_whole
from tests.estimators.joint.test_table import released, table

SHAPE = (2, 4)
ASKED: list[tuple[Callable[[TableEstimate], Any], str]] = [
    (lambda found: found.share({"smoker": [["no"]]}), "a list is no category"),
    (lambda found: found.share({"smoker": {"no": 1}}), "a dict is no category"),
    (lambda found: found.share("smoker"), "share: is a str, must be a dict"),
    (lambda found: found.share({"smoker": "no"}, given="income"), "given: is a str, must be a dict"),
    (lambda found: found.share({3: "no"}), "share: 3 is not an attribute"),
    (lambda found: found.combination("abc"), "coefficients: are of numpy's type <U3"),
    (lambda found: found.combination([["1"] * 4] * 2), "coefficients: are of numpy's type <U1"),
    (lambda found: found.combination([[1, 2], [3]]), "coefficients: are a list that is no table of numbers"),
    (lambda found: found.combination([1, 2]), r"coefficients: their shape is \(2,\), the table's \(2, 4\)"),
    (lambda found: found.combination(np.full(SHAPE, 1e300)), "coefficients: some are .* beyond 1e\\+100"),
    (lambda found: found.combination(np.full(SHAPE, math.nan)), "coefficients: some are not finite"),
    (lambda found: found.combination([[10**400] * 4] * 2), "coefficients: "),
    (lambda found: found.combination(np.full(SHAPE, 1j)), "coefficients: are of numpy's type complex128"),
    (lambda found: found.covariance(np.ones(3)), r"coefficients: their shape is \(3,\)"),
    (lambda found: found.with_bootstrap(2.5), "replicates: is 2.5, must be a whole number from 2 to 100,000"),
    (lambda found: found.with_bootstrap(10**9), "replicates: is 1000000000, must be"),
    (lambda found: found.with_bootstrap(10**400), "replicates: is a int, must be"),
    (lambda found: found.with_bootstrap(True), "replicates: is a bool, must be"),
    (lambda found: found.with_bootstrap(5, seed=-1), "seed: is -1, must be a whole number from 0 to"),
    (lambda found: found.with_bootstrap(5, seed=1.5), "seed: is 1.5, must be"),
    (lambda found: found.with_bootstrap(5, seed="x"), "seed: is a str, must be"),
    (lambda found: found.interval("a"), "level: is a str, must be a number"),
    (lambda found: found.to_dict("a"), "level: is a str, must be a number"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("ask", "message"), ASKED)
def test_r8_a_wrong_argument_is_refused_with_its_name_and_what_to_give(
    ask: Callable[[TableEstimate], Any], message: str
) -> None:
    found = table("unbiased", "smoker", "income")
    with pytest.raises(InputError, match=message):
        ask(found)


def test_numbers_of_any_kind_are_taken_as_coefficients_and_counts() -> None:
    found = table("unbiased", "smoker", "income")
    whole = found.combination([[True] * 4, [False] * 4])
    assert whole.value == pytest.approx(found.shares[0].sum())
    assert math.isfinite(found.combination(np.full(SHAPE, 1e100)).standard_error)
    assert require_whole(np.int64(7), "replicates", 2, 9, 5) == 7


def test_nobody_can_write_to_a_result() -> None:
    found = table("unbiased", "smoker", "income")
    ratio = found.share({"smoker": "yes"}, given={"income": 2})
    names = ["smoker", "income"]
    marginals = estimate_marginals(released()[0], names, TableOptions("unbiased"), named=True)
    seen = 0
    for noun in (found, found.normalised(), found.with_bootstrap(2), ratio, marginals):
        for array in arrays(noun):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            seen += 1
    assert seen > 20


def arrays(noun: Any) -> list[np.ndarray]:
    if isinstance(noun, np.ndarray):
        return [noun]
    if isinstance(noun, tuple):
        return [array for one in noun for array in arrays(one)]
    # the channels are those of the allocation, shared by all that is estimated from it
    parts = [one.name for one in fields(noun) if one.name != "channels"] if is_dataclass(noun) else []
    return [array for name in parts for array in arrays(getattr(noun, name))]
