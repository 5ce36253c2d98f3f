"""Uniform random words, one stream a purpose, each word drawn once (DESIGN 2.8).

Single use: a key of 32 bytes from the operating system for every release. Word i of a stream is word i,
little-endian, of the AES-256-CTR key stream (counter from 0) under HKDF-SHA256(key, context). Words are
ideal up to what AES is as a pseudo-random function; who has the key can undo the release, so nothing
gives it away: it is no argument, no attribute of a result, in no message, and dropped at the end.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from budget_opt.errors import RandomSourceError
from budget_opt.randomizer.entropy import fresh_bytes

KEY_BYTES = 32

Words = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
"""Words of 32 or 64 bits, shape (n,); of 128 bits as (n, 2) with the low half first."""

_WORD_TYPES: dict[int, np.dtype[Any]] = {32: np.dtype("<u4"), 64: np.dtype("<u8"), 128: np.dtype("<u8")}

_ZEROS = memoryview(bytes(2**20))
"""What is encrypted, a piece at a time; apart from every target, and never written."""


def empty_words(count: int, bits: int) -> Words:
    """An array for `count` words of 32, 64 or 128 bits, not filled yet."""
    words: Words = np.empty((count, 2) if bits == 128 else count, dtype=_WORD_TYPES[bits])
    return words


class WordStream(Protocol):
    """The words of one context, in their order."""

    def take(self, count: int) -> Words:
        """The next `count` words; `RandomSourceError` if there is any doubt about them."""

    def fill(self, words: Words) -> None:
        """Put the next words into an array of the caller's (`empty_words`), over whatever stands there.

        The stream holds on to no array and hands out none: who fills one is the only one to have it.
        Raises `RandomSourceError` if there is any doubt; the array is then not to be used.
        """


class WordSource(Protocol):
    """Where words come from."""

    def stream(self, context: bytes, bits: int) -> WordStream:
        """The stream of a context, of words of `bits` bits; a context can be asked for once."""

    def close(self) -> None:
        """Drop the key; no stream gives a word afterwards."""


class _NeverCopied:
    """Refuses to be copied or pickled: two copies would give the same words twice (R6)."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: its words would be used twice")

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(None)


class _KeyStream(_NeverCopied):
    """The AES-256-CTR key stream of one context, continued from take to take."""

    def __init__(self, key: bytes, bits: int) -> None:
        self._bits = bits
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._cipher: CipherContext | None = Cipher(
            algorithms.AES(key), modes.CTR(bytes(algorithms.AES.block_size // 8))
        ).encryptor()

    def take(self, count: int) -> Words:
        """The next `count` words."""
        words = empty_words(count, self._bits)
        self.fill(words)
        return words

    def fill(self, words: Words) -> None:
        """Put the next words into an array as `empty_words` makes it."""
        _require_same_process(self._process)
        if words.dtype != _WORD_TYPES[self._bits] or not words.flags.c_contiguous:
            raise RandomSourceError(f"words of {self._bits} bits fit no array of {words.dtype} or with gaps.")
        target = words.reshape(-1).view(np.uint8).data
        with self._lock:
            for start in range(0, len(target), len(_ZEROS)):
                self._encrypt_zeros(target[start : start + len(_ZEROS)])

    def _encrypt_zeros(self, target: memoryview) -> None:
        """The key stream is what the counter mode makes of zeros; a stream that failed once is at its end."""
        if self._cipher is None:
            raise RandomSourceError("the random source is closed: its words are for one release.")
        try:
            count = self._cipher.update_into(_ZEROS[: len(target)], target)
        except Exception as failure:  # noqa: BLE001 - whatever a cipher raises, the release must stop
            self._cipher = None
            raise RandomSourceError(f"the key stream failed ({type(failure).__name__}).") from None
        if count != len(target):
            self._cipher = None
            raise RandomSourceError(f"the key stream gave {count} bytes instead of {len(target)}.")

    def close(self) -> None:
        """Forget the key."""
        with self._lock:
            self._cipher = None


class _KeyedWords(_NeverCopied):
    """Streams under one key, each context at most once."""

    def __init__(self, key: bytes) -> None:
        self._key: bytes | None = key
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._streams: dict[bytes, _KeyStream] = {}

    def stream(self, context: bytes, bits: int) -> WordStream:
        """The stream of a context; a second time is an error, as a word is never used twice (R6)."""
        _require_same_process(self._process)
        with self._lock:
            if self._key is None:
                raise RandomSourceError("the random source is closed: its words are for one release.")
            if context in self._streams:
                raise RandomSourceError("the same words were asked for twice: every context has one stream.")
            stream = self._streams[context] = _KeyStream(derived_key(self._key, context), bits)
        return stream

    def close(self) -> None:
        """Drop the key and end all streams."""
        with self._lock:
            self._key = None
            for stream in self._streams.values():
                stream.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SecureWords(_KeyedWords):
    """The words of one release, under a fresh key from the operating system.

    Raises `RandomSourceError` where the operating system gives no key.
    """

    def __init__(self) -> None:
        super().__init__(fresh_key())


class SeededWords(_KeyedWords):
    """Words that a test can repeat, from a public seed: what they release is not private."""

    def __init__(self, seed: int) -> None:
        super().__init__(derived_key(str(seed).encode(), b"seed for tests"))


def fresh_key() -> bytes:
    """A key from the operating system; `RandomSourceError` where it gives none."""
    return fresh_bytes(KEY_BYTES)


def derived_key(key: bytes, context: bytes) -> bytes:
    """The key of a context, HKDF-SHA256(key, context): it tells nothing of the key or of another context."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=context).derive(key)


def _require_same_process(process: int) -> None:
    """Asked before a lock is taken: one that a thread held at the fork is never released in the child."""
    if os.getpid() != process:
        raise RandomSourceError(
            "a forked process must not use the words of its parent: both would draw the same. "
            "Start the release in the process that randomizes."
        )
