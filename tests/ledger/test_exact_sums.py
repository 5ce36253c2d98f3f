"""What is left is an exact sum of decimals, of each cap (DESIGN 2.7, R21)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import budget_opt as bo
from budget_opt.errors import BudgetExceededError, InputError
from budget_opt.ledger.account import Account
from budget_opt.ledger.amounts import amount_of, decimal_of, plain, plus
from budget_opt.mechanisms.exact import exact
from tests.ledger.charges import charge, spend

SMALL = charge(("a", "0.1"))


def test_r21_three_charges_of_a_tenth_fit_three_tenths_and_nothing_more(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=0.3))
    for number in range(3):
        spend(ledger, "d", SMALL, f"r{number}")
    assert ledger.left("d").total == 0.0
    assert ledger.spent("d").total == 0.3
    with pytest.raises(BudgetExceededError) as refused:
        ledger.reserve("d", charge(("a", "1e-300")), "one more")
    assert (refused.value.dataset, refused.value.asked, refused.value.left) == ("d", 1e-300, 0.0)


def test_r21_ten_charges_of_a_tenth_fit_one_and_the_eleventh_does_not(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=1.0))
    for number in range(10):
        spend(ledger, "d", SMALL, f"r{number}")
    with pytest.raises(BudgetExceededError, match=r"0\.1 of the total; 0 of 1 is left"):
        ledger.reserve("d", SMALL, "the eleventh")
    assert len(ledger.releases("d")) == 10


def test_r21_a_million_charges_of_a_millionth_are_exactly_one() -> None:
    account, one = Account("d", bo.Caps(total=1.0), 1), charge(("a", "1e-6"))
    for number in range(1_000_000):
        account.add(one)
        if number % 100_003 == 0:  # wherever the sum is asked for in between
            account.left()
    assert account.left().total == 0.0
    assert account.exceeded(charge(("a", "1e-300")))
    account.take_back(one)
    assert account.left().total == 1e-6


@given(st.lists(st.floats(1e-300, 1e4), min_size=1, max_size=8), st.integers(1, 9))
@settings(max_examples=60)
def test_r21_what_is_left_is_the_cap_less_the_sum_to_the_last_digit(
    epsilons: list[float], max_rows: int
) -> None:
    account = Account("d", bo.Caps(total=1e4, max_rows=max_rows), 1)
    for epsilon in epsilons:
        account.add(charge(("a", repr(epsilon))))
    left = 10_000 - max_rows * sum((exact(epsilon) for epsilon in epsilons), Fraction(0))
    found = exact(account.left().total)
    assert found <= left
    assert left - found <= abs(left) * Fraction(1, 10**15)
    spent = exact(account.spent().total)
    assert spent >= 10_000 - left


def test_a_charge_of_an_allocation_is_the_epsilons_that_it_states() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=3, epsilon=0.1) for name in "abc"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=0.3,
    )
    found = bo.Charge.of(bo.uniform(problem))
    assert found.epsilon == Decimal("0.3")
    assert [(part.members, part.epsilon) for part in found.parts] == [
        ((name,), Decimal("0.1")) for name in "abc"
    ]
    assert (found.delta, found.max_rows) == (0, 1)


def test_a_charge_of_an_allocation_that_keeps_its_total_by_composition_has_its_delta() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=3, epsilon=0.1) for name in "abc"],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=0.29,
        total_delta=1e-3,
    )
    found = bo.Charge.of(bo.allocation_from(problem, dict.fromkeys("abc", 0.1)))
    assert (found.epsilon, found.delta) == (Decimal("0.29"), Decimal("0.001"))
    roomy = problem.with_fields(total_epsilon=0.3)
    found = bo.Charge.of(bo.allocation_from(roomy, dict.fromkeys("abc", 0.1)))
    assert (found.epsilon, found.delta) == (Decimal("0.3"), 0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"epsilon": "0.2"}, "its parts make 0.1"),
        ({"epsilon": "0.2", "delta": "1e-6"}, "its parts make 0.1"),
        ({"epsilon": "0", "delta": "1e-6"}, "its parts make 0.1"),
        ({"epsilon": "0.1", "delta": "1"}, "delta must be"),
        ({"max_rows": 0}, "max_rows must be"),
    ],
)
def test_a_charge_that_cannot_be_is_refused(fault: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        charge(("a", "0.1"), **fault)
    with pytest.raises(InputError, match="cost something"):
        charge(("a", "0"))


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "NaN", "Infinity", "1_0", " 1", "1e999", "1e-999", "0x1", "1.", "٣", "1" * 600]
)
def test_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        amount_of(text)


def test_amounts_are_shown_with_all_their_digits_and_no_more() -> None:
    assert [plain(Decimal(text)) for text in ("0.30", "50", "1e-300", "0.000001", "0E-9")] == [
        "0.3",
        "50",
        "1E-300",
        "0.000001",
        "0",
    ]


def test_a_sum_that_would_not_be_exact_is_an_error_and_never_rounded() -> None:
    from decimal import Inexact

    with pytest.raises(Inexact):
        plus(decimal_of(1e4), Decimal("1e-2000"))
