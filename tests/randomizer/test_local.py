"""One record at a time has the matrix of whole tables, and every report words of its own: R1, R3, R6-R9."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import InputError, RandomSourceError, VerificationError
from budget_opt.mechanisms.sampler import Sampler, sampler_of_width
from budget_opt.model.attribute import Attribute
from budget_opt.randomizer.kernel import RandomizedResponse, blind_report
from budget_opt.randomizer.local import randomizer as module
from budget_opt.randomizer.local.randomizer import LocalRandomizer
from tests.randomizer.test_kernel import as_words, critical_words
from tests.randomizer.test_release_statistics import assert_binomial

EvenSplit = Callable[..., Allocation]
RECORD = {"city": "york", "size": 4, "owns": True, "age": 41, "wave": "w1"}


def fed(monkeypatch: pytest.MonkeyPatch, words: Iterator[int] | Callable[[int], bytes]) -> None:
    """Bytes of the test in place of the operating system's."""
    monkeypatch.setattr(module, "fresh_bytes", words)


def with_samplers(even_split: EvenSplit, samplers: list[Sampler]) -> Allocation:
    """An allocation with these integers, each of whose epsilons is what they lose."""
    made = even_split(1.0, *(Attribute(f"x{i}", categories=s.cardinality) for i, s in enumerate(samplers)))
    blocks = [
        replace(block, sampler=sampler, epsilon=sampler.loss)
        for block, sampler in zip(made.blocks, samplers, strict=True)
    ]
    total = 2.0 * sum(sampler.loss for sampler in samplers)
    question = made.question.with_fields(total_epsilon=total)
    return replace(made, question=question, blocks=tuple(blocks))


def test_r1_a_counter_over_all_12_bit_words_gives_the_matrix_exactly(
    monkeypatch: pytest.MonkeyPatch, even_split: EvenSplit
) -> None:
    """q a multiple of 2^(b-12): the 2^12 words that end in zeros stand for equally many words each."""
    counts = {2: 1250, 3: 1, 5: 563, 17: 240, 64: 63}
    samplers = [
        Sampler(r, bits, count << (bits - 12)) for bits in (32, 64, 128) for r, count in counts.items()
    ]
    local = LocalRandomizer(with_samplers(even_split, samplers))
    truths = {name: min(i, samplers[i].cardinality - 1) for i, name in enumerate(local.columns)}
    sizes = [sampler.bits // 8 for sampler in samplers]
    counter = iter(range(2**12))

    def words(size: int) -> bytes:
        assert size == sum(sizes)
        value = next(counter)
        return b"".join((value << (8 * one - 12)).to_bytes(one, "little") for one in sizes)

    fed(monkeypatch, words)
    reports = [tuple(local.report(truths).values()) for _ in range(2**12)]
    for i, (name, found) in enumerate(zip(local.columns, zip(*reports, strict=True), strict=True)):
        r, count = samplers[i].cardinality, counts[samplers[i].cardinality]
        expected = dict.fromkeys(range(r), count) | {truths[name]: 2**12 - (r - 1) * count}
        assert Counter(found) == expected


@given(st.sampled_from([32, 64, 128]), st.integers(2, 300), st.floats(1e-6, 60), st.data())
def test_r1_one_cell_and_arrays_are_randomized_alike(
    bits: int, r: int, epsilon: float, data: st.DataObject
) -> None:
    sampler = sampler_of_width(epsilon, r, bits)
    if sampler is None:
        return
    words = critical_words(sampler, np.random.default_rng(r))
    x = data.draw(st.integers(0, r - 1))
    arrays = RandomizedResponse(sampler).report(
        np.full(len(words), x, dtype=np.uint16), as_words(words, bits)
    )
    assert [sampler.report(x, word) for word in words] == arrays.tolist()


@pytest.mark.parametrize("r", [2, 3, 7, 256, 65537, 10**6])
def test_r36_without_a_sampler_the_report_is_that_of_arrays_and_no_truth_plays_a_part(r: int) -> None:
    kernel, words = module._Blind(r, None), [0, 1, 2**63, 2**64 - 1, *range(0, 2**64, 2**64 // 300)]
    arrays = blind_report(r, None).report(np.zeros(len(words), dtype=np.uint32), as_words(words, 64)).tolist()
    assert [kernel.report(0, word) for word in words] == arrays
    assert [kernel.report(r - 1, word) for word in words] == arrays


def test_r36_an_attribute_of_epsilon_0_is_left_out_unless_asked_for(even_split: EvenSplit) -> None:
    problem = even_split(2.0, Attribute("a", categories=3), Attribute("b", categories=["x", "y"])).question
    allocation = bo.allocation_from(problem, {"a": 2.0, "b": 0.0})
    local = LocalRandomizer(allocation)
    assert local.columns == ("a",)
    assert set(local.report({"a": 1})) == set(local.report({"a": 1, "b": "not looked at"})) == {"a"}
    whole = LocalRandomizer(allocation, include_empty=True)
    assert whole.columns == ("a", "b")
    assert whole.loss == local.loss == allocation.loss
    counts = np.array([whole.report({"a": 1, "b": "x"})["b"] == "x" for _ in range(4000)]).sum()
    assert_binomial(np.array([counts]), 4000, np.array([0.5]))
    with pytest.raises(InputError, match="nothing would be reported"):
        LocalRandomizer(bo.allocation_from(problem, {"a": 0.0, "b": 0.0}))


def test_r3_under_zero_words_every_attribute_changes(
    monkeypatch: pytest.MonkeyPatch, allocation: Allocation
) -> None:
    fed(monkeypatch, bytes)
    report = LocalRandomizer(allocation).report(RECORD)
    assert report == {"city": "leeds", "size": 1, "owns": False, "age": "[65, inf)", "wave": "w1"}
    assert list(report) == ["city", "size", "owns", "age", "wave"]


def test_r5_r33_every_attribute_has_bytes_of_its_own(
    monkeypatch: pytest.MonkeyPatch, allocation: Allocation
) -> None:
    """All words are ones, which keeps the truth, but those of one attribute."""
    local = LocalRandomizer(allocation)
    sizes = [allocation[name].sampler.bits // 8 for name in local.columns[:-1]]
    truth = {"city": "york", "size": 4, "owns": True, "age": "[30, 65)", "wave": "w1"}
    for i, name in enumerate(local.columns[:-1]):
        fed(
            monkeypatch,
            lambda _, i=i: b"".join((b"\0" if j == i else b"\xff") * size for j, size in enumerate(sizes)),
        )
        report = local.report(RECORD)
        assert [column for column in report if report[column] != truth[column]] == [name]


@pytest.mark.parametrize(("r", "epsilon"), [(2, 0.5), (3, 2.5), (17, 3.0)])
def test_r9_every_row_of_the_matrix_is_met(r: int, epsilon: float, even_split: EvenSplit) -> None:
    """A probability that is off by 0.025 is found; p + (1-p) p for p is off by far more."""
    allocation = even_split(epsilon, Attribute("x", categories=r))
    local, attribute = LocalRandomizer(allocation), allocation["x"]
    for truth in {0, r - 1}:
        reports = Counter(local.report({"x": truth})["x"] for _ in range(20_000))
        counts = np.array([reports[label] for label in range(r)])
        row = np.where(np.arange(r) == truth, attribute.truth_probability, attribute.other_probability)
        assert_binomial(counts, 20_000, row)


def test_r9_r33_attributes_and_reports_one_after_another_are_independent(even_split: EvenSplit) -> None:
    allocation = even_split(2.0, Attribute("a", categories=3), Attribute("b", categories=3))
    local = LocalRandomizer(allocation)
    pairs = np.array([list(local.report({"a": 0, "b": 0}).values()) for _ in range(20_000)])
    truth, other = allocation["a"].truth_probability, allocation["a"].other_probability
    row = np.array([truth, other, other])
    assert_binomial(np.bincount(pairs @ [3, 1], minlength=9), 20_000, np.outer(row, row).ravel())
    after = 3 * pairs[0::2, 0] + pairs[1::2, 0]
    assert_binomial(np.bincount(after, minlength=9), 10_000, np.outer(row, row).ravel())


def long_report(local: LocalRandomizer) -> tuple[Any, ...]:
    """Of a record of many attributes: two equal ones are no chance."""
    return tuple(local.report(dict.fromkeys(local.columns, 0)).values())


def child(local: LocalRandomizer, pipe: Any) -> None:
    pipe.send([long_report(local) for _ in range(3)])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_r6_copies_threads_and_processes_never_repeat_a_report(even_split: EvenSplit, method: str) -> None:
    """64 attributes of 64 categories, loss 0.01 each: two reports are equal with probability 1e-110."""
    local = LocalRandomizer(even_split(0.64, *(Attribute(f"x{i}", categories=64) for i in range(64))))
    local.report(dict.fromkeys(local.columns, 0))
    start = multiprocessing.get_context(method)
    found = []
    for _ in range(2 if method == "fork" else 1):
        receiver, sender = start.Pipe()
        process = start.Process(target=child, args=(local, sender))
        process.start()
        found += receiver.recv()
        process.join(30)
    with ThreadPoolExecutor(4) as threads:
        found += threads.map(long_report, [local] * 40)
    twins = [local, copy.copy(local), copy.deepcopy(local), pickle.loads(pickle.dumps(local))]
    found += [long_report(twin) for twin in twins for _ in range(3)]
    assert len(set(found)) == len(found) >= 3 + 40 + 12


@pytest.mark.parametrize(
    "broken",
    [
        lambda size: b"short",
        lambda size: bytes(size - 1),
        lambda size: bytes(size + 1),
        lambda size: [0] * size,
        lambda size: (_ for _ in ()).throw(OSError("no entropy")),
        lambda size: (_ for _ in ()).throw(NotImplementedError()),
    ],
    ids=["short", "one less", "one more", "no bytes", "error", "none"],
)
def test_r7_without_all_words_there_is_no_report(
    monkeypatch: pytest.MonkeyPatch, allocation: Allocation, broken: Callable[[int], Any]
) -> None:
    local = LocalRandomizer(allocation)
    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(RandomSourceError, match="operating system gave"):
        local.report(RECORD)


def test_r8_no_seed_has_any_effect(even_split: EvenSplit) -> None:
    local = LocalRandomizer(even_split(0.64, *(Attribute(f"x{i}", categories=64) for i in range(64))))
    found = set()
    for _ in range(3):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global state is what this is about
        found.add(long_report(local))
    assert len(found) == 3


def test_no_word_is_drawn_for_a_record_with_a_fault(
    monkeypatch: pytest.MonkeyPatch, allocation: Allocation
) -> None:
    def no_words(size: int) -> bytes:
        raise AssertionError

    fed(monkeypatch, no_words)
    for fault in ({"age": -1}, {"wave": []}, {"size": "4"}, {"more": 1}):
        with pytest.raises(bo.DataError):
            LocalRandomizer(allocation).report({**RECORD, **fault})


def test_an_allocation_that_overspends_makes_no_reports(even_split: EvenSplit) -> None:
    problem = even_split(2.0, Attribute("a", categories=3), Attribute("b", categories=3)).question
    with pytest.raises(VerificationError, match=r"of a record: is 2\.1, must be at most 2\.0") as caught:
        LocalRandomizer(bo.allocation_from(problem, {"a": 2.0, "b": 0.1}))
    assert caught.value.failed == ("epsilon of a record",)
    grouped = problem.with_fields(groups=[bo.Group("both", attributes=["a", "b"], epsilon_max=0.3)])
    LocalRandomizer(bo.allocation_from(grouped, {"a": 0.1, "b": 0.2}))  # 0.1 + 0.2 is 0.3 in decimals
    with pytest.raises(VerificationError, match="group both"):
        LocalRandomizer(bo.allocation_from(grouped, {"a": 0.1, "b": 0.20001}))
    allocation = bo.allocation_from(problem, {"a": 1.0, "b": 1.0})
    first, second = allocation.blocks
    for sampler, claim in (
        (Sampler(3, 32, first.sampler.q - 1), "loss of a"),
        (Sampler(2, 32, 2**31 - 1), "categories of a"),
    ):
        changed = replace(allocation, blocks=(replace(first, sampler=sampler), second))
        with pytest.raises(VerificationError) as caught:
            LocalRandomizer(changed)
        assert caught.value.failed == (claim,)


def test_20000_collected_reports_verify_and_give_estimates_within_6_sigma() -> None:
    problem = bo.Problem(
        attributes=[
            Attribute("smoker", categories=["no", "yes"]),
            Attribute("age", bins=[18, 30, 45, 65], missing="category", missing_score=40),
            Attribute("income", categories=5),
        ],
        moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment("age", "income")],
        total_epsilon=6.0,
        public=[{"name": "wave", "why": "the same for everybody"}],
    )
    allocation = bo.uniform(problem)
    rng = np.random.default_rng(5)
    income = rng.integers(0, 5, 20_000)
    smoker = rng.random(20_000) < 0.2 + 0.1 * income
    age = rng.integers(18, 66, 20_000)
    original = [
        {"smoker": "yes" if s else "no", "age": None if a == 33 else int(a), "income": int(i), "wave": 2}
        for s, a, i in zip(smoker, age, income, strict=True)
    ]
    local = LocalRandomizer(allocation)
    released = pd.DataFrame([local.report(record) for record in original])
    kept = pd.DataFrame(original)
    bo.verify_release(allocation, original=kept, released=released).require()
    for pair in (("smoker", "income"), ("age", "income")):
        estimate = bo.estimate.moment(released, allocation, *pair, target="data")
        ages = np.select([age == 33, age < 30, age < 45], [40.0, 24.0, 37.5], 55.0)
        scores = {"smoker": smoker * 1.0, "age": ages, "income": income * 1.0}
        truth = np.mean(np.prod([scores[name] - scores[name].mean() for name in pair], axis=0))
        assert abs(estimate.value - truth) < 6 * estimate.standard_error
