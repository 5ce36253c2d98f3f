"""What one field may hold: numbers, names and labels of every type that Python has (R13, R14)."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from budget_opt.errors import InputError, ProblemError
from budget_opt.model.attribute import Attribute
from budget_opt.model.problem import Problem
from tests.model.sample_problem import BIG, changed, valid

NUMBERS = [
    ("total_epsilon", 1e-300),
    ("attributes.2.epsilon", 0),
    ("attributes.2.epsilon_min", 0),
    ("attributes.2.epsilon_max", 0),
    ("groups.0.epsilon_max", 0),
    ("moments.0.weight", 0),
    ("moments.0.floor", 1e-12),
    ("moments.3.ceiling", 1e-12),
    ("moments.0.target", 1e-100),
    ("moments.0.variance", 1e-100),
]


@pytest.mark.parametrize("field", [field for field, _ in NUMBERS])
@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, -1, -1e-320, "1", "", True, False, None, 1j, [1], {}),
        *(np.float64("nan"), np.True_, np.array([1.0]), 10**400, b"1", BIG, np.float32("inf")),
    ],
    ids=repr,
)
def test_what_is_no_number_of_the_field_is_an_error_that_names_the_field(field: str, value: object) -> None:
    """R13."""
    if value is None and field not in ("groups.0.epsilon_max", "moments.0.weight"):
        return  # null leaves an optional field out
    if value is None and field == "total_epsilon":
        return
    with pytest.raises(ProblemError) as caught:
        Problem(**changed(field, value))
    named = field.rsplit(".", maxsplit=1)[-1]
    assert any(fault.where.endswith(named) for fault in caught.value.faults), caught.value.faults


@pytest.mark.parametrize(("field", "least"), NUMBERS)
def test_a_subnormal_number_is_either_0_or_refused_by_name(field: str, least: float) -> None:
    """R13: 1e-320 is below every limit; the least number itself is accepted."""
    with pytest.raises(ProblemError) as caught:
        Problem(**changed(field, 1e-320))
    assert any(fault.where.endswith(field.rsplit(".", maxsplit=1)[-1]) for fault in caught.value.faults)
    if field not in ("total_epsilon", "groups.0.epsilon_max", "moments.0.floor"):
        Problem(**changed(field, least))


def test_a_number_of_another_type_is_the_same_number() -> None:
    """R13: numpy scalars and exact decimals."""
    plain = Attribute("a", categories=3, epsilon=0.5)
    for half in (np.float64(0.5), np.float32(0.5), Decimal("0.5"), Fraction(1, 2)):
        other = Attribute("a", categories=np.int64(3), epsilon=half)
        assert other == plain
        assert type(other.epsilon) is float
        assert type(other.categories) is int
    assert Attribute("a", categories=3, epsilon=Decimal("0.1")).epsilon == 0.1
    assert Attribute("a", categories=3, epsilon=np.int8(1)).epsilon == 1.0
    assert math.copysign(1, Attribute("a", categories=3, epsilon_min=-0.0).epsilon_min or 0.0) == 1


def test_a_decimal_that_no_double_carries_is_refused() -> None:

    for number in ("0.1000000000000000055511151231257827", "1e-400", "NaN", "sNaN", "Infinity"):
        with pytest.raises(ProblemError) as caught:
            Attribute("a", categories=3, epsilon=Decimal(number))
        assert [fault.where for fault in caught.value.faults] == ["epsilon"]


@pytest.mark.parametrize("field", ["categories", "scores", "marginal", "bins"])
def test_what_has_no_order_cannot_stand_for_ordered_categories(field: str) -> None:
    fields: dict[str, Any] = {"categories": 3} if field in ("scores", "marginal") else {}
    with pytest.raises(ProblemError, match="has no order"):
        Attribute("a", **fields | {field: {0.25, 0.5, 0.75}})


def test_labels_from_numpy_become_pythons_own() -> None:
    for labels, kind in (
        (np.array(["x", "y"]), "text"),
        (np.array([3, 1]), "integer"),
        ([np.str_("x"), "y"], "text"),
        ([np.bool_(True), False], "boolean"),
        (iter(["x", "y"]), "text"),
    ):
        domain = Attribute("a", categories=labels).domain
        assert domain.kind == kind
        assert {type(label) for label in domain.labels} <= {str, int, bool}


def test_an_attribute_takes_one_name() -> None:
    with pytest.raises(TypeError):
        Attribute("a", "b", categories=2)


def test_an_unknown_attribute_is_asked_for_in_vain() -> None:
    with pytest.raises(InputError, match="not in the problem"):
        Problem(**valid()).attribute("smokr")


def test_a_hostile_name_in_a_file_cannot_steer_a_terminal() -> None:
    with pytest.raises(ProblemError) as caught:
        Problem(**valid() | {"\x1b[31mred\n": 1})
    assert "\x1b" not in str(caught.value)
    with pytest.raises(ProblemError) as caught:
        Problem(**changed("attributes.3.name", "\x1b[31mred\n"))
    assert "\x1b" not in str(caught.value)


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ProblemError) as caught:
        Problem(**changed("attributes.3.categories", ["x" * 500]))
    assert max(len(line) for line in str(caught.value).splitlines()) < 300


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from nodes(item, (*path, key))


@pytest.mark.parametrize("path", list(nodes(valid())), ids=lambda path: ".".join(map(str, path)))
def test_whatever_stands_in_place_of_a_value_is_a_problem_or_a_fault(
    path: tuple[Any, ...],
) -> None:
    """No other exception, and no problem that cannot be hashed, solved for or written."""
    values: list[Any] = ["x", "", None, [], {}, [1], [[]], [None], {"a": 1}, -1, 0, 1, 3, 2**60, True]
    values += [math.nan, math.inf, 1e308, -1e308, 5e-324, 1.5, b"x", object(), ("a", "b"), range(3)]
    values += ["9" * 80, "\ud800"]
    for value in values:
        document = changed(".".join(map(str, path)), copy.copy(value))
        try:
            problem = Problem(**document)
        except ProblemError as failure:
            whole = failure
        else:
            assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
            assert problem.sha256
            assert problem.arrays.blocks == len(problem.names)
            continue
        assert whole.faults
        assert all(fault.where and fault.limit and fault.remedy for fault in whole.faults)
