"""Allocations with a matrix that a known source chose: figures, effect on moments, file, forgeries."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import AllocationError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import MatrixSampler, least_distortion
from tests.strategies import Document

BETWEEN = {"between": {"lower": [0.5, 0.1, 0.0], "upper": [0.7, 0.4, 0.1]}}
THIRD = {"distributions": [[0.55, 0.1, 0.35], [0.5, 0.4, 0.1]]}


def asked(**fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("x", categories=4),
            bo.Attribute("y", categories=["a", "b"]),
            bo.Attribute("s", categories=3, source=BETWEEN, distortion_max=0.2),
            bo.Attribute("t", categories=["u", "v", "w"], source=THIRD, epsilon=1.5),
            bo.Attribute("c", categories=3, scores=[0, 1, 5], source=BETWEEN, epsilon=0.5),
        ],
        moments=[bo.CrossMoment("x", "y")],
        total_epsilon=8.0,
        **fields,
    )


MADE = bo.solve(asked())


def test_every_matrix_is_the_best_one_for_its_epsilon_and_keeps_both_numbers_exactly() -> None:
    for name in ("s", "t", "c"):
        one = MADE[name]
        source = one.declared.known_source
        assert source is not None
        assert isinstance(one.sampler, MatrixSampler)
        assert exact(one.loss) <= exact(one.epsilon)
        changed = one.sampler.matrix.distortion(source)
        assert changed <= exact(one.distortion)
        best = least_distortion(source, one.epsilon)
        assert best.bound <= float(changed) <= best.distortion * (1 + 1e-6)
        assert not one.has_retention
        for asking in (lambda one=one: one.retention, lambda one=one: one.exact_retention):
            with pytest.raises(bo.InputError, match="has no retention"):
                asking()
    assert exact(MADE["s"].distortion) <= exact(0.2)
    assert MADE.loss <= MADE.spent_epsilon == 8.0


def test_no_share_of_a_moment_with_it_is_stated() -> None:
    with pytest.raises(bo.InputError, match="no single factor"):
        MADE.retention("x", "s")


def test_its_effect_on_moments_is_exactly_that_its_scores_are_replaced() -> None:
    """E f(Y) W~ = R_S E (Q f)(X) Z~, by enumeration of a joint and of all reports, in fractions."""
    x, s, scores = MADE["x"], MADE["c"], (0, 1, 5)
    assert s.effect is not None
    joint = {(a, b): Fraction(1 + (5 * a + 3 * b) % 7, 1) for a, b in product(range(4), range(3))}
    total = sum(joint.values())
    joint = {cell: share / total for cell, share in joint.items()}
    mean = Fraction(sum(range(4)), 4)  # of the uniform background, about which lambda is the factor

    def score(code: int) -> Fraction:
        return Fraction(code) - mean

    left = sum(
        (
            share * x.exact_matrix[a][v] * s.exact_matrix[b][w] * score(v) * scores[w]
            for (a, b), share in joint.items()
            for v, w in product(range(4), range(3))
        ),
        Fraction(0),
    )
    right = x.exact_retention * sum(
        (share * score(a) * s.effect[b] for (a, b), share in joint.items()), Fraction(0)
    )
    assert left == right
    # no number r makes it r f plus a constant: it is no retention
    slopes = [(s.effect[k + 1] - s.effect[k]) / (scores[k + 1] - scores[k]) for k in (0, 1)]
    assert abs(slopes[0] - slopes[1]) > Fraction(1, 10)


def test_a_nominal_attribute_has_no_effect_and_others_have_none() -> None:
    assert MADE["t"].effect is None
    assert MADE["x"].effect is None
    assert (MADE["x"].distortion, MADE["x"].has_retention) == (None, True)


def test_what_is_censored_stays_in_the_declared_domain() -> None:
    assert MADE["c"].censored
    assert MADE["c"].domain.labels == (0, 1, 2)


def test_the_file_states_rows_of_counts_and_is_read_without_any_solver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MADE.write(tmp_path / "a.json")
    for name in ("program.linprog",):
        monkeypatch.setattr("scipy.optimize.linprog", name)
    again = bo.Allocation.read(tmp_path / "a.json")
    assert again.to_dict() == MADE.to_dict()
    assert [one.sampler for one in again.attributes] == [one.sampler for one in MADE.attributes]
    stated = json.loads((tmp_path / "a.json").read_text())["attributes"][2]
    assert (stated["retention"], stated["truth_probability"], stated["other_probability"]) == (None,) * 3
    assert stated["source"] == BETWEEN
    assert stated["sampler"]["rows"] == [[str(count) for count in row] for row in MADE["s"].sampler.counts]
    assert stated["distortion"] == MADE["s"].distortion
    assert stated["effect"] == [float(one) for one in MADE["s"].effect]
    plain = json.loads((tmp_path / "a.json").read_text())["attributes"][0]
    assert {"source", "distortion", "effect"}.isdisjoint(plain)


def test_an_epsilon_that_is_best_kept_by_one_report_for_all_releases_nothing_and_can_be_read(
    tmp_path: Path,
) -> None:
    made = bo.allocation_from(asked(), {"x": 1, "y": 1, "s": 0.01, "t": 1.5, "c": 0})
    assert [made[name].is_released for name in ("s", "t", "c")] == [False, True, False]
    assert made["s"].loss == 0
    made.write(tmp_path / "a.json")
    assert bo.Allocation.read(tmp_path / "a.json").to_dict() == made.to_dict()
    assert not bo.verify(made, asked()).holds  # the pin and the distortion are missed


def third(changes: dict[str, Any]) -> Callable[[Document], None]:
    return lambda document: document["attributes"][2].update(changes)


def moved(document: Document, words: int) -> None:
    """From the truth of the first row to the next report: the row sums as before."""
    row = document["attributes"][2]["sampler"]["rows"][0]
    row[0], row[1] = str(int(row[0]) - words), str(int(row[1]) + words)


def without_a_row(document: Document) -> None:
    del document["attributes"][2]["sampler"]["rows"][1]


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda d: moved(d, -(2**60)), "must lose at most epsilon"),
        (lambda d: moved(d, 2**40), "attributes"),  # as private, but not what is stated
        (without_a_row, "must be 3"),
        (lambda d: d["attributes"][2]["sampler"]["rows"][0].__setitem__(0, "5"), "are no matrix"),
        (lambda d: d["attributes"][2]["sampler"]["rows"][0].__setitem__(0, "-5"), "rows"),
        (lambda d: d["attributes"][2]["sampler"].update(q="5"), "beside rows"),
        (third({"sampler": {"bits": 64, "q": "5"}}), "must be 3"),
        (third({"loss": 0.5}), "loss"),
        (third({"retention": 0.5}), "retention"),
        (third({"distortion": 0.1}), "distortion"),
        (third({"effect": [0.0, 1.0, 2.0]}), "effect"),
        (third({"epsilon": 0.25}), "must lose at most epsilon"),
        (third({"source": None}), "attributes"),
        (lambda d: d["attributes"][4].update(source={"ordered": {"first_at_least": 0.9}}), "distortion"),
        (third({"background": [0.5, 0.25, 0.25]}), "beside a source"),
    ],
)
def test_a_file_that_does_not_agree_with_its_matrix_is_refused(
    forge: Callable[[Document], None], said: str, tmp_path: Path
) -> None:
    document = json.loads(json.dumps(MADE.to_dict()))
    forge(document)
    (tmp_path / "forged.json").write_text(json.dumps(document))
    with pytest.raises(AllocationError, match=said):
        bo.Allocation.read(tmp_path / "forged.json")


def test_the_table_says_what_no_retention_is_said_of() -> None:
    told = " ".join(str(MADE).split())
    assert "by source" in told
    assert "s is randomized by the best matrix for its source" in told
    assert "no single factor" in told


def test_a_total_delta_is_kept_with_its_loss(tmp_path: Path) -> None:
    problem = asked(total_delta=1e-6)
    made = bo.solve(problem)
    assert bo.verify(made, problem).holds
    assert isinstance(made, Allocation)
