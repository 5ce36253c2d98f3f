"""A regression formula stands for the moments that it needs, each with a reason; it is read and never run."""

from __future__ import annotations

import builtins
import contextlib
import sys
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.errors import ProblemError

BY_HAND = {
    "y ~ x": ["y x"],
    "y ~ 1": ["y"],
    "y ~ 0 + x": ["y x"],
    "y ~ x - 1": ["y x"],
    "y ~ 2:x": ["y x"],
    "y ~ x + x": ["y x"],
    "y ~ a + b": ["y a", "y b", "a b"],
    "y ~ a + b + c": ["y a", "y b", "y c", "a b", "a c", "b c"],
    "y ~ a:b": ["y a", "y b", "a b", "y a b"],
    "y ~ a * b": ["y a", "y b", "a b", "y a b"],
    "y ~ a / b": ["y a", "y b", "a b", "y a b"],
    "y ~ b %in% a": ["y b", "y a", "b a", "y b a"],
    "y ~ (a + b)**2": ["y a", "y b", "a b", "y a b"],
    "y ~ (a + b + c)**2 - b:c": [
        *("y a", "y b", "y c", "a b", "a c", "b c"),
        *("y a b", "y a c", "a b c"),
    ],
    "income ~ education * age + sex": [
        *("income education", "income age", "income sex"),
        *("education age", "education sex", "age sex"),
        *("income education age", "education age sex"),
    ],
    "y ~ a:b + c:d": [
        *("y a", "y b", "y c", "y d", "a b", "a c", "a d", "b c", "b d", "c d"),
        *("y a b", "y c d", "a b c", "a b d", "a c d", "b c d", "a b c d"),
    ],
    # functions of one attribute change nothing
    "log(y) ~ I(x**2) + x": ["y x"],
    "y ~ np.log(x) + bs(x, df=3) + poly(x, 2) + scale(x)": ["y x"],
    "y ~ C(region, contr.treatment('north')) + C(sex, Treatment)": ["y region", "y sex", "region sex"],
    "y ~ x.clip(0, 1) + I(x > 2)": ["y x"],
    # a factor of several attributes counts as all of them
    "y ~ I(a * b)": ["y a", "y b", "a b", "y a b"],
    "y ~ {a / b}": ["y a", "y b", "a b", "y a b"],
    "I(after - before) ~ before": ["after before"],
    "I(after - before) ~ group": [
        *("after before", "after group", "before group"),
        "after before group",
    ],
    # names of every kind
    "`my income` ~ `état civil` * âge": [
        *("my income|état civil", "my income|âge", "état civil|âge"),
        "my income|état civil|âge",
    ],
    "y ~ log(`my income`) + Q('état civil')": ["y|my income", "y|état civil", "my income|état civil"],
    "len ~ max + print": ["len max", "len print", "max print"],
    "y ~ log(log) + C(C)": ["y log", "y C", "log C"],
    # two names, though Python would make the second of the first
    "y ~ log(\ufb01eld) + log(field)": ["y|\ufb01eld", "y|field", "\ufb01eld|field"],
    "y ~ `a'b` + `c:d`": ["y|a'b", "y|c:d", "a'b|c:d"],
}


@pytest.mark.parametrize("formula", BY_HAND)
def test_a_formula_gives_the_moments_of_a_list_made_by_hand(formula: str) -> None:
    found = bo.moments_from_formula(formula, names=NAMES)
    split = [moment.split("|") if "|" in moment else moment.split() for moment in BY_HAND[formula]]
    assert [set(moment.attributes) for moment in found] == [set(moment) for moment in split]
    assert len(set(found.reasons)) <= len(found)
    assert all(found.reasons)


NAMES = sorted(
    {
        name
        for moments in BY_HAND.values()
        for moment in moments
        for name in (moment.split("|") if "|" in moment else moment.split())
    }
)


def test_every_moment_has_its_reason() -> None:
    found = bo.moments_from_formula("income ~ education * age + sex")
    assert {row["moment"]: row["why"] for row in found.rows()} == {
        "income x education": "slope of education",
        "income x age": "slope of age",
        "income x sex": "slope of sex",
        "education x age": "separates education from age",
        "education x sex": "separates education from sex",
        "age x sex": "separates age from sex",
        "income x education x age": "interaction education:age",
        "education x age x sex": "separates education:age from sex",
    }
    reasons = bo.moments_from_formula("y ~ a:b + log(c) + c").reasons
    assert reasons[:2] == ("part of: interaction a:b", "part of: interaction a:b")
    assert "slope of log(c), c" in reasons
    assert bo.moments_from_formula("y ~ 1").reasons == ("mean of y",)


def test_the_moments_are_a_sequence_that_a_problem_takes_and_a_table() -> None:
    found = bo.moments_from_formula("income ~ age + sex", weight=2, floor=0.1, level=3)
    assert found[0] == bo.CrossMoment("income", "age", weight=2, floor=0.1, level=3)
    assert found[1:] == tuple(found)[1:]
    assert len(found) == 3
    attributes = [bo.Attribute(name, categories=2) for name in ("income", "age", "sex")]
    problem = bo.Problem(attributes=attributes, moments=found, total_epsilon=3)
    assert problem.moments == found.moments
    assert "slope of age" in str(found)
    assert found.to_dict()["moments"][0] == {
        "attributes": ["income", "age"],
        "weight": 2.0,
        "floor": 0.1,
        "level": 3,
    }
    assert found.to_arrow().column_names == ["moment", "why"]


def test_a_dot_stands_for_all_attributes_that_the_response_is_no_function_of() -> None:
    found = bo.moments_from_formula("log(y) ~ .", names=["a", "y", "b"])
    assert [moment.label for moment in found] == ["y x a", "y x b", "a x b"]
    without = bo.moments_from_formula("y ~ . - b", names=["a", "y", "b", "c"])
    assert [moment.label for moment in without] == ["y x a", "y x c", "a x c"]
    squared = bo.moments_from_formula("y ~ .**2", names=["a", "y", "b"])
    assert [moment.label for moment in squared][-1] == "y x a x b"
    with pytest.raises(ProblemError, match="Give their names"):
        bo.moments_from_formula("y ~ .")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (3, "must be a formula"),
        ("", "must be a formula"),
        ("  ", "must be a formula"),
        ("y", "no response"),
        ("~ a + b", "no response"),
        ("a + b", "no response"),
        ("1 ~ a", "one response"),
        ("y + z ~ a", "one response"),
        ("y ~ 0", "no term"),
        ("y ~ ", "no term"),
        ("y ~ y + a", "y on both sides"),
        ("y ~ a | b", "cannot be read"),
        ("y | z ~ a", "cannot be read"),
        ("[y ~ a] + b", "cannot be read"),
        ("y ~ a ~ b", "cannot be read"),
        ("y ~ a +", "cannot be read"),
        ("y ~ a $ b", "cannot be read"),
        ("y ~ (a", "cannot be read"),
        ("y ~ 3", "cannot be read"),
        ("y ~ 'a'", "cannot be read"),
        ("y ~ f(a", "cannot be read"),
        ("y ~ log(,)", "no expression"),
        ("y ~ log(" + "(" * 300 + "a" + ")" * 300 + ")", "no expression"),
        ("y ~ log(" + "-" * 5000 + "a)", "no expression"),
        ("y ~ lag(a)", "other records"),
        ("y ~ a.shift(1)", "other records"),
        ("y ~ np.cumsum(a)", "other records"),
        ("y ~ log(lambda q: q)", "of its own"),
        ("y ~ log([b for b in a])", "of its own"),
        ('y ~ log(f"{a}")', "of its own"),
        ("y ~ Q(a)", "Q has no name"),
        ("y ~ agee", 'Did you mean "age"'),
        ("y ~ log(agee)", 'Did you mean "age"'),
        ("zzz ~ age", "'zzz', which is not an attribute"),
        ("y ~ math.log(a)", "'math', which is not an attribute"),
        ("y ~ a" + " " * 10_000, "10,000 characters"),
        ("y ~ a ** 1000000000", "no whole number from 1 to 100"),
        ("y ~ a ** -1", "cannot be read|no whole number"),
        ("y ~ (a + b) ** 64", "more than 3,000 terms"),
        ("y ~ " + " * ".join(f"x{i}" for i in range(40)), "more than 3,000 terms"),
        ("y ~ (" + " + ".join(f"x{i}" for i in range(30)) + ")**2", "for 32,365 moments"),
        ("y ~ (" + " + ".join(f"x{i}" for i in range(40)) + ")**2", "at least 100,001 moments"),
        ("y ~ " + ":".join(f"x{i}" for i in range(40)), "at least 2,199,023,255,510 moments"),
    ],
)
def test_what_is_no_regression_of_these_attributes_is_refused_at_once(formula: str, words: str) -> None:
    names = ["y", "z", "a", "b", "age", *(f"x{i}" for i in range(40))]
    with pytest.raises(ProblemError, match=words) as caught:
        bo.moments_from_formula(formula, names=names)
    assert [fault.where for fault in caught.value.faults] == ["formula"]
    assert "\x1f" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


HOSTILE = [
    "{call} ~ age",
    "y ~ {call}",
    "Q({call}) ~ age",
    "y ~ Q({call})",
    "y ~ C({call})",
    "y ~ bs(age, df={call})",
    "bs(age, df={call}) ~ age",
    "({call}).bs(age) ~ age",
    "y ~ log({call})",
    "log({call})(age) ~ age",
    "y ~ log(age)[{call}]",
    "y ~ {{{call}}}",
    "{{{call}}} ~ age",
    "y ~ `{call}`",
    "y ~ Q('{call}')",
    "y ~ age ** {call}",
]


@pytest.mark.parametrize("frame", HOSTILE)
def test_nothing_in_a_formula_is_ever_run(
    frame: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser of formulaic 1.2 runs calls on the left side, and those in `Q`, to find their variables."""
    canary = tmp_path / "run"
    formula = frame.format(call=f'open("{canary}", "w")')
    bo.moments_from_formula("y ~ x")  # the import of formulaic evaluates annotations of its own

    def refuse(*_: object) -> None:
        raise AssertionError("eval was called")

    monkeypatch.setattr(builtins, "eval", refuse)
    monkeypatch.setattr(builtins, "exec", refuse)
    for names in (None, ["y", "age"]):
        with contextlib.suppress(ProblemError):
            bo.moments_from_formula(formula, names=names)
    with pytest.raises(ProblemError):
        bo.Problem(
            attributes=[bo.Attribute("y", categories=2), bo.Attribute("age", categories=2)],
            moment_rules=[{"formula": formula}, {"formula": "y ~ nobody"}],
            total_epsilon=1,
        )
    assert not canary.exists()


def test_a_missing_formulaic_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "formulaic"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(bo.InputError, match=r"python -m pip install 'budget-opt\[formulas\]'"):
        bo.moments_from_formula("y ~ x")
