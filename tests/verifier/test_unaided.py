"""A release without the originals: what is possible passes, what is not is convicted, the rest is named."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from budget_opt.errors import InputError
from budget_opt.verifier.report import VerificationReport
from budget_opt.verifier.unaided import verify_unaided
from tests.verifier.sample_release import N, Table, allocation_of, originals, sound

LABELS: dict[str, list[Any]] = {
    "smoker": ["no", "yes"],
    "income": [0, 1, 2, 3, 4],
    "region": ["north", "south", "east", "west"],
    "twin": ["no", "yes"],
}
ALLOCATION = allocation_of()


def table_of(codes: Table, **more: Any) -> pa.Table:
    columns = {name: pa.array([LABELS[name][code] for code in column]) for name, column in codes.items()}
    return pa.table({**columns, "wave": pa.array([1] * codes["smoker"].size), **more})


def released(seed: int = 0, n: int = N) -> Table:
    rng = np.random.default_rng(seed)
    return sound(rng, ALLOCATION, originals(rng, n))


def failed(report: VerificationReport) -> list[str]:
    return [check.claim for check in report.failed]


def manifest_of(rows: int = N, **changes: Any) -> dict[str, Any]:
    columns = [*LABELS, "wave"]
    return {"rows": rows, "columns": columns, "private": True, "allocation_sha256": "0" * 64, **changes}


@pytest.mark.parametrize("n", [0, 1, 2, 50, N])
def test_a_sound_release_passes_in_any_order(n: int) -> None:
    codes = released(n, n)
    order = np.random.default_rng(1).permutation(n)
    report = verify_unaided(ALLOCATION, table_of({name: column[order] for name, column in codes.items()}))
    assert report.holds, str(report)
    assert any("no rows" in note for note in report.notes) == (n == 0)


def test_the_report_may_be_passed_on_and_says_what_cannot_be_checked() -> None:
    report = verify_unaided(ALLOCATION, table_of(released()))
    document = report.to_dict()
    assert document["releasable"] is True
    assert "notice" not in document
    json.dumps(document, allow_nan=False)
    notes = " ".join(report.notes)
    assert "may be passed on" in notes
    assert "cannot be checked without the originals: that every cell was randomized" in notes
    assert "no manifest was given" in notes


@pytest.mark.parametrize("income", [0, 4])
def test_a_share_that_no_originals_can_have_is_convicted(income: int) -> None:
    """A constant column was not randomized, or one of its categories was forgotten."""
    codes = {**released(), "income": np.full(N, income, dtype=np.uint8)}
    assert "income: its reported shares are possible" in failed(verify_unaided(ALLOCATION, table_of(codes)))
    forgotten = released()
    forgotten["income"][forgotten["income"] == income] = 2
    assert "income: its reported shares are possible" in failed(
        verify_unaided(ALLOCATION, table_of(forgotten))
    )


def test_a_category_that_is_kept_too_often_is_convicted_though_no_other_is_too_rare() -> None:
    """1,000 rows too many are 250 too few for each of the four others, which is within chance."""
    most = round(N * ALLOCATION["income"].truth_probability) + 1_000
    income = np.concatenate([np.zeros(most, dtype=np.uint8), np.arange(N - most, dtype=np.int64) % 4 + 1])
    codes = {**released(), "income": income.astype(np.uint8)}
    assert "income: its reported shares are possible" in failed(verify_unaided(ALLOCATION, table_of(codes)))
    codes["income"][:1_000] = np.arange(1_000) % 4 + 1
    assert "income: its reported shares are possible" not in failed(
        verify_unaided(ALLOCATION, table_of(codes))
    )


def test_one_seed_for_two_columns_is_convicted_where_no_truth_could_look_like_it() -> None:
    """Both columns always change together: their corrected joint table is far below 0 off the diagonal."""
    rng = np.random.default_rng(2)
    truth = (rng.random(N) < 0.5).astype(np.uint8)
    report = (truth + (rng.random(N) < ALLOCATION["smoker"].other_probability)) % 2
    codes = {**released(), "smoker": report.astype(np.uint8), "twin": report.astype(np.uint8)}
    assert failed(verify_unaided(ALLOCATION, table_of(codes))) == [
        "smoker x twin: its corrected joint table is possible"
    ]


@pytest.mark.slow
def test_at_a_rate_of_one_half_sound_releases_fail_less_often_even_at_the_edge_of_what_is_possible() -> None:
    """Constant originals: every bound is attained. 120 releases, 6 standard deviations (false alarm 1e-9)."""
    rng, rate = np.random.default_rng(3), 0.5
    constant = {name: np.zeros(300, dtype=np.uint8) for name in LABELS}
    alarms = sum(
        not verify_unaided(ALLOCATION, table_of(sound(rng, ALLOCATION, constant)), false_alarm=rate).holds
        for _ in range(120)
    )
    assert 0 < alarms <= 120 * rate + 6 * math.sqrt(120 * rate * (1 - rate))


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"rows": N + 1}, "the release has the rows of its manifest"),
        ({"columns": ["smoker"]}, "the release has the columns of its manifest"),
        ({"private": False}, "the words of the release were secret, by its manifest"),
        ({"allocation_sha256": "1" * 64}, "the manifest names this allocation"),
    ],
)
def test_what_the_manifest_says_otherwise_is_convicted(change: dict[str, Any], claim: str) -> None:
    table = table_of(released())
    report = verify_unaided(ALLOCATION, table, manifest_of(), allocation_sha256="0" * 64)
    assert report.holds, str(report)
    # what a file says of itself is no check
    assert not any("secret" in check.claim for check in report.checks)
    assert any(note.startswith("claimed by the manifest, not checked") for note in report.notes)
    faulty = verify_unaided(ALLOCATION, table, manifest_of(**change), allocation_sha256="0" * 64)
    assert failed(faulty) == [claim]


def test_labels_and_columns_are_those_of_the_allocation() -> None:
    table = table_of(released())
    wrong = table.set_column(1, "income", pa.array([17, *table.column("income").to_pylist()[1:]]))
    report = verify_unaided(ALLOCATION, wrong)
    assert failed(report) == ["income: all cells are within the declared domain"]
    assert "17" not in str(report).replace("1e-09", "").partition("cells outside")[2].partition("\n")[0]
    assert any(note.startswith("income: not judged") for note in report.notes)
    columns = ["the release has the allocation's columns and no other"]
    assert failed(verify_unaided(ALLOCATION, table.drop_columns(["region"]))) == columns
    assert failed(verify_unaided(ALLOCATION, table.drop_columns(["wave"]))) == columns
    assert failed(verify_unaided(ALLOCATION, table.append_column("id", pa.array(range(N))))) == columns


@pytest.mark.parametrize("rate", [0.0, 1.0, math.nan])
def test_a_false_alarm_rate_outside_0_and_1_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="false_alarm"):
        verify_unaided(ALLOCATION, table_of(released(0, 5)), false_alarm=rate)
