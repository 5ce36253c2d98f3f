"""What is judged of a release: the codes of every block, and those of each column of a cluster.

A *stream* is one sequence of codes with its matrix. Of an attribute alone it is its column. Of a cluster the
joint codes are one stream, which says all, and every member's column is another one, in which a fault that
concerns that column alone stands out. Where a release has some members of a cluster only, these are judged as
the block: without the others they are randomized by a matrix of their own (`Matrix.seen`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.tables.counting import AnyCodes, join_into
from budget_opt.tables.encoding import code_type
from budget_opt.verifier.background_matrices import BackgroundMatrix
from budget_opt.verifier.channels import AnyChannel, BackgroundChannel, Channel, ColumnChannel, MatrixChannel
from budget_opt.verifier.matrices import matrix_of
from budget_opt.verifier.source_matrices import SourceMatrix


@dataclass(frozen=True)
class Stream:
    """The codes of one attribute, or the joint codes of several, and their matrix."""

    channel: ColumnChannel
    attributes: tuple[str, ...]
    shape: tuple[int, ...]

    def codes(self, columns: Mapping[str, AnyCodes]) -> AnyCodes:
        """The codes of these rows, given those of all columns by name."""
        own = [columns[name] for name in self.attributes]
        if len(own) == 1:
            return own[0]
        joint: AnyCodes = np.empty(own[0].size, dtype=code_type(math.prod(self.shape)))
        join_into(joint, own, self.shape)
        return joint


def streams_of(allocation: Allocation, names: Collection[str]) -> tuple[Stream, ...]:
    """The streams of a release with these attributes: those of all blocks first, in their order."""
    seen = [(block, [one for one in block.members if one.name in names]) for block in allocation.blocks]
    wholes = [_stream(block, members) for block, members in seen if members]
    columns = [
        _stream(block, [one], cluster=Block(tuple(members)).name)
        for block, members in seen
        if len(members) > 1
        for one in members
    ]
    return (*wholes, *columns)


def columns_of(streams: Sequence[Stream]) -> dict[str, ColumnChannel]:
    """The matrix of every column, by name of the attribute."""
    return {one.attributes[0]: one.channel for one in streams if len(one.attributes) == 1}


def _stream(block: AllocatedBlock, members: Sequence[Attribute], cluster: str | None = None) -> Stream:
    """Of some members of a block; `cluster` names what they are a part of."""
    part = Block(tuple(members))
    values = members[0].score_values if len(members) == 1 else None
    scores = None if values is None else np.array(values, dtype=np.float64)
    matrix = matrix_of(block).seen(block.shape, [block.names.index(name) for name in part.names])
    if isinstance(matrix, BackgroundMatrix):
        channel: ColumnChannel = BackgroundChannel(part.name, matrix.words, matrix.counts, scores, cluster)
    elif isinstance(matrix, SourceMatrix):
        channel = MatrixChannel(part.name, matrix.words, matrix.rows)
    else:
        channel = Channel(part.name, part.cardinality, matrix.other, scores, cluster)
    return Stream(channel, part.names, part.shape)


def with_retention(columns: Mapping[str, ColumnChannel]) -> dict[str, AnyChannel]:
    """Those that moments are made of: all but the matrices that a source chose."""
    return {name: one for name, one in columns.items() if not isinstance(one, MatrixChannel)}
