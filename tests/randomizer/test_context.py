"""Every parameter has a part in the name of a stream, and no two lists of fields share a name (R33)."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.domain import Domain
from budget_opt.randomizer.context import (
    ROW_ORDER,
    encoded,
    keyed_context,
    report_purpose,
    single_use_context,
)


def decoded(data: bytes) -> Any:
    """What the bytes were made of: that they can be read back is why no two fields share their bytes."""
    field, rest = _decoded(data)
    assert rest == b""
    return field


def _decoded(data: bytes) -> tuple[Any, bytes]:
    tag, length = data[:1], int.from_bytes(data[1:9], "big")
    content, rest = data[9 : 9 + length], data[9 + length :]
    assert len(content) == length
    if tag == b"l":
        items = []
        while content:
            item, content = _decoded(content)
            items.append(item)
        return tuple(items), rest
    reads = {
        b"n": lambda _: None,
        b"b": lambda text: text == b"1",
        b"i": int,
        b"t": lambda text: text.decode("utf-8", "surrogatepass"),
    }
    return reads[tag](content), rest


fields = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner).map(tuple),
)


def typed(field: Any) -> Any:
    """A field with its types spelt out: in Python True == 1."""
    return tuple(map(typed, field)) if isinstance(field, tuple) else (type(field), field)


@given(fields)
def test_a_context_can_be_read_back(field: Any) -> None:
    assert typed(decoded(encoded(field))) == typed(field)


SAMPLER = Sampler(3, 32, 10**9)
DOMAIN = Domain("text", ("a", "b", "c"))
TWO, THREE = Domain("text", ("a", "b")), DOMAIN

PURPOSES = [
    report_purpose([("x", DOMAIN)], SAMPLER),
    report_purpose([("y", DOMAIN)], SAMPLER),
    report_purpose([("x", dataclasses.replace(DOMAIN, labels=("b", "a", "c")))], SAMPLER),
    report_purpose([("x", dataclasses.replace(DOMAIN, labels=("a", "b", "C")))], SAMPLER),
    report_purpose([("x", dataclasses.replace(DOMAIN, labels=("a", "b", None)))], SAMPLER),
    report_purpose([("x", Domain("bins", ("a", "b", "c"), (0.0, 1.0, 2.0, 3.0)))], SAMPLER),
    report_purpose([("x", Domain("text", ("1", "2", "3")))], SAMPLER),
    report_purpose([("x", Domain("integer", (1, 2, 3)))], SAMPLER),
    report_purpose([("x", Domain("text", ("ab", "", "c")))], SAMPLER),
    report_purpose([("x", Domain("text", ("a", "bc", "")))], SAMPLER),
    report_purpose([("x", DOMAIN)], Sampler(3, 32, 10**9 + 1)),
    report_purpose([("x", DOMAIN)], Sampler(3, 64, 10**9)),
    report_purpose([("x", DOMAIN)], Sampler(3, 128, 10**9)),
    report_purpose([("x", DOMAIN)], None),
    report_purpose([("y", DOMAIN)], None),
    report_purpose([("x", DOMAIN)], None, (1, 1, 1)),
    report_purpose([("x", DOMAIN)], None, (1, 2, 1)),
    report_purpose([("x", DOMAIN)], BackgroundSampler(32, (10**9, 10**9, 10**9))),
    report_purpose([("x", DOMAIN)], BackgroundSampler(32, (10**9, 10**9, 10**9 - 1))),
    report_purpose([("x", DOMAIN)], BackgroundSampler(64, (10**9, 10**9, 10**9))),
    *(
        report_purpose(members, sampler)
        for members in (
            [("x", TWO), ("y", THREE)],
            [("y", THREE), ("x", TWO)],
            [("x", THREE), ("y", TWO)],
            [("z", TWO), ("y", THREE)],
            [("x + y", Domain("text", ("a", "b", "c", "d", "e", "f")))],
            [("x", TWO), ("y", dataclasses.replace(THREE, labels=("c", "b", "a")))],
            [("x", Domain("integer", (0, 1))), ("y", THREE)],
            [("x", Domain("boolean", (False, True))), ("y", THREE)],
        )
        for sampler in (Sampler(6, 32, 10**8), Sampler(6, 32, 10**8 + 1), Sampler(6, 64, 10**8), None)
    ),
    ROW_ORDER,
]


def test_r33_any_change_of_a_parameter_changes_the_context() -> None:
    contexts = [single_use_context(purpose) for purpose in PURPOSES]
    contexts += [keyed_context("d", 1, None, purpose) for purpose in PURPOSES]
    contexts += [keyed_context("d", 1, "id", purpose) for purpose in PURPOSES]
    assert len(set(contexts)) == len(contexts)
    assert len({encoded(field) for field in (1, "1", True, (1,), ("1",), None, (), "", 0, False)}) == 10


def test_r33_data_set_release_and_naming_of_rows_have_a_part_in_a_keyed_context() -> None:
    named = [
        (data, number, row_id)
        for data in ("d", "D", "d1")
        for number in (1, 2, 11)
        for row_id in (None, "id", "ID", "position")
    ]
    assert len({keyed_context(*one, PURPOSES[0]) for one in named}) == len(named)


def test_the_context_of_an_attribute_says_format_mechanism_categories_and_integers() -> None:
    purpose = ("randomized response", "x", "text", ("a", "b", "c"), 32, 10**9)
    assert decoded(single_use_context(PURPOSES[0])) == ("budget-opt/words", 1, *purpose)
    assert decoded(keyed_context("survey", 7, None, PURPOSES[0])) == (
        "budget-opt/words",
        1,
        "keyed",
        "survey",
        7,
        ("position",),
        purpose,
    )
    assert decoded(keyed_context("survey", 7, "person", ROW_ORDER))[5:] == (("id", "person"), ("row order",))


def test_the_context_of_a_cluster_names_all_members_in_their_order_with_their_typed_categories() -> None:
    """In a list of their own, which no attribute's name can be taken for."""
    members = [("x", TWO), ("n", Domain("integer", (3, 1)))]
    named = (("x", "text", ("a", "b")), ("n", "integer", (3, 1)))
    purpose = report_purpose(members, Sampler(4, 32, 10**8))
    assert decoded(single_use_context(purpose))[2:] == ("randomized response", named, 32, 10**8)
    assert decoded(single_use_context(report_purpose(members, None)))[2:] == ("uniform report", named)


def test_the_context_of_another_background_says_its_counts() -> None:
    purpose = report_purpose([("x", TWO)], BackgroundSampler(32, (5, 7)))
    assert decoded(single_use_context(purpose))[2:] == (
        "randomized response",
        "x",
        "text",
        ("a", "b"),
        32,
        (5, 7),
    )
