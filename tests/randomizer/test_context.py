"""Every parameter has a part in the name of a stream, and no two lists of fields share a name (R33)."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.domain import Domain
from budget_opt.randomizer.context import blind_context, encoded, report_context, row_order_context


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


def test_any_change_of_a_parameter_changes_the_context() -> None:
    contexts = [
        report_context("x", DOMAIN, SAMPLER),
        report_context("y", DOMAIN, SAMPLER),
        report_context("x", dataclasses.replace(DOMAIN, labels=("b", "a", "c")), SAMPLER),
        report_context("x", dataclasses.replace(DOMAIN, labels=("a", "b", "C")), SAMPLER),
        report_context("x", dataclasses.replace(DOMAIN, labels=("a", "b", None)), SAMPLER),
        report_context("x", Domain("bins", ("a", "b", "c"), (0.0, 1.0, 2.0, 3.0)), SAMPLER),
        report_context("x", Domain("text", ("1", "2", "3")), SAMPLER),
        report_context("x", Domain("integer", (1, 2, 3)), SAMPLER),
        report_context("x", Domain("text", ("ab", "", "c")), SAMPLER),
        report_context("x", Domain("text", ("a", "bc", "")), SAMPLER),
        report_context("x", DOMAIN, Sampler(3, 32, 10**9 + 1)),
        report_context("x", DOMAIN, Sampler(3, 64, 10**9)),
        report_context("x", DOMAIN, Sampler(3, 128, 10**9)),
        blind_context("x", DOMAIN),
        blind_context("y", DOMAIN),
        row_order_context(),
    ]
    assert len(set(contexts)) == len(contexts)
    assert len({encoded(field) for field in (1, "1", True, (1,), ("1",), None, (), "", 0, False)}) == 10


def test_the_context_of_an_attribute_says_format_mechanism_categories_and_integers() -> None:
    assert decoded(report_context("x", DOMAIN, SAMPLER)) == (
        "budget-opt/words",
        1,
        "randomized response",
        "x",
        "text",
        ("a", "b", "c"),
        32,
        10**9,
    )
