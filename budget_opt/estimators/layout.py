"""Tables with an axis for each of what was randomized together, in place of an axis an attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import Channel, axes_of_blocks, joint_channel

NumberT = TypeVar("NumberT", bound=np.generic)


@dataclass(frozen=True)
class Layout:
    """The axes of a table with these channels, taken by blocks: an attribute alone, or members of a cluster.

    Without clusters nothing is moved. Tables may have further axes at the end.
    """

    channels: tuple[Channel, ...]

    @cached_property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """The axes of each block."""
        return axes_of_blocks(self.channels)

    @cached_property
    def blocks(self) -> tuple[Channel, ...]:
        """The channel of each block, independent of each other given the record."""
        return tuple(joint_channel([self.channels[axis] for axis in axes]) for axes in self.axes)

    def joined(self, table: npt.NDArray[NumberT]) -> npt.NDArray[NumberT]:
        """The table with an axis a block, the last member of a cluster fastest."""
        if len(self.blocks) == len(self.channels):
            return table
        order = [axis for axes in self.axes for axis in axes]
        further = range(len(order), table.ndim)
        sizes = [math.prod(table.shape[axis] for axis in axes) for axes in self.axes]
        return table.transpose(*order, *further).reshape(*sizes, *table.shape[len(order) :])

    def apart(self, table: npt.NDArray[NumberT]) -> npt.NDArray[NumberT]:
        """The table with an axis an attribute again, in their own order."""
        if len(self.blocks) == len(self.channels):
            return table
        order = [axis for axes in self.axes for axis in axes]
        shape = [self.channels[axis].cardinality for axis in order]
        further = range(len(order), len(order) + table.ndim - len(self.blocks))
        whole = table.reshape(*shape, *table.shape[len(self.blocks) :])
        return whole.transpose(*np.argsort(order).tolist(), *further)


def layout_of(channels: Sequence[Channel]) -> Layout:
    """The layout of a table with an axis for each of these channels."""
    return Layout(tuple(channels))
