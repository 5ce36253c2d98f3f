"""One record at a time under a matrix that a known source chose: R1, R2, and what both readers refuse."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.allocation.document import allocation_of
from budget_opt.errors import AllocationError, InputError
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.randomizer.local import randomizer as local_module
from budget_opt.randomizer.local.document import terms_of_document
from budget_opt.randomizer.local.randomizer import LocalRandomizer
from budget_opt.randomizer.local.sources import terms_from

LABELS = ("often", "seldom", "hardly")
SHARES = {"distributions": [[0.7, 0.25, 0.05]]}
ALLOCATION = bo.uniform(
    bo.Problem(
        attributes=[
            bo.Attribute("s", categories=LABELS, source=SHARES, epsilon=3.0),
            bo.Attribute("x", categories=4),
        ],
        moments=[bo.CrossMoment("x")],
        total_epsilon=4.0,
    )
)
SAMPLER = ALLOCATION["s"].sampler
assert isinstance(SAMPLER, MatrixSampler)
THRESHOLDS, ROWS = SAMPLER.thresholds, [[str(count) for count in row] for row in SAMPLER.counts]


def test_r1_a_report_is_what_the_row_of_the_truth_makes_of_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words on both sides of every threshold of every row; x has a word of 32 bits behind it."""
    local = LocalRandomizer(ALLOCATION)
    words = {word for row in THRESHOLDS for end in row for word in (end - 1, end) if 0 <= word < 2**64}
    for word in {0, *words}:
        drawn = word.to_bytes(8, "little") + bytes(4)
        monkeypatch.setattr(local_module, "fresh_bytes", lambda size, drawn=drawn: drawn[:size])
        for truth, ends in enumerate(THRESHOLDS):
            due = next(report for report, end in enumerate(ends) if word < end)
            assert local.report({"s": LABELS[truth], "x": 0})["s"] == LABELS[due]


def test_both_readers_understand_the_same_of_a_matrix() -> None:
    document = json.loads(json.dumps(ALLOCATION.to_dict()))
    assert terms_of_document(document) == terms_from(allocation_of(document))


@pytest.mark.parametrize(
    "sampler",
    [
        *({"bits": bits, "rows": ROWS} for bits in (32, 16, True, "64", None)),
        {"bits": 64, "rows": ROWS[:2]},
        {"bits": 64, "rows": [[row[0], row[2]] for row in ROWS[:2]]},
        {"bits": 64, "rows": [[int(count) for count in row] for row in ROWS]},
        {"bits": 64, "rows": [[f"+{count}" for count in row] for row in ROWS]},
        {"bits": 64, "rows": [[str(2**64), "0", "0"], ["0", str(2**64), "0"], ROWS[2]]},
        {"bits": 64, "rows": [ROWS[0], ROWS[1], [str(2**64 - 2), "1", "1"]]},
        {"bits": 64, "rows": ROWS[0]},
        {"bits": 64, "q": "5"},
        {"bits": 64, "rows": ROWS, "q": "5"},
        {},
    ],
)
def test_r2_a_matrix_that_is_none_or_loses_more_is_refused_by_both_readers(sampler: dict[str, Any]) -> None:
    document = json.loads(json.dumps(ALLOCATION.to_dict()))
    document["attributes"][0]["sampler"] = sampler
    with pytest.raises(AllocationError, match="sampler"):
        terms_of_document(copy.deepcopy(document))
    with pytest.raises(InputError, match="sampler"):
        allocation_of(document)


def test_a_width_is_an_integer_as_words_are_whole_bytes() -> None:
    document = json.loads(json.dumps(ALLOCATION.to_dict()))
    document["attributes"][0]["sampler"]["bits"] = 64.0
    with contextlib.suppress(AllocationError):  # pydantic 2.7 refuses 64.0, later ones read it as 64
        assert type(allocation_of(document)["s"].sampler.bits) is int
    with pytest.raises(AllocationError, match="bits of 32, 64, 128"):
        terms_of_document(document)
