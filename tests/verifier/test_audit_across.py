"""An audit looks across records, and at what comes back beside the declared columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.verifier.auditing import across, dependence
from budget_opt.verifier.auditing.pairings import (
    MOST_COUPLES,
    MOST_TRIPLES,
    couples,
    left_out,
    pairings,
    triples,
)
from budget_opt.verifier.auditing.rows import Rows, random_records
from tests.verifier import sample_samplers as faults
from tests.verifier.sample_samplers import ALLOCATION, LABELS, Codes, Columns, Draw, sound, tables

OPTIONS = bo.AuditOptions(takes="pyarrow", calls=160, seed=4)
NEAR = "reports that go with the value of another record"
PLACE = "reports at one place that are the value at another"
CROWD = "most reports of a batch go with one record's value"


def sometimes(rng: np.random.Generator, reports: Codes, values: Codes, share: float = 0.3) -> Codes:
    """That share of the reports are these values."""
    return np.where(rng.random(reports.size) < share, values, reports)


def neighbour_in_clear(rng: np.random.Generator, codes: Columns) -> Columns:
    return sound(rng, codes) | {"works": np.roll(codes["smoker"], 1)}


def noise_of_the_neighbour(rng: np.random.Generator, codes: Columns) -> Columns:
    """No randomness at all: the record before decides whether a value is changed."""
    changed = (np.roll(codes["income"], 1) == 0).astype(np.int64)
    return sound(rng, codes) | {"smoker": codes["smoker"] ^ changed}


def neighbour_now_and_then(rng: np.random.Generator, codes: Columns) -> Columns:
    made = sound(rng, codes)
    return made | {"works": sometimes(rng, made["works"], np.roll(codes["smoker"], -3))}


def two_reports_tell_the_neighbour(rng: np.random.Generator, codes: Columns) -> Columns:
    """Each alone is independent of it; together they are it, in clear."""
    made = sound(rng, codes)
    return made | {"works": made["smoker"] ^ np.roll(codes["smoker"], 1)}


def mirrored(rng: np.random.Generator, codes: Columns) -> Columns:
    made = sound(rng, codes)
    return made | {"income": sometimes(rng, made["income"], codes["income"][::-1])}


def half_a_batch_before(rng: np.random.Generator, codes: Columns) -> Columns:
    made = sound(rng, codes)
    return made | {"works": sometimes(rng, made["works"], np.roll(codes["works"], codes["works"].size // 2))}


def row_17_tells_row_0(rng: np.random.Generator, codes: Columns) -> Columns:
    income = sound(rng, codes)["income"]
    income[17:18] = codes["income"][:1]
    return sound(rng, codes) | {"income": income}


def all_tell_the_last(rng: np.random.Generator, codes: Columns) -> Columns:
    made = sound(rng, codes)
    told = np.full(codes["income"].size, codes["income"][-1])
    return made | {"income": sometimes(rng, made["income"], told, 0.6)}


@pytest.mark.parametrize(
    ("draw", "claim", "link"),
    [
        (neighbour_in_clear, NEAR, "report of works with smoker of the record one row before"),
        (noise_of_the_neighbour, NEAR, "noise of smoker with income of the record one row before"),
        (neighbour_now_and_then, NEAR, "report of works with smoker of the record 3 rows behind"),
        (
            two_reports_tell_the_neighbour,
            NEAR,
            "report of smoker and works with smoker of the record one row before",
        ),
        (mirrored, NEAR, "report of income with income of the mirrored record"),
        (half_a_batch_before, NEAR, "report of works with works of the record half a batch before"),
        (row_17_tells_row_0, PLACE, "report of income in row 17 with income of row 0"),
        (all_tell_the_last, CROWD, "report of income in a batch with income of the last record of a batch"),
    ],
)
def test_r9_a_report_that_carries_another_records_value_is_found(draw: Draw, claim: str, link: str) -> None:
    audit = bo.audit(tables(draw), ALLOCATION, 20_000, OPTIONS)
    assert any(check.claim.startswith(f"{claim}: {link}") for check in audit.findings)


def test_a_value_in_clear_in_another_record_is_a_bound_of_its_epsilon() -> None:
    audit = bo.audit(tables(neighbour_in_clear), ALLOCATION, 20_000, OPTIONS)
    bound = audit.bounds[0]
    assert bound.lower > 3
    assert bound.shown_by.startswith("report of works with smoker of the record one row before, ")
    assert "epsilon of smoker is at least" in str(audit)


@pytest.mark.parametrize("takes", ["pyarrow", "record"])
def test_a_value_of_the_call_before_is_found(takes: Any) -> None:
    rng, last = np.random.default_rng(1), {"works": np.zeros(0, np.int64)}

    def carrying(codes: Columns) -> Columns:
        made, before = sound(rng, codes), last["works"][: codes["works"].size]
        made["works"][: before.size] = before
        last["works"] = codes["works"]
        return made

    def of_record(record: dict[str, Any]) -> dict[str, Any]:
        codes = {name: np.array([LABELS[name].tolist().index(value)]) for name, value in record.items()}
        return {name: LABELS[name][code[0]] for name, code in carrying(codes).items()}

    sampler: Any = of_record if takes == "record" else tables(lambda _, codes: carrying(codes))
    options = bo.AuditOptions(takes=takes, calls=60, seed=4)
    place = "the record one row before" if takes == "record" else "the same row in the call before"
    claims = [check.claim for check in bo.audit(sampler, ALLOCATION, 4_000, options).findings]
    assert any(f"report of works with works of {place}" in claim for claim in claims)


@pytest.mark.parametrize("batched", [True, False])
def test_no_row_is_among_the_reports_and_among_the_truths(*, batched: bool) -> None:
    sizes = [1, 2, 3, 17, 1, 40, 100] if batched else [163]
    found = list(pairings(sizes, batched=batched))
    assert len({pairing.words for pairing in found}) == len(found) == (17 if batched else 12)
    for pairing in found:
        assert pairing.reports.size == pairing.truths.size > 0
        assert np.unique(pairing.reports).size == np.unique(pairing.truths).size == pairing.reports.size
        assert not np.intersect1d(pairing.reports, pairing.truths).size
        assert max(pairing.reports.max(), pairing.truths.max()) < sum(sizes)
    behind = next(pairing for pairing in found if pairing.words == "the record 2 rows behind")
    assert (behind.truths - behind.reports == 2).all()
    assert list(pairings([1], batched=True)) == []


def test_of_many_attributes_each_is_looked_at_with_itself_and_the_rest_by_chance() -> None:
    rng = np.random.default_rng(0)
    assert sorted(couples(rng, 3)) == [(a, b) for a in range(3) for b in range(3)]
    many = couples(rng, 40)
    assert len(set(many)) == len(many) == MOST_COUPLES
    assert {(a, a) for a in range(40)} <= set(many)
    assert triples(rng, 2) == [(0, 1, 0), (0, 1, 1)]
    assert list(left_out(4)) == []
    assert [text.count("256 of 1600 couples") for text in left_out(40)] == [1]
    together = triples(rng, 40)
    assert len(set(together)) == len(together) == MOST_TRIPLES
    assert all(a < c < 40 and 0 <= b < 40 for a, c, b in together)


@pytest.mark.slow
def test_links_of_a_sound_sampler_are_as_rare_as_their_tails_say() -> None:
    """Any matrix will do: of one that favours a report, too. Each kind at 0.4, 6 sigma."""
    rng, r, runs, error = np.random.default_rng(2), (2, 3), 40, 0.4
    looked_at = couples(rng, 2), triples(rng, 2)
    wrong = dict.fromkeys((NEAR, PLACE, CROWD), 0)
    for _ in range(runs):
        batches = []
        for size in (1, 2, 3, 9, 14, 30, 60):
            truths = random_records(rng, r, size)
            kept = rng.random(truths.shape) < 0.6
            batches.append(Rows(r, truths, np.where(kept, truths, rng.random(truths.shape) < 0.3)))
        beside = list(pairings([len(batch) for batch in batches], batched=True))
        kinds, _ = across.links_across(["a", "b"], batches, beside, *looked_at, batched=True)
        for claim, links in kinds.items():
            wrong[claim] += min(link.tail for link in links) <= math.log(error / len(links))
    assert max(wrong.values()) <= runs * error + 6 * math.sqrt(runs * error * (1 - error))


def test_the_crowd_of_a_batch_leaves_the_record_out_whose_truth_is_looked_at() -> None:
    """Where nothing is randomized, each record tells itself, and no other one."""
    rng, r = np.random.default_rng(3), (2, 3)
    truths = [random_records(rng, r, 2) for _ in range(300)]
    batches = [Rows(r, codes, codes) for codes in truths]
    links = across.by_crowd(["a", "b"], batches, couples(rng, 2))
    assert len(links) == 16
    assert min(link.tail for link in links) > math.log(1e-3 / 16)


def test_the_tail_of_a_table_pays_for_both_sides_of_each_cell_and_for_its_diagonal() -> None:
    """The truth of one record is told by the other code of the next: by no equal code, and by two cells."""
    truths = np.tile(np.array([[0, 0, 1, 1]], np.int32), 20)
    rows = Rows((2,), truths, np.roll(1 - truths, 1, axis=1))
    beside = next(p for p in pairings([80], batched=True) if p.words == "the record one row before")
    links, _ = across.by_pairing(["a"], rows, [beside], [(0, 0)], [])
    told = float(dependence.either(20, 20, 20, 40))
    assert links[0].words == "report of a with a of the record one row before"
    assert links[0].tail == pytest.approx(told + math.log(2 * 2 * 2 * 3))


def test_tables_that_are_too_large_for_their_cells_are_judged_by_their_equal_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(across, "LARGEST_TABLE", 3)
    audit = bo.audit(tables(neighbour_in_clear), ALLOCATION, 4_000, OPTIONS)
    assert any("report of works with smoker of the record one row before" in c.claim for c in audit.findings)
    assert bo.audit(tables(sound), ALLOCATION, 4_000, OPTIONS).holds


SOUND = tables(faults.sound)


def of_pandas(table: pa.Table, **changed: Any) -> Any:
    frame = SOUND(table).to_pandas()
    for name, value in changed.items():
        setattr(frame, name, value(frame))
    return frame


def records_of(table: pa.Table) -> list[dict[str, Any]]:
    """The last record has one name more."""
    records: list[dict[str, Any]] = SOUND(table).to_pylist()
    records[-1]["was"] = table["income"][0].as_py()
    return records


COLUMNS = "returns columns that the allocation does not release: "
MORE = "returns more than columns: "


@pytest.mark.parametrize(
    ("sampler", "claim"),
    [
        (lambda t: SOUND(t).append_column("was", t["income"]), f"{COLUMNS}'was'"),
        (records_of, f"{COLUMNS}'was'"),
        (lambda t: of_pandas(t).assign(was=t["income"], more=1), f"{COLUMNS}'was', 'more'"),
        (lambda t: of_pandas(t, index=lambda _: t["income"].to_pylist()), f"{MORE}an index of the rows"),
        (lambda t: of_pandas(t, index=lambda f: f.index.rename("3")), f"{MORE}an index of the rows"),
        (lambda t: of_pandas(t, attrs=lambda _: {"was": 3}), f"{MORE}attributes of the data frame"),
        (lambda t: SOUND(t).replace_schema_metadata({"was": "3"}), f"{MORE}metadata of the schema"),
        (
            lambda t: SOUND(t).cast(
                pa.schema([f.with_metadata({"was": "3"}) for f in SOUND(t).schema]),
            ),
            f"{MORE}metadata of the schema",
        ),
        (
            lambda t: pa.Table.from_pandas(of_pandas(t, index=lambda f: pd.RangeIndex(3, len(f) + 3))),
            f"{MORE}metadata of the schema",
        ),
        (
            lambda t: pa.Table.from_pandas(of_pandas(t, index=lambda _: t["income"].to_pandas())),
            f"{COLUMNS}'__index_level_0__'",
        ),
    ],
)
def test_what_comes_back_beside_the_declared_columns_is_found(sampler: Any, claim: str) -> None:
    audit = bo.audit(sampler, ALLOCATION, 1_000, bo.AuditOptions(takes="pyarrow", calls=4, seed=1))
    assert claim in [check.claim for check in audit.findings]
    assert f"FOUND  {claim} (a release holds the columns of the allocation and nothing else)" in str(audit)


@pytest.mark.parametrize(
    "sampler",
    [
        of_pandas,
        lambda t: of_pandas(t, index=lambda f: pd.Index(np.arange(len(f)))),
        lambda t: pa.Table.from_pandas(of_pandas(t)),
        lambda t: SOUND(t).to_batches()[0],
    ],
)
def test_tables_with_nothing_but_their_columns_pass(sampler: Any) -> None:
    audit = bo.audit(sampler, ALLOCATION, 1_000, bo.AuditOptions(takes="pyarrow", calls=4, seed=1))
    assert audit.findings == ()


def test_what_is_not_seen_of_other_records_is_told() -> None:
    audit = bo.audit(SOUND, ALLOCATION, 1_000, OPTIONS)
    assert any("values of other records that stand further away than 16 rows" in note for note in audit.notes)
