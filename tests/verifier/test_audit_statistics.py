"""The laws behind `audit`: bounds that cover, kept cells, tails of dependence, and false alarms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import budget_opt as bo
from budget_opt.tables.binomial import at_least, at_most
from budget_opt.verifier.auditing import auditor, bounds, checks, dependence, intervals, kept, pairs, power
from budget_opt.verifier.auditing.across import Carrier
from budget_opt.verifier.auditing.events import Companion, Event, chosen_event, companions
from budget_opt.verifier.auditing.extras import Extras
from budget_opt.verifier.auditing.judged import judged_blocks
from budget_opt.verifier.auditing.rows import Codes, Rows, batch_sizes, few_records, random_records
from budget_opt.verifier.auditing.samplers import SamplerError
from budget_opt.verifier.auditing.settings import Settings
from budget_opt.verifier.auditing.whole import record_loss_at_least
from tests.verifier.sample_samplers import ALLOCATION


@pytest.mark.parametrize("error", [1e-12, 1e-9, 1e-3, 0.05])
@pytest.mark.parametrize("n", [1, 2, 30, 1000, 10**6])
def test_the_bounds_of_clopper_and_pearson_are_just_outside_their_tails(n: int, error: float) -> None:
    k = np.unique(np.concatenate([[0, n], np.geomspace(1, n, 40).astype(int)]))
    low, high = intervals.lower(k, n, error), intervals.upper(k, n, error)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert low[0] == 0
    assert high[-1] == 1
    for count, p in zip(k[1:], low[1:], strict=True):
        assert error * (1 - 1e-5) <= at_least(count, n, p * (1 + 1e-9)) * (1 + 1e-8)
        assert at_least(count, n, p) <= error
    for count, p in zip(k[:-1], high[:-1], strict=True):
        assert at_most(count, n, p) <= error


@pytest.mark.parametrize("n", [1, 7, 40])
def test_a_bound_is_wrong_with_no_more_than_its_error_whatever_the_probability(n: int) -> None:
    """Exactly: the probabilities of all counts at which the bound is wrong are added."""
    counts = np.arange(n + 1)
    low, high = intervals.lower(counts, n, 0.05), intervals.upper(counts, n, 0.05)
    for p in np.linspace(0.001, 0.999, 499):
        probability = stats.binom.pmf(counts, n, p)
        assert probability[low > p].sum() <= 0.05
        assert probability[high < p].sum() <= 0.05


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_a_matrix_keeps_no_more_than_its_loss_allows(r: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).dirichlet(np.ones(r), size=r)
    loss = np.log((matrix[:, None] / matrix[None]).max())
    share = float(np.trace(matrix) / r)
    assert kept.loss_of_truth(share, kept.log_others([r])) <= loss + 1e-9


def test_randomized_response_keeps_all_that_its_loss_allows() -> None:
    for attribute in ALLOCATION.attributes:
        others = kept.log_others([attribute.cardinality])
        found = kept.loss_of_truth(attribute.truth_probability, others)
        assert found == pytest.approx(attribute.loss, abs=1e-11)
        truth = power.largest_truth(attribute.epsilon, attribute.cardinality)
        assert truth == pytest.approx(attribute.truth_probability, abs=1e-8)


@given(st.integers(1, 60), st.data())
def test_the_tail_of_flags_that_go_together_is_at_least_the_exact_one(n: int, data: Any) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    x = data.draw(st.integers(max(0, a + b - n), min(a, b)))
    exact = stats.hypergeom(n, b, a)
    assert float(dependence.together(x, a, b, n)) >= math.log(max(exact.sf(x - 1), 1e-300)) - 1e-9
    assert float(dependence.apart(x, a, b, n)) >= math.log(max(exact.cdf(x), 1e-300)) - 1e-9


def test_all_pairs_and_reports_give_no_more_than_the_loss_and_nearly_as_much() -> None:
    matrix = np.array([[0.5, 0.3, 0.2, 0.0], [0.25, 0.5, 0.25, 0.0], [0.1, 0.3, 0.6, 0.0]])
    loss, where = pairs.loss_at_least((matrix * 10**6).astype(np.int64), 1e-9)
    assert math.log(5) - 0.06 < loss < math.log(5)
    assert where == (0, 2, 0)


def test_without_any_count_nothing_is_shown() -> None:
    assert pairs.loss_at_least(np.zeros((2, 3), dtype=np.int64), 1e-9)[0] == -math.inf
    assert intervals.loss_at_least((0, 10), (5, 10), 1e-9) == -math.inf
    assert kept.loss_at_least(0, 10, 0.0, 1e-9) == -math.inf


def test_sizes_of_batches_add_up_and_reach_the_ends() -> None:
    rng = np.random.default_rng(0)
    for records in (0, 1, 450, 90_000):
        assert sum(batch_sizes(rng, records)) == records
    sizes = few_records(rng, 40)
    assert {1, 2, 3} < set(sizes)
    assert len(set(batch_sizes(rng, 90_000))) > 8


def drawn(rng: np.random.Generator, truths: Codes, cardinalities: tuple[int, ...]) -> Rows:
    """Sound reports at exactly the allocation's matrices, as codes."""
    noise = [
        rng.choice(r, size=truths.shape[1], p=[a.truth_probability, *[a.other_probability] * (r - 1)])
        for r, a in zip(cardinalities, ALLOCATION.attributes, strict=True)
    ]
    reports = (truths + np.stack(noise)) % np.array(cardinalities)[:, None]
    return Rows(cardinalities, truths, reports.astype(np.int32))


def test_a_chosen_event_is_judged_on_records_that_it_was_not_chosen_on() -> None:
    """Chosen among noise, it shows too much on its own records now and then, and on others it does not."""
    rng, r = np.random.default_rng(5), (2, 5, 2)
    wrong = 0
    for _ in range(300):
        rows, fresh = (drawn(rng, random_records(rng, r, 600), r) for _ in range(2))
        event = chosen_event(rows, 1, [*companions([0, 2])], 1.0)
        wrong += event.loss_at_least(fresh, 0.05) > 1
    assert wrong <= 300 * 0.05 + 6 * math.sqrt(300 * 0.05 * 0.95)


def test_the_product_test_of_a_record_is_taken_from_the_second_half_of_its_pair() -> None:
    """A first half that tells everything chooses the limit, and shows nothing by itself."""
    rng, r, n = np.random.default_rng(6), (2, 5, 2), 8_000
    explored = drawn(rng, random_records(rng, r, 20_000), r)
    events = [Event(b, 1, 0, Companion("alone"), np.arange(k + 1) == 1, 0.0) for b, k in enumerate(r)]
    is_truth = rng.integers(0, 2, n) == 0
    truths = np.repeat(is_truth[None].astype(np.int32), 3, axis=0)
    sound = drawn(rng, truths, r)
    shown = record_loss_at_least(explored, sound, is_truth, events, 1e-9)
    assert 1 < shown < ALLOCATION.loss
    telling = Rows(r, truths, truths)
    assert record_loss_at_least(explored, telling, is_truth, events, 1e-9) > ALLOCATION.loss
    half = np.arange(n) < n // 2
    mixed = Rows(r, truths, np.where(half, truths, rng.integers(0, 2, truths.shape)).astype(np.int32))
    assert record_loss_at_least(explored, mixed, is_truth, events, 1e-9) <= 0


def test_a_companion_tells_reports_noise_and_the_number_of_other_kept_cells() -> None:
    rows = Rows((2, 3), np.array([[0, 1], [2, 0]], np.int32), np.array([[0, 0], [1, 3]], np.int32))
    assert np.array_equal(Companion("report", 1).values(rows, 0)[0], [1, 3])
    assert np.array_equal(Companion("noise", 1).values(rows, 0)[0], [2, 3])
    assert np.array_equal(Companion("others").values(rows, 1)[0], [1, 0])


class CodesBox:
    """A sound sampler of codes, in place of `BlackBox`: no tables are made."""

    attributes = ALLOCATION.attributes
    judged = judged_blocks(ALLOCATION.blocks, ALLOCATION.question.names, range(len(attributes)))
    cardinalities = tuple(one.cardinality for one in judged)
    batched = in_process = True
    extras = Extras()
    calls = records = largest = 0

    def __init__(self, sampler: np.random.Generator, *_: object) -> None:
        self._rng = sampler

    def table(self, truths: Codes) -> None:
        del truths

    def rows(self, truths: Codes) -> Rows:
        return drawn(self._rng, truths, self.cardinalities)


@pytest.mark.slow
def test_a_sound_sampler_is_convicted_no_more_often_than_the_error_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """120 audits at an error of 0.4 of samplers that spend all that is allowed (6 sigma)."""
    monkeypatch.setattr(auditor, "BlackBox", CodesBox)
    runs, convicted, error = 120, 0, 0.4
    for seed in range(runs):
        settings = Settings(trials=1_500, calls=8, error=error, seed=seed, undeclared=0)
        sampler: Any = np.random.default_rng([seed, 1])
        try:
            convicted += not auditor.audit_sampler(sampler, ALLOCATION, settings).holds
        except SamplerError:
            convicted += 1
    assert convicted <= runs * error + 6 * math.sqrt(runs * error * (1 - error))


def test_the_errors_of_all_tests_add_up_to_no_more_than_the_stated_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And to no less than half of it, so that little power is given away."""
    spent: list[float] = []

    def recorded(home: Any, name: str) -> None:
        judge = getattr(home, name)

        def judged(*arguments: Any) -> Any:
            spent.append(arguments[-1])
            return judge(*arguments)

        monkeypatch.setattr(home, name, judged)

    monkeypatch.setattr(auditor, "BlackBox", CodesBox)
    recorded(bounds.kept, "loss_at_least")
    recorded(bounds.pairs, "loss_at_least")
    recorded(bounds, "record_loss_at_least")
    recorded(Event, "loss_at_least")
    recorded(Carrier, "loss_at_least")
    recorded(checks, "chance_check")
    recorded(auditor, "chance_check")
    settings = Settings(trials=1_500, calls=8, error=0.05, seed=1, undeclared=0)
    sampler: Any = np.random.default_rng(2)
    auditor.audit_sampler(sampler, ALLOCATION, settings)
    assert len(spent) > 60
    assert 0.025 < math.fsum(spent) <= 0.05 * (1 + 1e-12)


def test_what_would_be_noticed_is_noticed_nine_times_in_ten() -> None:
    attribute, n, error = ALLOCATION["income"], 20_000, 1e-9
    noticed = power.noticeable_epsilon(attribute, n, error)
    others = kept.log_others([5])
    p = power.largest_truth(noticed, 5.0)
    counts = np.arange(n + 1)
    shown = np.array([kept.loss_at_least(int(k), n, others, error) > 1 for k in (0, n)])
    assert shown.tolist() == [False, True]
    least = next(k for k in range(int(n * 0.3), n) if kept.loss_at_least(k, n, others, error) > 1)
    assert stats.binom.sf(least - 1, n, p) == pytest.approx(0.9, abs=1e-3)
    assert counts[least] > n * attribute.truth_probability
    assert power.noticeable_epsilon(attribute, 5, error) == math.inf


def faulty_matrix(r: int, epsilon: float, *, seldom: bool, loss: float) -> Any:
    """Randomized response but for one entry: the report 0 of category 1, or of 0, which makes this loss."""
    kept = power.largest_truth(epsilon, r)
    other = (1 - kept) / (r - 1)
    matrix = np.full((r, r + 1), other) * (np.arange(r + 1) < r)
    np.fill_diagonal(matrix, kept)
    line, entry = (1, kept / math.exp(loss)) if seldom else (0, other * math.exp(loss))
    matrix[line, 1:r] *= (1 - entry) / (1 - matrix[line, 0])
    matrix[line, 0] = entry
    return matrix


@pytest.mark.parametrize("seldom", [True, False])
def test_a_fault_of_one_pair_of_categories_is_noticed_nine_times_in_ten_from_its_figure(
    *, seldom: bool
) -> None:
    """And the worse of both kinds not much earlier: the figure is that of the test of all pairs."""
    rng, attribute, n, error = np.random.default_rng(8), ALLOCATION["income"], 20_000, 1e-9
    noticed = power.noticeable_in_pair(attribute, n, error)
    assert 1 < noticed < 2
    found = {}
    for loss in (noticed, 1 + (noticed - 1) / 4):
        matrix = faulty_matrix(5, 1.0, seldom=seldom, loss=loss)
        tables = [np.stack([rng.multinomial(n // 5, line) for line in matrix]) for _ in range(200)]
        found[loss] = sum(pairs.loss_at_least(table, error)[0] > 1 for table in tables)
    assert found[noticed] >= 180 - 6 * math.sqrt(200 * 0.9 * 0.1)
    assert min(found.values()) < 100


def test_of_many_categories_a_report_that_one_never_gives_goes_unnoticed_and_is_told() -> None:
    """The epsilon of category 7, which never becomes 8, is infinite; nothing else is claimed."""
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=100)], moments=[bo.CrossMoment("a")], total_epsilon=1.0
    )
    allocation = bo.uniform(problem)
    kept = allocation["a"].truth_probability
    rng = np.random.default_rng(9)

    def never(table: Any) -> Any:
        if not set(table["a"].to_pylist()) <= set(range(100)):
            raise ValueError("undeclared")
        truths = table["a"].to_numpy()
        other = (truths + rng.integers(1, 100, truths.size)) % 100
        reports = np.where(rng.random(truths.size) < kept, truths, other)
        return {"a": np.where((truths == 7) & (reports == 8), 7, reports).tolist()}

    options = bo.AuditOptions(takes="pyarrow", calls=8, seed=1)
    audit = bo.audit(lambda table: pa.table(never(table)), allocation, 20_000, options)
    assert [bound.noticed_in_pair for bound in audit.bounds] == [math.inf, None]
    assert audit.excess_in_pair == math.inf
    assert "but not every fault of one pair of categories, however large" in str(audit)
    assert "one pair of categories not at any" in str(audit)
    assert audit.to_dict()["excess_noticed_in_pair"] is None


def test_the_number_of_calls_that_shows_a_record_left_as_it_is() -> None:
    needed = power.calls_to_notice([2, 5, 2], 3.0, 1e-10)
    assert needed is not None
    others = kept.log_others([2, 5, 2])
    assert kept.loss_at_least(needed, needed, others, 1e-10) > 3
    assert kept.loss_at_least(needed - 1, needed - 1, others, 1e-10) <= 3
    assert power.calls_to_notice([2], 30.0, 1e-10) is None


def test_more_trials_notice_less() -> None:
    from budget_opt.api.auditing import noticeable

    few, many = (noticeable(ALLOCATION, trials) for trials in (2_000, 200_000))
    assert all(1 < many[name].truth < few[name].truth for name in ("smoker", "income", "works"))
    assert all(1 < many[name].pair < few[name].pair for name in ("smoker", "income", "works"))
    with pytest.raises(bo.InputError, match="trials: is 999, must be at least 1,000"):
        noticeable(ALLOCATION, 999)
