"""Where the reports and the order of the rows come from (DESIGN 2.8).

*Single use*, the default: fresh words under a key that is dropped at the end; word i of a stream belongs to
row i. *Keyed*, for a release that must come out the same wherever and however often it is computed: the
word of a cell is AES-256 of the block

    name of the row (96 bits), code of the cell (32 bits)

under a key of the attribute's own, HKDF-SHA256(release's key, context). 32 and 64-bit words are its low
bytes. So a report is a function of the release, the row's name and the cell: no batch, order, retry or other
cell has a part in it (R34), a changed cell gets a word of its own, and so does anything else that the
context names (R33): data set, number of the release, how rows are named, mechanism, attribute, ordered
categories with their types, b and q. The guarantee is that of ideal words up to what AES is as a
pseudo-random function; see `KeyedRelease` for what that asks of its owner.

The members of a cluster are one cell here: one word, one joint code, and a context that names all of them.
A change of one member alone is another joint code, and gives all of them reports that are independent anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import CipherContext

from budget_opt.allocation import AllocatedBlock
from budget_opt.errors import RandomSourceError
from budget_opt.randomizer.block_cells import BlockCells, block_cells
from budget_opt.randomizer.cell_words import CHUNK_ROWS, CellWords, cipher_under
from budget_opt.randomizer.context import ROW_ORDER, Field, report_purpose, single_use_context
from budget_opt.randomizer.kernel import CHUNK_CELLS, Buffers, Kernel, kernel_for, randomize_block
from budget_opt.randomizer.keyed_release import KeyedRelease, KeyedRows
from budget_opt.randomizer.row_names import RowNames
from budget_opt.randomizer.words import SecureWords, SeededWords, WordSource, WordStream
from budget_opt.tables.encoding import Codes
from budget_opt.tables.public import Order

OrderKeys = npt.NDArray[np.uint64]
"""One word of 128 bits a row, shape (n, 2), the low half first."""


class Drawing(Protocol):
    """Draws the reports of one release, batch after batch, and the order of its rows."""

    def reports(self, codes: Mapping[str, Codes], rows: RowNames) -> dict[str, Codes]:
        """The reports of the next rows; `codes` has the codes of every attribute for them."""

    def order_keys(self, rows: RowNames) -> OrderKeys:
        """The keys of the next rows: a shuffled release stands in their ascending order."""

    def close(self) -> None:
        """Drop all keys; nothing is drawn afterwards."""


def drawing_for(
    blocks: Sequence[AllocatedBlock],
    words: SeededWords | None = None,
    keyed: KeyedRows | None = None,
) -> Drawing:
    """Keyed where a kept key is given, words that a test gave, or else fresh ones from the system."""
    if keyed is not None and words is not None:
        raise ValueError("give words or a keyed release, not both")
    if keyed is not None:
        return Keyed(blocks, *keyed)
    return SingleUse(blocks, SecureWords() if words is None else words)


def ascending(keys: OrderKeys) -> Order:
    """The rows in ascending order of their keys: uniform up to equal words, of probability n^2 / 2^129."""
    order = np.argsort(keys[:, 1])
    high = keys[order, 1]
    if np.any(high[1:] == high[:-1]):
        order = np.lexsort((keys[:, 0], keys[:, 1]))
    return order.astype(np.int64, copy=False)


class SingleUse:
    """Words of which each is used once, in the order of the rows: looks only at the number of names."""

    def __init__(self, blocks: Sequence[AllocatedBlock], words: WordSource) -> None:
        self._words = words
        self._order: WordStream | None = None
        try:
            self._blocks = [(block, *self._words_of(block)) for block in blocks]
        except BaseException:
            words.close()
            raise

    def reports(self, codes: Mapping[str, Codes], rows: RowNames) -> dict[str, Codes]:
        """The reports of the next rows."""
        del rows
        reports: dict[str, Codes] = {}
        for block, stream, kernel in self._blocks:
            cells = _cells_of(block, codes, CHUNK_CELLS)
            randomize_block(cells, stream, kernel)
            reports.update(zip(block.names, cells.reports, strict=True))
        return reports

    def order_keys(self, rows: RowNames) -> OrderKeys:
        """The keys of the next rows."""
        if self._order is None:
            self._order = self._words.stream(single_use_context(ROW_ORDER), 128)
        keys: OrderKeys = np.empty((len(rows), 2), dtype=np.uint64)
        self._order.fill(keys)
        return keys

    def close(self) -> None:
        """Drop the key."""
        self._words.close()

    def _words_of(self, block: AllocatedBlock) -> tuple[WordStream, Kernel]:
        kernel = _kernel_of(block)
        return self._words.stream(single_use_context(_purpose(block)), kernel.bits), kernel


class Keyed:
    """Words that the row's name and the cell determine; the same for rows in any order, number and place.

    Any thread may use it, and it can be pickled: it holds the keys of these blocks only, from which
    neither the release's key nor that of another block follows. Whoever has them and the released
    columns can recover the originals, so its pickles are for the memory of the machines that randomize.
    """

    def __init__(
        self,
        blocks: Sequence[AllocatedBlock],
        release: KeyedRelease,
        row_id: str | None = None,
    ) -> None:
        """`row_id` is the column that names the rows, None where their positions do."""
        self._keys: tuple[_BlockKey, ...] | None = tuple(
            _BlockKey(block, release.derived(row_id, _purpose(block))) for block in blocks
        )
        # another allocation shuffles anew; the order of the columns has no part in it
        purposes = [_purpose(block) for block in sorted(blocks, key=lambda block: block.names)]
        self._order_key = release.derived(row_id, (*ROW_ORDER, purposes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def reports(self, codes: Mapping[str, Codes], rows: RowNames) -> dict[str, Codes]:
        """The reports of these rows."""
        blocks = [block.opened(codes, min(len(rows), CHUNK_ROWS)) for block in self._open()]
        words = CellWords(len(rows))
        for part in _chunks(len(rows)):
            words.name_rows(rows[part])
            for _, blind, cipher, kernel, buffers, cells in blocks:
                own = cells.codes(part)
                words.draw(buffers.words[: own.size], cipher, _BLIND_CODE if blind else own)
                kernel.report_into(own, buffers, cells.room(part))
                cells.take(part)
        return {
            name: report
            for block in blocks
            for name, report in zip(block.names, block.cells.reports, strict=True)
        }

    def order_keys(self, rows: RowNames) -> OrderKeys:
        """The keys of these rows."""
        self._open()
        cipher, words = cipher_under(self._order_key), CellWords(len(rows))
        keys = np.empty((len(rows), 2), dtype=np.uint64)
        for part in _chunks(len(rows)):
            words.name_rows(rows[part])
            words.draw(keys[part], cipher, _ORDER_CODE)
        return keys

    def close(self) -> None:
        """Drop the keys."""
        self._keys, self._order_key = None, b""

    def _open(self) -> tuple[_BlockKey, ...]:
        if self._keys is None:
            raise RandomSourceError("the random source is closed: draw from the release anew.")
        return self._keys


_BLIND_CODE = 0
"""Stands for every cell of a block that is reported without looking at it (R36)."""

_ORDER_CODE = 2**32 - 1


class _Opened(NamedTuple):
    """One block, ready for one call: no two calls share a cipher or a buffer."""

    names: tuple[str, ...]
    blind: bool
    cipher: CipherContext
    kernel: Kernel
    buffers: Buffers
    cells: BlockCells


class _BlockKey:
    """What is known of one block between the calls."""

    def __init__(self, block: AllocatedBlock, key: bytes) -> None:
        self._block, self._kernel = block, _kernel_of(block)
        self.key = key

    def opened(self, codes: Mapping[str, Codes], rows: int) -> _Opened:
        block, kernel = self._block, self._kernel
        cells = _cells_of(block, codes, rows)
        blind = block.sampler is None
        return _Opened(block.names, blind, cipher_under(self.key), kernel, kernel.buffers(rows), cells)


def _cells_of(block: AllocatedBlock, codes: Mapping[str, Codes], chunk: int) -> BlockCells:
    return block_cells([codes[name] for name in block.names], block.shape, chunk)


def _purpose(block: AllocatedBlock) -> tuple[Field, ...]:
    members = [(member.name, member.domain) for member in block.members]
    return report_purpose(members, block.sampler, block.block.background_weights)


def _kernel_of(block: AllocatedBlock) -> Kernel:
    return kernel_for(block.sampler, block.cardinality, block.block.background_weights)


def _chunks(rows: int) -> Iterator[slice]:
    for start in range(0, rows, CHUNK_ROWS):
        yield slice(start, min(rows, start + CHUNK_ROWS))
