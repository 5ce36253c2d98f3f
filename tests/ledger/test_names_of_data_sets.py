"""A second name for the same people is a second budget: names that look alike are one."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.ledger.names import folded

NAME = "health survey 2024"


@pytest.mark.parametrize(
    "twin",
    [
        NAME,
        "Health Survey 2024",
        "health_survey-2024",
        "healthsurvey2024",
        "health  survey 2024",
        "health\N{NO-BREAK SPACE}survey 2024".replace("\N{NO-BREAK SPACE}", "\N{EN DASH}"),
        "h\N{CYRILLIC SMALL LETTER IE}alth surv\N{CYRILLIC SMALL LETTER IE}y 2024",
        "\N{FULLWIDTH LATIN SMALL LETTER H}ealth survey 2024",
        "health survey \N{FULLWIDTH DIGIT TWO}024",
        "health survey 2024\N{VARIATION SELECTOR-16}",
        "health\N{COMBINING GRAPHEME JOINER} survey 2024",
        "health\N{HANGUL FILLER} survey 2024",
        "health\N{HANGUL CHOSEONG FILLER} survey 2024",
        "hea\N{BRAILLE PATTERN BLANK}lth survey 2024",
        "health\N{VARIATION SELECTOR-17} survey 2024",
        "health survey 2024.",
        "health survey 2024\N{ACUTE ACCENT}",
        "healt\N{LATIN SMALL LETTER H WITH DOT BELOW} survey 2024",
        "he\N{LATIN SMALL LETTER ALPHA}lth survey 2024",
        "\N{ARMENIAN SMALL LETTER HO}ealth survey 2024",
    ],
)
def test_a_name_that_people_would_take_for_a_registered_one_is_refused(ledger: bo.Ledger, twin: str) -> None:
    ledger.register(NAME, bo.Caps(total=1.0))
    with pytest.raises(InputError, match=NAME):
        ledger.register(twin, bo.Caps(total=1.0))
    assert ledger.datasets == (NAME,)


@pytest.mark.parametrize(
    "other",
    ["health survey 2025", "health survey 202 4", "wealth survey 2024", "survey", "héalth survey 2024"],
)
def test_a_name_that_nobody_would_mistake_is_registered(ledger: bo.Ledger, other: str) -> None:
    ledger.register(NAME, bo.Caps(total=1.0))
    ledger.register(other, bo.Caps(total=1.0))
    assert ledger.datasets == (NAME, other)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "must be text of one line"),
        (" a", "without blanks at its ends"),
        ("a ", "without blanks at its ends"),
        ("a\nb", "must be text of one line"),
        ("a\N{ZERO WIDTH SPACE}b", "must be text of one line"),
        ("a" * 201, "at most 200"),
        ("cafe\N{COMBINING ACUTE ACCENT}", "composed form of Unicode"),
        ("-_-", "nobody can read"),
        ("\N{HANGUL FILLER}", "nobody can read"),
        ("\N{BRAILLE PATTERN BLANK}", "nobody can read"),
        (7, "must be text of one line"),
    ],
)
def test_a_name_that_is_none_is_refused(ledger: bo.Ledger, name: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ledger.register(name, bo.Caps(total=1.0))


def test_digits_stay_apart() -> None:
    assert folded("wave 1 1") != folded("wave 11")
    assert folded("wave 1-1") == folded("wave 1 1")


def test_an_attribute_with_something_that_nobody_sees_in_its_name_counts_towards_its_cap() -> None:
    assert folded("income\N{VARIATION SELECTOR-16}") == folded("income")
    assert folded("q.1") != folded("q1")
