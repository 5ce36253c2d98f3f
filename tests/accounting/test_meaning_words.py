"""What the sentences say, and that none of them says more than is true."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

import pytest

import budget_opt as bo
from budget_opt.accounting import words
from budget_opt.accounting.words import odds_text
from budget_opt.mechanisms.exact import exact
from tests.accounting.meaning_problems import allocation_of

OVERSTATED = (
    r"anonym",
    r"cannot be (identified|re-?identified|found|traced|learned|linked|recognised|recognized)",
    r"impossible to",
    r"\b(safe|secure|secret|hidden from)\b",
    r"guarantees? (that nobody|anonymity|privacy)",
    r"no(body|thing) (can|will) (learn|know|find|tell|be)",
    r"nothing can be learned",
    r"fully protected",
    r"(?<!differentially )\bprivate\b(?! data)",
    r"protects? (everybody|everyone|all)",
)
"""What no page may say of a release under differential privacy."""

FIELDS = {
    "record": {},
    "person": {"unit": {"of": "person", "id": "pid", "max_rows": 3}, "dropped": ["pid"]},
    "one record each": {"unit": {"of": "person", "id": "pid"}, "dropped": ["pid"]},
    "waves": {"waves": 4},
    "person in waves": {"unit": {"of": "person", "id": "pid", "max_rows": 2}, "dropped": ["pid"], "waves": 5},
    "public": {"public": [{"name": "wave", "why": "the same for everybody"}], "row_order": "public"},
    "stated": {"provenance": dict.fromkeys(("weights", "floors", "domains", "scores", "total"), "public")},
}
EPSILONS = ((0.0, 0.0), (0.1, 0.2), (1.0, 1.0), (10.0, 9.0), (400.0, 400.0))


def meanings() -> Iterator[tuple[str, bo.Allocation, bo.Meaning]]:
    for name, fields in FIELDS.items():
        # the epsilons and the fields meet in few sentences: those of a record, and the largest factors
        for epsilons in EPSILONS if name == "record" else EPSILONS[-3::2]:
            allocation = allocation_of([3, 2], epsilons, **fields)
            yield name, allocation, bo.meaning(allocation, joint={("a", "b"): [[4, 1], [1, 1], [0, 3]]})


@pytest.fixture(scope="module")
def all_meanings() -> list[tuple[str, bo.Allocation, bo.Meaning]]:
    return list(meanings())


def joined(text: object) -> str:
    return " ".join(str(text).split())


def test_no_sentence_overstates_what_is_guaranteed(
    all_meanings: list[tuple[str, bo.Allocation, bo.Meaning]],
) -> None:
    for _, _, found in all_meanings:
        text = joined(found)
        for overstated in OVERSTATED:
            assert not re.search(overstated, text, re.IGNORECASE), overstated


def test_every_meaning_says_what_is_not_bounded(
    all_meanings: list[tuple[str, bo.Allocation, bo.Meaning]],
) -> None:
    for _, _, found in all_meanings:
        text = joined(found)
        assert "What a column shows when it is seen alone is no limit for what is learned about it" in text
        assert "Who is in the table is not hidden" in text
        assert "The number of records is public." in text
        assert "about the same people" in text or "of the same people" in text
        assert "can be learned, and may be applied to its members" in text
        assert "taken to be public" in text


def test_a_sentence_ends_and_begins_as_one(
    all_meanings: list[tuple[str, bo.Allocation, bo.Meaning]],
) -> None:
    for _, _, found in all_meanings:
        for sentence in (*found.sentences, found.approximate):
            assert re.match(r"[A-Z0-9]", sentence)
            assert sentence.endswith(".")
            assert ".." not in sentence
            assert "  " not in sentence
            assert "inf" not in re.findall(r"\w+", sentence)
            assert "nan" not in sentence


def test_a_small_loss_is_told_by_what_it_makes_of_a_suspicion() -> None:
    (sentence,) = (
        one for one in bo.meaning(allocation_of([3, 2], [1.0, 1.0])).sentences if "columns" in one[:12]
    )
    assert "multiply the odds of anything about it by at most 7.39." in sentence
    # odds of 1 to 99 times e^2 are a probability of 0.0694...
    assert "A suspicion of 1 % becomes at most one of 7.0 %." in sentence


def test_a_factor_above_a_million_is_called_no_useful_limit() -> None:
    limit = math.log(words.USEFUL)
    for loss, useful in ((limit - 0.01, True), (limit + 0.01, False), (750.0, False)):
        allocation = allocation_of([2, 2], [round(loss, 3), 0.0])
        said = bo.meaning(allocation).sentences[0]
        assert ("no useful limit" in said) is not useful
        assert ("A suspicion of 1 %" in said) is useful
    assert "factor of up to exp(88.73)" in bo.meaning(allocation_of([2, 2], [750.0, 0.0])).sentences[0]


@pytest.mark.parametrize("loss", [0.0, 1e-9, 0.1, 1.0, 2.302585092994046, 20.0, 25.0, 700.0, 800.0])
def test_odds_are_never_told_below_what_they_are(loss: float) -> None:
    told = odds_text(loss)
    if told.startswith("exp("):
        assert float(told[4:-1]) >= loss
    else:
        assert math.log(float(told.replace(",", ""))) >= loss * (1 - 1e-15)


def test_persons_and_waves_are_told_with_their_losses() -> None:
    def said(name: str) -> str:
        return joined(bo.meaning(allocation_of([3, 2], [1.0, 0.5], **FIELDS[name])))

    assert (
        "A person with k records has k times the loss, and the factor to the power of k: two records, 20.1"
        in (said("record"))
    )
    assert (
        "may have up to 3 of them, so 3 times the loss, 4.5 nats: odds change by a factor of at most 90.1"
        in (said("person"))
    )
    assert "A person, told by the column pid, has one record" in said("one record each")
    apart = "Persons are told apart by equal ids, case and blanks included."
    assert all((apart in said(name)) == ("unit" in fields) for name, fields in FIELDS.items())
    assert "4 releases of the same people are planned" in said("waves")
    assert "it is 6 nats for a record: odds change by a factor of at most 404" in said("waves")
    assert "it is 15 nats for a person: odds change by a factor of at most 3,269,018, which is no useful" in (
        said("person in waves")
    )
    assert "the losses of w releases add up, and their factors multiply" in said("record")


def test_public_columns_pass_unprotected_and_the_reason_is_told() -> None:
    text = joined(bo.meaning(allocation_of([3, 2], [1.0, 0.5], **FIELDS["public"])))
    assert "Released unprotected, every value as it is, for the reason given: wave, because: the same" in text
    assert "What these tell of anybody is outside every figure here." in text
    assert "Rows keep their original order" in text
    plain = joined(bo.meaning(allocation_of([3, 2], [1.0, 0.5])))
    assert "No column is released unprotected." in plain
    assert "Rows keep their original order" not in plain


def test_what_is_not_stated_to_be_public_is_assumed_to_be() -> None:
    assumed = joined(bo.meaning(allocation_of([3, 2], [1.0, 0.5])))
    assert (
        "The guarantee assumes that weights, domains and total were fixed without looking at the data."
        in assumed
    )
    stated = joined(bo.meaning(allocation_of([3, 2], [1.0, 0.5], **FIELDS["stated"])))
    assert "assumes" not in stated
    assert "stated to be public." in stated


def test_the_document_has_every_figure_and_is_strict_json(
    all_meanings: list[tuple[str, bo.Allocation, bo.Meaning]],
) -> None:
    for _, allocation, found in all_meanings:
        document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert set(document) == {"columns", "record", "joints", "approximate", "sentences"}
        record = document["record"]
        assert record["loss"] == allocation.loss
        rows, waves = allocation.unit.max_rows, allocation.waves
        assert exact(record["unit_loss"]) >= rows * exact(allocation.loss)
        assert exact(record["planned_loss"]) >= rows * waves * exact(allocation.loss)
        factor = record["odds_factor"]
        assert (factor is None) is (allocation.loss >= 709)
        assert [column["name"] for column in document["columns"]] == ["a", "b"]
        assert document["joints"][0]["attributes"] == ["a", "b"]


def test_columns_that_are_not_released_are_told_as_that() -> None:
    assert "not released" in str(bo.meaning(allocation_of([3, 2], [1.0, 0.0])))


# --- what was made from the data before leaves with the release, and every figure counts it ---

PILOT = {"provenance": {"weights": "private data, epsilon 50"}}
OUTSIDE = {"provenance": {"weights": "private data", "floors": "private data, epsilon 0.5"}}
GROUPED = {"unit": {"of": "person", "id": "pid", "max_rows": 2}, "dropped": ["pid"]}


def test_what_was_paid_before_counts_for_a_record_a_person_and_waves() -> None:
    record = joined(bo.meaning(allocation_of([3, 2], [1.0, 1.0], **PILOT)))
    assert "by a factor of up to exp(52)" in record
    assert "two records, exp(104)." in record
    assert "7.39" not in record.split("All columns together", 1)[1]
    person = bo.meaning(allocation_of([3, 2], [1.0, 1.0], **PILOT, **GROUPED))
    assert "104 nats: odds change by a factor of at most exp(104)" in joined(person)
    assert (person.record.loss, person.record.unit_loss) == (pytest.approx(52), pytest.approx(104))
    assert person.record.making_epsilon == 50
    waves = bo.meaning(allocation_of([3, 2], [1.0, 1.0], **PILOT, **GROUPED, waves=3))
    # the pilot once, the release three times, two records: 2 (3 * 2 + 50)
    assert waves.record.planned_loss == pytest.approx(112)
    assert "it is 112 nats for a person: odds change by a factor of at most exp(112)" in joined(waves)


def test_verify_and_show_count_it_too() -> None:
    allocation = allocation_of([3, 2], [1.0, 1.0], **PILOT, **GROUPED)
    notes = " ".join(bo.verify(allocation).notes)
    assert "104 nats: odds change by a factor of at most exp(104)" in notes
    assert "Beside the sum, 52 nats for certain" in notes
    assert "50 nats more for what was made from the data before" in str(allocation)


def test_no_sentence_states_a_bound_where_no_epsilon_bounds_the_allocation() -> None:
    for fields in ({}, GROUPED, {"waves": 3}, GROUPED | {"waves": 3}):
        for epsilons in ([1.0, 1.0], [40.0, 40.0]):
            allocation = allocation_of([3, 2], epsilons, **OUTSIDE, **fields)
            found = bo.meaning(allocation)
            assert found.record.allocation_outside_guarantee
            said = [*found.sentences, found.approximate, *bo.verify(allocation).notes, str(allocation)]
            for text in said:
                for sentence in re.split(r"(?<=[.])\s+(?=[A-Z])", joined(text)):
                    if re.search(
                        r"\bat most\b|up to exp|factor of|two records, |for certain|The limit for", sentence
                    ):
                        assert "the allocation itself is outside the guarantee" in sentence, sentence
            assert "the price of a record is" not in " ".join(said).lower()
