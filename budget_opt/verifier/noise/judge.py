"""All that must hold of the noise of a release, given the originals."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from budget_opt.errors import InputError
from budget_opt.tables.counting import AnyCodes
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Blocks
from budget_opt.verifier.noise.content import AlikeTally, ContentTally
from budget_opt.verifier.noise.elsewhere import ElsewhereTally
from budget_opt.verifier.noise.evidence import NoiseEvidence, NoiseTally
from budget_opt.verifier.noise.lags import LagTally
from budget_opt.verifier.noise.pairs import PairTally
from budget_opt.verifier.noise.records import RecordTally
from budget_opt.verifier.noise.repeats import RepeatTally
from budget_opt.verifier.noise.runs import RunTally
from budget_opt.verifier.noise.stretches import BatchEndTally, StretchTally

_TALLIES = (
    PairTally,
    LagTally,
    RepeatTally,
    RunTally,
    StretchTally,
    BatchEndTally,
    ContentTally,
    ElsewhereTally,
    RecordTally,
    AlikeTally,
)


class NoiseJudge:
    """Takes the codes of the same attributes batch by batch, in order, and judges their noise at the end.

    All kinds of evidence together convict a sound release with probability at most `alarm`. The verdict
    does not depend on the batches. Memory: some blocks of 2^22 cells, and what each tally says it keeps.
    """

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._number = len(channels)
        self._blocks = Blocks(channels)
        self._tallies: list[NoiseTally] = []
        if channels:
            self._tallies = [tally(channels, alarm / len(_TALLIES)) for tally in _TALLIES]
        self._is_over = False

    def add(self, original: Sequence[AnyCodes], released: Sequence[AnyCodes]) -> None:
        """Take the next rows, a column for each attribute.

        Raises `InputError` once evidence was asked for: the blocks would not be whole.
        """
        if self._is_over:
            raise InputError("rows: come after the verdict was asked for. Give all of them before.")
        if self._tallies:
            for block in self._blocks.of(original, released):
                for tally in self._tallies:
                    tally.add(block)

    def evidence(self, judged: Collection[int] | None = None) -> tuple[NoiseEvidence, ...]:
        """What the rows say of the attributes with these numbers, by default all; needs a row at least."""
        if not self._is_over:
            self._is_over = True
            for block in self._blocks.rest():
                for tally in self._tallies:
                    tally.add(block)
        wanted = range(self._number) if judged is None else sorted(judged)
        if not wanted:
            return ()
        return tuple(found for tally in self._tallies for found in tally.evidence(wanted))
