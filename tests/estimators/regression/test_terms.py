"""The columns of a formula: those of formulaic, from values a category, and nothing is ever run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix

from budget_opt.errors import InputError
from budget_opt.estimators.regression.terms import MOST_COLUMNS, Axis, columns_of
from budget_opt.model.formulas.parsing import parse_formula
from tests.estimators.regression.made import matrix_of, opened_of, records_of

SHAPE = (2, 3, 4, 3)
SCORES = {"x": [1.0, 2.0, 4.0], "z": [0.5, 1.0, 2.0, 3.0], "g": None}
RETENTIONS = {"y": 0.5, "x": 0.5, "z": 0.5, "g": 0.5}
FORMULAS = [
    "y ~ x + z",
    "y ~ x + C(g)",
    "y ~ g + x:g",
    "y ~ 0 + g + x",
    "y ~ x:g",
    "y ~ C(x):g",
    "y ~ 0 + C(x):g",
    "y ~ C(x)*g - 1",
    "y ~ x*z*g",
    "y ~ g + C(x):z + C(z)",
    "y ~ I(x**2) + log(z) + x:I(z > 1)",
    "y ~ np.sqrt(x) + exp(-z / 2) - 1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_columns_span_what_formulaics_span_and_are_as_many(formula: str) -> None:
    """Interactions without main effects and without an intercept are where codings differ."""
    counts = np.ones(SHAPE, dtype=np.int64)
    opened = opened_of(formula, counts, RETENTIONS, SCORES)
    codes = dict(zip(RETENTIONS, records_of(counts).T, strict=True))
    ours = matrix_of(opened, codes)
    table = pd.DataFrame(
        {
            "y": codes["y"].astype(float),
            "x": np.array(SCORES["x"])[codes["x"]],
            "z": np.array(SCORES["z"])[codes["z"]],
            "g": np.array(["0", "1", "2"])[codes["g"]],
        }
    )
    theirs = np.asarray(model_matrix(formula, table, context={"np": np}).rhs, dtype=float)
    assert ours.shape == theirs.shape
    rank = np.linalg.matrix_rank(theirs)
    assert rank == np.linalg.matrix_rank(ours) == np.linalg.matrix_rank(np.hstack([ours, theirs]))


def test_the_first_category_is_the_reference_and_is_named() -> None:
    opened = opened_of("y ~ x + C(g)", np.ones(SHAPE, dtype=np.int64), RETENTIONS, SCORES)
    assert opened.columns.labels == ("Intercept", "x", "C(g)[T.1]", "C(g)[T.2]")
    assert opened.columns.references == ("reference of C(g): 0",)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ I(x*z)", "function of 2 attributes"),
        ("y ~ 2:x", "2 times x"),
        ("y ~ bs(x, df=3)", "not understood"),
        ("y ~ I(x.real)", "not understood"),
        ("y ~ log(x - 1)", "no finite number"),
        ("y ~ I(x**9**9**9)", "no finite number"),
        ("y ~ C(g, Treatment(1))", "no options"),
        ("y ~ log(g)", "categories without scores"),
        ("y ~ I(abs(x, z=2))", "not understood"),
        ("y ~ I(__import__('os').system('true') + x)", "not understood"),
    ],
)
def test_what_is_no_function_of_one_attribute_is_refused_by_name(formula: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        opened_of(formula, np.ones(SHAPE, dtype=np.int64), RETENTIONS, SCORES)


def test_more_columns_than_errors_can_be_had_for_are_refused() -> None:
    axes = {name: Axis(name, tuple(range(20)), None) for name in "abc"}
    axes["y"] = Axis("y", (0, 1), np.array([0.0, 1.0]))
    with pytest.raises(InputError, match=f"more than {MOST_COLUMNS} columns"):
        columns_of(parse_formula("y ~ a*b*c"), axes, "y ~ a*b*c")


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ x**2", r"power of x alone.*I\(x\*\*2\)"),
        ("y ~ x^2", "power of x alone"),
        ("y ~ z + (x)**3", "power of x alone"),
        ("y ~ -x", r"names x, which no term has.*I\(-x\)"),
        ("y ~ z + x - x", "names x, which no term has"),
        ("y ~ eval('1')", "function of no attribute"),
        ("y ~ 0 + x + I(1)", "function of no attribute"),
    ],
)
def test_what_a_formula_would_leave_out_in_silence_is_refused(formula: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        opened_of(formula, np.ones(SHAPE, dtype=np.int64), RETENTIONS, SCORES)


@pytest.mark.parametrize("formula", ["y ~ (x + z)**2", "y ~ x*z - x:z", "y ~ . - x", "y ~ x - 1", "y ~ .**2"])
def test_powers_of_sums_and_terms_that_are_taken_out_stay(formula: str) -> None:
    assert opened_of(formula, np.ones(SHAPE, dtype=np.int64), RETENTIONS, SCORES).columns.columns


def test_categories_are_printed_so_that_any_two_differ() -> None:
    assert Axis("g", ("missing", "x", None), None).texts == ("'missing'", "x", "missing")
    assert Axis("g", ("a", None), None).texts == ("a", "missing")
    assert Axis("g", ("missing", "x"), None).texts == ("missing", "x")


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ g + x", "y ~ 0 + g + x"])
def test_scores_that_are_all_equal_are_refused_as_such(formula: str) -> None:
    scores = {"x": [5.0, 5.0], "g": None}
    with pytest.raises(InputError, match="whose scores are all equal"):
        opened_of(formula, np.ones((2, 2, 3), dtype=np.int64), dict.fromkeys("yxg", 0.8), scores)
