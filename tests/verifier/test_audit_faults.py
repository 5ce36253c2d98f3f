"""An audit convicts each broken sampler of R9 and of other libraries, by the test that is made for it.

Faults are as small as the trials here show; what no black box shows at all is in the mutants of
`benchmarks/faults`, which the exact tests of the kernel kill.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from tests.verifier import sample_samplers as faults
from tests.verifier.sample_samplers import ALLOCATION, KEPT, LABELS, Codes, Columns, Draw, randomized, tables

OPTIONS = bo.AuditOptions(takes="pyarrow", calls=60, seed=3)
TRIALS = 40_000


def audited(draw: Draw, trials: int = TRIALS) -> Any:
    return bo.audit(tables(draw), ALLOCATION, trials, OPTIONS)


def shown(audit: Any) -> dict[str | None, str]:
    """The test that shows each bound that is too large."""
    return {bound.name: bound.shown_by for bound in audit.bounds if not bound.holds}


def test_a_sound_sampler_has_no_findings_and_is_not_called_private() -> None:
    audit = audited(faults.sound)
    assert audit.holds
    assert audit.findings == ()
    assert audit.require() is audit
    assert [bound.name for bound in audit.bounds] == ["smoker", "income", "works", None]
    assert all(0.7 < bound.lower <= 1 < bound.noticed for bound in audit.bounds[:-1])
    assert 0 < audit.excess < 0.2
    assert audit.excess < audit.excess_in_pair < 1
    kept, pair = (math.ceil(x * 1000) / 1000 for x in (audit.excess, audit.excess_in_pair))
    said = f"noticed would be a truth kept too often by {kept:g} nats, and a fault of one pair of categories"
    assert f"no violation found; {said} by {pair:g} nats" in str(audit)
    assert "private" not in str(audit)
    assert all(check.kind == "tested" for check in audit.checks)


def test_r9_the_historical_fault_of_opendp_keeps_the_truth_too_often() -> None:
    audit = audited(faults.kept_twice, 4_000)
    assert set(shown(audit)) >= {"smoker", "income", "works"}
    p = KEPT["income"] + (1 - KEPT["income"]) * KEPT["income"]
    bound = audit.bounds[1]
    assert 1 < bound.lower <= math.log(4 * p / (1 - p))
    sentence = f"epsilon of income is at least {math.floor(bound.lower * 1000) / 1000:g} (error 1e-09), the "
    assert f"{sentence}allocation allows 1: " in str(audit)
    with pytest.raises(bo.VerificationError, match="income"):
        audit.require()


def test_r9_the_last_record_of_a_batch_is_never_randomized() -> None:
    audit = audited(faults.without_last, 4_000)
    assert "the last record of a batch" in shown(audit)[None]
    assert "the last record of a batch" in shown(audit)["income"]


def test_the_first_and_the_only_record_of_a_batch_are_looked_at() -> None:
    def without_first(rng: np.random.Generator, codes: Columns) -> Columns:
        reports = faults.sound(rng, codes)
        return {name: np.append(codes[name][:1], report[1:]) for name, report in reports.items()}

    def without_single(rng: np.random.Generator, codes: Columns) -> Columns:
        return codes if codes["smoker"].size == 1 else faults.sound(rng, codes)

    assert "the first record of a batch" in shown(audited(without_first, 4_000))[None]
    options = bo.AuditOptions(takes="pyarrow", calls=240, seed=3)
    single = bo.audit(tables(without_single), ALLOCATION, 2_000, options)
    assert "batches of one record" in shown(single)[None]


def test_r9_the_last_chunk_is_forgotten() -> None:
    assert "batch" in shown(audited(faults.without_last_chunk))[None]


def test_r9_floor_for_ceil_shows_where_words_are_few() -> None:
    assert set(shown(audited(faults.floor_for_ceil))) == {"income"}


def test_r9_a_biased_modulo_shows_in_the_pair_of_categories_that_it_favours() -> None:
    audit = audited(faults.biased_modulo, 200_000)
    assert set(shown(audit)) == {"income"}
    assert " against " in shown(audit)["income"]


def test_r9_one_stream_for_two_attributes_shows_in_both_together() -> None:
    audit = audited(faults.one_stream)
    assert set(shown(audit)) == {"smoker", "works"}
    assert "with the n" in shown(audit)["smoker"]
    assert any(
        check.claim.startswith("noise of two attributes: smoker and works") for check in audit.findings
    )


def test_a_record_that_is_left_as_it_is_now_and_then_shows_in_its_other_cells() -> None:
    audit = audited(faults.now_and_then)
    assert any("noise of two attributes" in check.claim for check in audit.findings)
    assert "the number of other cells that are the truth" in shown(audit)["works"]


def test_a_report_that_carries_another_value_is_found() -> None:
    audit = audited(faults.carried, 200_000)
    assert set(shown(audit)) == {"smoker"}
    assert "with those of income" in shown(audit)["smoker"]
    assert any("income with the value of smoker" in check.claim for check in audit.findings)


def test_one_category_that_is_kept_too_often_is_found_and_named() -> None:
    audit = audited(faults.one_category_kept)
    assert set(shown(audit)) == {"income"}
    assert "2 against" in shown(audit)["income"]


def test_r6_a_seed_for_every_call_repeats_the_noise() -> None:
    def seeded(_: np.random.Generator, codes: Columns) -> Columns:
        return faults.sound(np.random.default_rng(7), codes)

    claims = " ".join(check.claim for check in audited(seeded, 4_000).findings)
    assert "two calls with the same records gave the same noise" in claims
    assert "two calls with other records gave the same noise" in claims


def test_r8_a_global_seed_that_moves_the_noise_is_found_and_put_back() -> None:
    def of_numpy(_: np.random.Generator, codes: Columns) -> Columns:
        return {
            name: randomized(_, name, column, u=np.random.random(column.size))  # noqa: NPY002 - the fault
            for name, column in codes.items()
        }

    def of_python(_: np.random.Generator, codes: Columns) -> Columns:
        return {
            name: randomized(_, name, column, u=np.array([random.random() for _ in column]))
            for name, column in codes.items()
        }

    for draw in (of_numpy, of_python):
        random.seed(11)
        np.random.seed(11)  # noqa: NPY002 - the state that is to be put back
        claims = [check.claim for check in audited(draw, 4_000).findings]
        assert len(claims) == 1
        assert "one global seed" in claims[0]
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002 - as above
    audited(faults.sound, 4_000)
    assert states == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002 - as above


@pytest.mark.parametrize("lag", [1, 0])
def test_a_block_of_noise_that_comes_again_is_found(lag: int) -> None:
    """The same uniform numbers for neighbours, or for the two halves of a batch."""

    def again(rng: np.random.Generator, codes: Columns) -> Columns:
        n = codes["smoker"].size
        half = rng.random((3, n // 2 + 1))
        u = np.repeat(half, 2, axis=1) if lag else np.hstack([half[:, : n // 2], half])
        return {
            name: randomized(rng, name, column, u=u[i, :n]) for i, (name, column) in enumerate(codes.items())
        }

    claims = " ".join(check.claim for check in audited(again, 4_000).findings)
    assert "noise of neighbouring records" in claims


def passing_on(table: pa.Table) -> pa.Table:
    """What is undeclared or missing comes back, as two widely used libraries do it."""
    rng, made = np.random.default_rng(), {}
    for name in table.column_names:
        labels, values = LABELS[name].tolist(), table[name].to_pylist()
        known = np.array([labels.index(value) if value in labels else 0 for value in values])
        reports = LABELS[name][randomized(rng, name, known)].tolist()
        made[name] = [
            report if value in labels or rng.random() < 0.6 else value
            for report, value in zip(reports, values, strict=True)
        ]
    return pa.table({name: pa.array(made[name], table[name].type) for name in made})


def test_r10_r11_an_undeclared_or_missing_value_that_comes_back_is_found() -> None:
    audit = bo.audit(passing_on, ALLOCATION, 4_000, OPTIONS)
    claims = [check.claim for check in audit.findings]
    assert [claim.partition(" comes back")[0] for claim in claims] == [
        "a label with a blank behind it",
        "a missing value",
        "an undeclared integer",
        "an undeclared label",
    ]
    assert "smoker (" in claims[3]
    assert "income (" in claims[2]
    assert "works (" in claims[1]


def test_an_undeclared_value_that_is_drawn_in_silence_is_told_and_convicts_nobody() -> None:
    def drawing(table: pa.Table) -> pa.Table:
        filled = {
            name: [value if value in LABELS[name] else LABELS[name][0] for value in table[name].to_pylist()]
            for name in table.column_names
        }
        return tables(faults.sound, 9)(pa.table(filled))

    audit = bo.audit(drawing, ALLOCATION, 4_000, OPTIONS)
    assert [check.claim for check in audit.findings if "undeclared" in check.claim] == []
    assert "undeclared values are taken in silence, not refused: smoker (a label with a blank" in str(audit)


def test_reports_outside_the_domain_are_findings_and_count_as_reports() -> None:
    def marking(table: pa.Table) -> pa.Table:
        made = tables(faults.sound, 9)(table)
        income = np.array(made["income"].to_pylist())
        marked = np.where((np.array(table["income"].to_pylist()) == 3) & (income == 3), 99, income)
        return made.set_column(1, "income", pa.array(marked))

    audit = bo.audit(marking, ALLOCATION, 10_000, OPTIONS)
    assert any("reports outside its domain" in check.claim for check in audit.findings)
    assert audit.bounds[1].lower > 3
    assert (
        "'a value outside the domain'" in audit.bounds[1].shown_by or "3 against" in audit.bounds[1].shown_by
    )


def test_what_an_attribute_keeps_less_than_it_could_is_told() -> None:
    def less(rng: np.random.Generator, codes: Columns) -> Columns:
        noise: Codes = rng.integers(0, 5, codes["income"].size)
        return faults.sound(rng, codes) | {"income": noise}

    audit = audited(less, 10_000)
    assert audit.holds
    assert "income: 20" in str(audit)
    assert "Less comes out than is paid for." in str(audit)
