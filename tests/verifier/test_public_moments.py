"""Observed against predicted moments where a public column takes part (false alarm 1e-9 a release)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.releasing.publishing import Place, publish
from budget_opt.tables.reading import open_table
from budget_opt.verifier.public_values import PublicValues
from budget_opt.verifier.streamed import StreamedJudge

N = 40_000
PROBLEM = bo.Problem(
    attributes=[bo.Attribute("income", categories=4), bo.Attribute("smoker", categories=2)],
    moments=[
        bo.CrossMoment("income", "wave"),
        bo.CrossMoment("income", "site"),
        bo.CrossMoment("smoker", "income", "size"),
    ],
    public=[bo.PublicColumn(name, why="public") for name in ("wave", "site", "size")],
    total_epsilon=3.0,
    objective="geometric_mean",
    row_order="public",
)
ALLOCATION = bo.uniform(PROBLEM)


def originals(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    wave = rng.integers(0, 3, n)
    income = np.minimum(rng.poisson(0.4 + wave), 3)
    return pd.DataFrame(
        {
            "income": income,
            "smoker": rng.integers(0, 2, n),
            "wave": wave,
            "site": np.where(wave == 0, "york", "hull"),
            "size": (1 + income + rng.random(n).round(1)).round(1),
        }
    )


def retention_checks(report: Any) -> dict[str, Any]:
    return {check.claim.split(":")[0]: check for check in report.checks if check.name == "retention"}


@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_a_sound_release_has_the_predicted_moments_with_public_columns(kind: str, tmp_path: Path) -> None:
    table = originals()
    released = bo.randomize(table, ALLOCATION)
    sides: list[Any] = [table, released]
    if kind == "csv":
        for place, one in enumerate(sides):
            one.to_csv(tmp_path / f"{place}.csv", index=False)
        sides = [tmp_path / "0.csv", tmp_path / "1.csv"]
    report = bo.verify_release(ALLOCATION, original=sides[0], released=sides[1]).require()
    checks = retention_checks(report)
    assert list(checks) == ["income x wave", "income x site", "smoker x income x size"]
    kept = float(ALLOCATION["income"].exact_retention)
    for label in ("income x wave", "income x site"):
        assert checks[label].measured == pytest.approx(kept, abs=0.06)
    assert "the scores" in checks["income x wave"].claim
    assert "the data's own table" in checks["income x site"].claim


def test_noise_that_depends_on_a_public_column_is_found() -> None:
    """Rows of one wave are left alone and those of others changed more often, as often as due in all."""
    table = originals()
    rng = np.random.default_rng(6)
    released = bo.randomize(table, ALLOCATION)
    r, change = 4, 1 - float(ALLOCATION["income"].truth_probability)
    first = (table["wave"] == 0).to_numpy()
    chance = np.where(first, 0.0, change / (~first).mean())
    changed = rng.random(N) < chance
    shift = rng.integers(1, r, N)
    released["income"] = np.where(changed, (table["income"] + shift) % r, table["income"])
    report = bo.verify_release(ALLOCATION, original=table, released=released)
    failed = {check.name for check in report.failed}
    assert "retention" in failed
    assert any("income x wave" in check.claim for check in report.failed)


def test_a_public_column_with_too_many_values_is_said_not_to_be_judged() -> None:
    table = originals(3000)
    table["size"] = np.arange(3000) / 7
    report = bo.verify_release(ALLOCATION, original=table, released=bo.randomize(table, ALLOCATION)).require()
    assert any("values of a public column are too many" in note and "size" in note for note in report.notes)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_release_is_judged_alike_while_it_is_made_and_afterwards(ending: str, tmp_path: Path) -> None:
    """All moments with public columns, in batches that are not those in which these are read beside."""
    table, data = originals(3000), tmp_path / f"data{ending}"
    table.to_csv(data, index=False) if ending == ".csv" else table.to_parquet(data, row_group_size=700)
    ALLOCATION.write(tmp_path / "allocation.json")
    place = Place(tmp_path / "public" / f"released{ending}", tmp_path / "internal")
    meanwhile = publish(tmp_path / "allocation.json", data, place).report
    assert meanwhile is not None
    afterwards = bo.verify_release(ALLOCATION, original=data, released=place.table)
    assert len(meanwhile.retentions) == 3
    assert meanwhile.retentions == afterwards.retentions
    assert not any("not judged" in note for note in meanwhile.notes)


@pytest.mark.parametrize("sizes", [(3000,), (1, 1999, 1000), (1000, 0, 2000)])
def test_public_columns_are_read_in_step_with_any_batches(sizes: tuple[int, ...]) -> None:
    table = originals(3000)
    codes = {name: table[name].to_numpy(dtype=np.uint8) for name in ("income", "smoker")}
    judge, start = StreamedJudge(ALLOCATION, table), 0
    for rows in sizes:
        part = {name: column[start : start + rows] for name, column in codes.items()}
        judge.add(part, part)
        start += rows
    found = {one.attributes: one.projection for one in judge.report().retentions}
    waves = np.bincount(table["wave"]) / 3000
    centred = table["wave"] - waves @ np.arange(3)
    moment = float(np.mean((table["income"] - table["income"].mean()) * centred))
    assert found["income", "wave"].data == pytest.approx(moment)


def test_originals_that_change_while_they_are_read_stop_the_judge() -> None:
    """Rows that are gone, and values that were not there, are told by the column alone."""
    table = originals(300)
    codes = {name: np.zeros(301, dtype=np.uint8) for name in ("income", "smoker")}
    with pytest.raises(bo.errors.DataError, match="was changed while it was read"):
        StreamedJudge(ALLOCATION, table).add(codes, codes)
    values = PublicValues(open_table(table), ["wave"])
    (batch,) = open_table(table.assign(wave=7)).batches(["wave"])
    with pytest.raises(bo.errors.DataError, match="public column 'wave': is not what it was"):
        values.codes(batch)
