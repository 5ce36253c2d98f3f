"""The words of keyed mode: AES-256 of the block (name of the row, code of the cell), many at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from budget_opt.errors import RandomSourceError
from budget_opt.randomizer.row_names import NAME_WORDS, RowNames
from budget_opt.randomizer.words import Words
from budget_opt.tables.encoding import Codes

CHUNK_ROWS = 2**15
"""Rows whose blocks are made at a time: they stay in the processor's cache."""

_BLOCK_BYTES = 16


def cipher_under(key: bytes) -> CipherContext:
    """AES-256 of one block after the other under this key."""
    # not a mode for messages: here the blocks are distinct inputs of a pseudo-random function
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()


class CellWords:
    """Blocks and words of up to `CHUNK_ROWS` rows at a time, in buffers that are used again."""

    def __init__(self, rows: int) -> None:
        """`rows` is how many there are at most in all."""
        most = min(rows, CHUNK_ROWS)
        self._blocks = np.empty((most, NAME_WORDS + 1), dtype="<u4")
        # the cipher asks for room for an unfinished block behind the last
        self._room = np.empty(_BLOCK_BYTES * (most + 1) - 1, dtype=np.uint8)
        self._rows = 0

    def name_rows(self, rows: RowNames) -> None:
        """Take these rows, at most `CHUNK_ROWS`."""
        self._rows = len(rows)
        for i in range(NAME_WORDS):
            self._blocks[: self._rows, i] = rows[:, i]

    def draw(self, words: Words, cipher: CipherContext, codes: Codes | int) -> None:
        """Put the word of each row and its code, or of each row and one code, into `words`."""
        self._blocks[: self._rows, NAME_WORDS] = codes
        size = self._rows * _BLOCK_BYTES
        self._encrypt(cipher, self._blocks[: self._rows].reshape(-1).view(np.uint8), size)
        drawn = self._room[:size].view(words.dtype).reshape(self._rows, -1)
        words[...] = drawn if words.ndim == 2 else drawn[:, 0]

    def _encrypt(self, cipher: CipherContext, blocks: npt.NDArray[np.uint8], size: int) -> None:
        try:
            written = cipher.update_into(blocks.data, self._room.data)
        except Exception as failure:  # noqa: BLE001 - whatever a cipher raises, the release must stop
            raise RandomSourceError(f"the cipher failed ({type(failure).__name__}).") from None
        if written != size:
            raise RandomSourceError(f"the cipher gave {written} bytes instead of {size}.")
