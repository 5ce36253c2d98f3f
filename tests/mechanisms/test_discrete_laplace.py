"""Integer noise: its law, exactly, its privacy, and that the production source draws it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from budget_opt.errors import RandomSourceError
from budget_opt.mechanisms import discrete_laplace as discrete_laplace_module
from budget_opt.mechanisms.discrete_laplace import discrete_laplace, noise_variance
from budget_opt.randomizer import entropy
from budget_opt.randomizer.entropy import fresh_below

REJECTED = 10**9
RATES = [Fraction(1, 2), Fraction(2), Fraction(3, 2), Fraction(1, 5)]


def probability(rate: Fraction, k: int) -> float:
    return math.tanh(float(rate) / 2) * math.exp(-float(rate) * abs(k))


class _OpenChoiceError(Exception):
    """The next choice has these probabilities."""


Choice = Callable[[Sequence[float]], int]
"""Which of several things happens, from their probabilities."""


def law_of(draw: Callable[[Choice], int], cutoff: float) -> tuple[dict[int, float], float]:
    """The probability of each outcome over all sequences of choices above `cutoff`, and that of the rest."""
    found: dict[int, float] = defaultdict(float)
    rest, waiting = 0.0, [((), 1.0)]
    while waiting:
        made, chance = waiting.pop()
        script = iter(made)

        def choice(probabilities: Sequence[float], script: Iterator[int] = script) -> int:
            for chosen in script:
                return chosen
            raise _OpenChoiceError(probabilities)

        try:
            found[draw(choice)] += chance
        except _OpenChoiceError as more:
            for chosen, share in enumerate(more.args[0]):
                if chance * share < cutoff:
                    rest += chance * share
                else:
                    waiting.append(((*made, chosen), chance * share))
    return found, rest


@pytest.mark.parametrize(("top", "bottom"), [(0, 1), (1, 1), (1, 2), (2, 3), (7, 9)])
def test_the_coin_of_the_noise_has_exactly_the_probability_exp(top, bottom):
    """Each draw is below `top` or not; runs longer than 20 have less than 1e-18 in all."""

    def coin(choice: Choice) -> int:
        class Drawn(int):
            def __lt__(self, limit: int) -> bool:
                return bool(choice([1 - limit / self, limit / self]))

        return discrete_laplace_module._with_exp_probability(top, bottom, Drawn)

    found, rest = law_of(coin, 1e-18)
    assert rest < 1e-15
    assert found[True] == pytest.approx(math.exp(-top / bottom), rel=1e-12)


class _NextRoundError(Exception):
    """The round was rejected, and another begins from nothing, with the law of the first."""


@pytest.mark.parametrize("rate", RATES)
def test_the_law_of_the_noise_is_exact(rate, monkeypatch):
    """Of one round with coins of exactly exp, given that it is not rejected."""

    def draw(choice: Choice) -> int:
        coins: list[bool] = []
        drawn = 0

        def coin(top: int, bottom: int, below: object) -> bool:
            chance = math.exp(-top / bottom)
            coins.append(chance == 1 or bool(choice([1 - chance, chance])))
            return coins[-1]

        def below(limit: int) -> int:
            nonlocal drawn
            drawn += 1
            if drawn == 3 or (drawn == 2 and not coins[0]):
                raise _NextRoundError
            return choice([1 / limit] * limit)

        monkeypatch.setattr(discrete_laplace_module, "_with_exp_probability", coin)
        try:
            return discrete_laplace(rate, below)
        except _NextRoundError:
            return REJECTED

    found, rest = law_of(draw, 1e-14)
    accepted = 1 - found.pop(REJECTED)
    assert rest < 1e-12
    for k in range(-60, 61):
        assert found[k] / accepted == pytest.approx(probability(rate, k), abs=1e-11)


@pytest.mark.parametrize("rate", [*RATES, Fraction(1, 10**6), Fraction(30)])
def test_the_stated_variance_is_that_of_the_law(rate):
    top = int(80 / rate) + 2 if rate > Fraction(1, 1000) else 0
    if top:
        expected = math.fsum(k * k * probability(rate, k) for k in range(-top, top + 1))
    else:
        expected = 2 / float(rate) ** 2  # that of the continuous law, to rate^2 / 12
    assert noise_variance(rate) == pytest.approx(expected, rel=1e-9)
    assert noise_variance(Fraction(10_000)) == 0.0


def test_fresh_draws_follow_the_law():
    """Chi-square over 13 cells at 1e-9; at 20,000 draws a shift of 0.03 of the mass is noticed."""
    rate, draws = Fraction(2, 5), 20_000
    seen = Counter(max(-6, min(6, discrete_laplace(rate, fresh_below))) for _ in range(draws))
    inner = np.array([probability(rate, k) for k in range(-5, 6)])
    tail = (1 - inner.sum()) / 2
    expected = draws * np.array([tail, *inner, tail])
    statistic = sum((seen[k] - e) ** 2 / e for k, e in zip(range(-6, 7), expected, strict=True))
    assert statistic < chi2.isf(1e-9, 12)


@pytest.mark.parametrize("limit", [1, 2, 3, 255, 256, 257, 1000])
def test_fresh_numbers_stay_below_their_limit_and_reach_both_ends(limit):
    drawn = {fresh_below(limit) for _ in range(60 * limit if limit < 10 else 3000)}
    assert min(drawn) >= 0
    assert max(drawn) < limit
    assert len(drawn) > limit * 0.9 or limit > 999


def test_fresh_numbers_are_uniform_as_every_byte_maps_to_one(monkeypatch):
    """All bytes in turn: each number below 5 comes equally often, and what lies beyond is drawn again."""
    turn = iter(bytes([byte]) for byte in range(256))
    monkeypatch.setattr(entropy, "fresh_bytes", lambda count: next(turn))
    seen: Counter[int] = Counter()
    try:
        while True:
            seen[fresh_below(5)] += 1
    except StopIteration:
        pass
    assert seen == dict.fromkeys(range(5), 32)


def test_r7_a_random_source_that_fails_stops_the_noise(monkeypatch):
    monkeypatch.setattr("os.urandom", lambda count: b"")
    with pytest.raises(RandomSourceError, match="too few"):
        discrete_laplace(Fraction(1), fresh_below)
