"""Multipliers as rows of numbers, and what the theorem admits of any rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Multipliers
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import FloatArray, IntArray

Numbers = npt.NDArray[np.float32]
_LARGEST = 1e15
"""Of a multiplier with weights of at most 1: far above any that helps, far below what overflows."""


def template(question: Question) -> Multipliers:
    """Multipliers of one box of this question, for their shapes."""
    ends = question.lower, question.upper
    return steps.first(question.relaxation(*ends, question.upper * 0.0))


def shapes_of(like: Multipliers) -> dict[str, tuple[int, ...]]:
    """Name and shape, without the box, of every array; a tuple's are numbered."""
    return {name: array.shape[:-1] for name, array in _named(like)}


def _named(multipliers: Multipliers) -> Iterator[tuple[str, FloatArray]]:
    for field in fields(multipliers):
        value = getattr(multipliers, field.name)
        if isinstance(value, tuple):
            yield from ((f"{field.name}.{index}", part) for index, part in enumerate(value))
        else:
            yield field.name, value


def packed(multipliers: Multipliers) -> dict[str, Numbers]:
    """Every array with its boxes first, in single precision."""
    with np.errstate(over="ignore"):
        return {name: np.moveaxis(array, -1, 0).astype(np.float32) for name, array in _named(multipliers)}


def unpacked(rows: Mapping[str, Numbers], like: Multipliers, layout: Layout) -> Multipliers:
    """The multipliers of rows (B, ...), of the shapes of `like`; whatever they are, the bound holds for them.

    Undefined and negative numbers are taken as 0, and every term's shares are made to sum to its weight.
    """
    arrays = {name: np.ascontiguousarray(np.moveaxis(_clean(row), 0, -1)) for name, row in rows.items()}
    found: dict[str, Any] = {}
    for field in fields(like):
        value = getattr(like, field.name)
        if isinstance(value, tuple):
            found[field.name] = tuple(arrays[f"{field.name}.{index}"] for index in range(len(value)))
        else:
            found[field.name] = arrays[field.name]
    multipliers = replace(like, **found)
    shares = tuple(
        _shared(share, degree.weight)
        for share, degree in zip(multipliers.shares, layout.degrees, strict=True)
    )
    return replace(multipliers, shares=shares)


def _clean(numbers: Numbers) -> FloatArray:
    wide = numbers.astype(np.float64)
    clean: FloatArray = np.where(np.isfinite(wide), np.clip(wide, 0.0, _LARGEST), 0.0)
    return clean


def _shared(share: FloatArray, weight: FloatArray) -> FloatArray:
    """Shares (T, A, B) that sum to the terms' weights (T,); even ones where none is positive."""
    total = np.sum(share, axis=1, keepdims=True)
    share = np.where(total > 0, share, 1.0)
    share = share / np.sum(share, axis=1, keepdims=True)
    scaled: FloatArray = share * weight[:, None, None]
    return scaled


def rows_of(rows: Mapping[str, Numbers], index: IntArray) -> dict[str, Numbers]:
    """Some of the rows."""
    return {name: row[index] for name, row in rows.items()}
