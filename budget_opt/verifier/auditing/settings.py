"""How much an audit does, and how its error is shared."""

from __future__ import annotations

from dataclasses import dataclass

PARTS = 9
"""Kept cells of all records, and by place, pairs, events, the record, dependence, repetition, and links to
other records: their chance, and the loss that they show."""


@dataclass(frozen=True)
class Settings:
    """`trials` made-up records in large batches, `calls` small batches beside them, a family-wise `error`.

    `undeclared` is the number of undeclared values that are tried, each in a call.
    """

    trials: int
    calls: int
    error: float
    seed: int
    undeclared: int

    @property
    def share(self) -> float:
        """The error of each of the `PARTS`."""
        return self.error / PARTS

    def share_of_all(self, attributes: int) -> float:
        """The error of a count of kept cells over all records, of one attribute or of the record."""
        return self.share / (attributes + 1)

    @property
    def explored(self) -> int:
        """Records with random values: for counts over all records, places, pairs, and for choosing."""
        return self.trials * 9 // 20

    @property
    def tested(self) -> int:
        """Records on which the chosen events are tested, attribute by attribute."""
        return self.trials * 8 // 20

    @property
    def paired(self) -> int:
        """Records that are one or the other of the worst pair."""
        return self.trials - self.explored - self.tested
