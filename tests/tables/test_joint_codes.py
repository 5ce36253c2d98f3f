"""The joint code of several columns is numpy's, at every width, and the columns come back from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.tables.counting import AnyCodes, index_type, join_into, split_into
from budget_opt.tables.encoding import code_type

EDGES = [
    (2, 2),
    (2, 127),
    (5, 51),
    (16, 16),
    (2, 2, 2, 2, 2, 2, 2, 2),
    (2, 129),
    (3, 5, 17, 257),
    (256, 256),
    (255, 257),
    (2, 32769),
    (32769, 2),
    (1000, 1000),
]
"""Shapes with 254, 255, 256, 258, 65535, 65536 and more joint codes."""


def joined(columns: list[AnyCodes], shape: tuple[int, ...]) -> AnyCodes:
    joint = np.empty(columns[0].size, dtype=index_type(math.prod(shape)))
    join_into(joint, columns, shape)
    return joint


def split(joint: AnyCodes, shape: tuple[int, ...]) -> list[AnyCodes]:
    columns = [np.empty(joint.size, dtype=code_type(r)) for r in shape]
    split_into(columns, joint.copy(), shape, [np.empty_like(joint), np.empty_like(joint)])
    return columns


@pytest.mark.parametrize("shape", EDGES)
def test_r4_joint_codes_at_the_edges_of_the_widths_are_those_of_numpy_and_back(
    shape: tuple[int, ...],
) -> None:
    cells = math.prod(shape)
    picked = np.unique(np.concatenate([np.arange(min(cells, 3000)), cells - 1 - np.arange(min(cells, 3000))]))
    places = np.unravel_index(picked, shape)
    columns = [column.astype(code_type(r)) for column, r in zip(places, shape, strict=True)]
    joint = joined(columns, shape)
    assert joint.dtype == code_type(cells)
    assert np.array_equal(joint, np.ravel_multi_index(columns, shape))
    for back, column in zip(split(joint, shape), columns, strict=True):
        assert back.dtype == column.dtype
        assert np.array_equal(back, column)


@settings(max_examples=40)
@given(st.lists(st.integers(2, 40), min_size=1, max_size=4), st.data())
def test_any_columns_are_joined_as_numpy_does_and_come_back(shape: list[int], data: st.DataObject) -> None:
    lengths = tuple(shape)
    count = data.draw(st.integers(0, 30))
    columns: list[AnyCodes] = [
        np.array(data.draw(st.lists(st.integers(0, r - 1), min_size=count, max_size=count)), dtype=np.uint8)
        for r in lengths
    ]
    joint = joined(columns, lengths)
    assert np.array_equal(joint, np.ravel_multi_index(columns, lengths))
    assert all(np.array_equal(*pair) for pair in zip(split(joint, lengths), columns, strict=True))
