"""Words are the AES key stream of a fresh key, each used once, and nothing gives the key away: R6, R7, R8."""

from __future__ import annotations

import copy
import hashlib
import hmac
import itertools
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from budget_opt.errors import RandomSourceError
from budget_opt.randomizer import words as module
from budget_opt.randomizer.words import SecureWords, SeededWords, Words, empty_words

KEY = bytes(range(32))


def hkdf(key: bytes, info: bytes, length: int, salt: bytes = b"") -> bytes:
    """RFC 5869, sections 2.2 and 2.3, with the standard library."""
    extracted = hmac.new(salt or bytes(32), key, hashlib.sha256).digest()
    block, output = b"", b""
    for i in range(-(-length // 32)):
        block = hmac.new(extracted, block + info + bytes([i + 1]), hashlib.sha256).digest()
        output += block
    return output[:length]


def aes_block(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def ctr_stream(key: bytes, size: int) -> bytes:
    """Counter mode from block mode: AES of 0, 1, 2, … as numbers of 16 bytes, high byte first."""
    blocks = np.zeros((-(-size // 16), 2), dtype=">u8")
    blocks[:, 1] = np.arange(len(blocks))
    return aes_block(key, blocks.tobytes())[:size]


def numbers(words: Words) -> list[int]:
    """Words as Python integers."""
    if words.ndim == 2:
        return [int(low) | int(high) << 64 for low, high in words]
    return [int(word) for word in words]


@pytest.fixture
def known_key(monkeypatch: pytest.MonkeyPatch) -> SecureWords:
    monkeypatch.setattr(os, "urandom", lambda size: KEY[:size])
    source = SecureWords()
    monkeypatch.undo()
    return source


def test_the_judges_give_the_published_vectors() -> None:
    """RFC 5869, appendices A.1 and A.3; FIPS 197, appendix C.3."""
    key = bytes([0x0B] * 22)
    assert hkdf(key, bytes(range(0xF0, 0xFA)), 42, bytes(range(13))).hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )
    assert hkdf(key, b"", 42).hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert aes_block(KEY, plain).hex() == "8ea2b7ca516745bfeafc49904b496089"


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_word_i_is_word_i_of_the_counter_mode_key_stream_whatever_is_taken_at_a_time(
    known_key: SecureWords, bits: int
) -> None:
    context = b"a context" * 5000
    key = hkdf(KEY, context, 32)
    stream = ctr_stream(key, 16_000)
    assert stream[:48] == b"".join(aes_block(key, i.to_bytes(16, "big")) for i in range(3))
    size = bits // 8
    expected = [int.from_bytes(stream[i : i + size], "little") for i in range(0, len(stream), size)]
    source = known_key.stream(context, bits)
    taken = [word for count in (1, 0, 2, 3, 7, 100, 333) for word in numbers(source.take(count))]
    assert taken == expected[: len(taken)]


def test_seeded_words_can_be_repeated_and_are_another_type() -> None:
    one, again, other = (SeededWords(seed).stream(b"c", 64).take(100).tolist() for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert not issubclass(SeededWords, SecureWords)
    assert not issubclass(SecureWords, SeededWords)


def test_r6_a_context_has_one_stream(known_key: SecureWords) -> None:
    known_key.stream(b"c", 32)
    for bits in (32, 64):
        with pytest.raises(RandomSourceError, match="twice"):
            known_key.stream(b"c", bits)


def test_r6_no_two_contexts_sources_or_takes_share_words() -> None:
    first, second = SecureWords(), SecureWords()
    streams = [first.stream(b"a", 64), first.stream(b"b", 64), second.stream(b"a", 64)]
    words = np.concatenate([stream.take(1000) for stream in streams for _ in range(3)])
    assert len(set(words.tolist())) == words.size  # equal by chance with probability 2e-12


@pytest.mark.parametrize("source", [SecureWords, lambda: SeededWords(1)], ids=["secure", "seeded"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_r6_nothing_is_copied_or_pickled(source: Callable[[], Any], copied: Callable[[Any], Any]) -> None:
    words = source()
    for thing in (words, words.stream(b"c", 32)):
        with pytest.raises(TypeError, match="used twice"):
            copied(thing)


@pytest.mark.parametrize("count", [50, 200_000])
def test_r6_threads_never_get_the_same_word(known_key: SecureWords, count: int) -> None:
    """Half of them take words, half fill arrays of their own; also more words than are made at a time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        draw_in_threads(known_key, count)
    finally:
        sys.setswitchinterval(interval)


def draw_in_threads(known_key: SecureWords, count: int) -> None:
    stream = known_key.stream(b"c", 64)
    rounds = 200 if count == 50 else 2
    taken: list[list[Words]] = [[] for _ in range(4)]

    def draw(number: int) -> None:
        room = empty_words(count, 64)
        for _ in range(rounds):
            if number % 2:
                taken[number].append(stream.take(count))
            else:
                stream.fill(room)
                taken[number].append(room.copy())

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = 4 * rounds * count
    expected = np.frombuffer(ctr_stream(hkdf(KEY, b"c", 32), 8 * total), dtype="<u8")
    found = np.concatenate([words for mine in taken for words in mine])
    assert np.array_equal(np.sort(found), np.sort(expected))
    # what one call gives is one piece of the stream
    place = {int(word): i for i, word in enumerate(expected[::count])}
    pieces = [(place[int(words[0])], words) for mine in taken for words in mine]
    assert all(np.array_equal(words, expected[i * count : (i + 1) * count]) for i, words in pieces)


FORK = """
import os, signal
from budget_opt.errors import RandomSourceError
from budget_opt.randomizer.words import SecureWords
source = SecureWords()
stream = source.stream(b"c", 32)
refused = 0
with source._lock, stream._lock:  # as if other threads were drawing at that moment
    child = os.fork()
if child == 0:
    signal.alarm(20)
    for draw in (lambda: stream.take(1), lambda: source.stream(b"d", 32)):
        try:
            draw()
        except RandomSourceError as error:
            refused += "forked" in str(error)
    os._exit(10 + refused)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(stream.take(1)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_r6_a_forked_process_cannot_use_the_words_of_its_parent(
    run_module: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = run_module("-c", FORK)
    assert done.stdout.split() == ["12", "1"], done.stderr


@pytest.mark.parametrize(
    "broken",
    [
        lambda size: b"short",
        lambda size: bytes(size - 1),
        lambda size: [0] * size,
        lambda size: (_ for _ in ()).throw(OSError("no entropy")),
        lambda size: (_ for _ in ()).throw(NotImplementedError()),
    ],
    ids=["short", "one less", "no bytes", "error", "none"],
)
def test_r7_without_a_whole_key_there_is_no_source(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[int], Any]
) -> None:
    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(RandomSourceError):
        SecureWords()


class BrokenCipher:
    """A cipher that says it has written `answer` bytes, or raises it."""

    def __init__(self, answer: int | Exception) -> None:
        self.answer, self.asked = answer, list[int]()

    def encryptor(self) -> BrokenCipher:
        return self

    def update_into(self, data: bytes, target: npt.NDArray[np.uint8]) -> int:
        self.asked.append(len(data))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [0, 39, 41, ValueError(KEY.hex()), MemoryError(), BufferError()], ids=repr)
@pytest.mark.parametrize(
    "draw", [lambda stream: stream.take(10), lambda stream: stream.fill(empty_words(10, 32))]
)
def test_r7_a_key_stream_that_fails_or_is_short_is_an_error_and_at_its_end(
    monkeypatch: pytest.MonkeyPatch, answer: int | Exception, draw: Callable[[Any], Any]
) -> None:
    cipher = BrokenCipher(answer)
    monkeypatch.setattr(module, "Cipher", lambda *_: cipher)
    stream = SecureWords().stream(b"c", 32)
    with pytest.raises(RandomSourceError) as caught:
        draw(stream)
    assert KEY.hex() not in str(caught.value)
    with pytest.raises(RandomSourceError, match="closed"):
        draw(stream)
    assert cipher.asked == [40]


def test_r7_a_piece_that_is_short_after_whole_ones_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """More words than are encrypted at a time."""
    cipher = BrokenCipher(2**20)
    monkeypatch.setattr(module, "Cipher", lambda *_: cipher)
    with pytest.raises(RandomSourceError, match="1048576 bytes instead of 4"):
        SecureWords().stream(b"c", 32).take(2**18 + 1)


@pytest.mark.parametrize(
    "array",
    [
        np.empty(10, np.uint64),
        np.empty(10, np.int32),
        np.empty(10, ">u4"),
        np.empty(20, np.uint32)[::2],
        np.empty((10, 2), np.uint32)[:, 0],
        np.empty(10, np.uint32)[::-1],
        np.frombuffer(bytes(40), np.uint32),
    ],
    ids=["wide", "signed", "swapped", "strided", "column", "reversed", "read-only"],
)
def test_r7_words_never_go_into_a_copy_of_the_array_that_was_given(array: npt.NDArray[Any]) -> None:
    with pytest.raises(RandomSourceError):
        SecureWords().stream(b"c", 32).fill(array)


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_filling_and_taking_give_the_words_of_one_stream_in_turn(bits: int) -> None:
    whole = SeededWords(1).stream(b"c", bits).take(600_000)
    stream, found = SeededWords(1).stream(b"c", bits), []
    room = empty_words(300_000, bits)
    for count in (1, 0, 300_000, 5, 199_994, 100_000):
        if count % 2:
            found.append(stream.take(count))
        else:
            stream.fill(room[:count])
            found.append(room[:count].copy())
    assert np.array_equal(np.concatenate(found), whole)


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_r6_words_that_were_handed_out_are_in_no_array_that_is_filled_later(bits: int) -> None:
    stream, room = SecureWords().stream(b"c", bits), empty_words(1000, bits)
    taken = [stream.take(1000) for _ in range(3)]
    kept = [words.copy() for words in taken]
    stream.fill(room)
    taken.append(stream.take(1000))
    assert all(np.array_equal(words, before) for words, before in zip(taken[:3], kept, strict=True))
    assert not any(np.shares_memory(one, two) for one, two in itertools.combinations([*taken, room], 2))
    assert not any(module._ZEROS)


def test_a_closed_source_gives_no_words_and_has_no_key(known_key: SecureWords) -> None:
    stream = known_key.stream(b"c", 32)
    known_key.close()
    known_key.close()
    with pytest.raises(RandomSourceError, match="closed"):
        stream.take(1)
    with pytest.raises(RandomSourceError, match="closed"):
        known_key.stream(b"d", 32)
    assert KEY not in vars(known_key).values()


def test_nothing_shows_the_key(known_key: SecureWords) -> None:
    stream = known_key.stream(b"c", 32)
    for thing in (known_key, stream):
        shown = f"{thing!r} {thing}"
        assert KEY.hex() not in shown
        assert repr(KEY)[2:-1] not in shown


def test_r8_no_global_seed_has_any_effect() -> None:
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - the global state is what is tested
        drawn.append(SecureWords().stream(b"c", 64).take(10).tolist())
    assert drawn[0] != drawn[1]


def test_r8_no_key_can_be_passed() -> None:
    with pytest.raises(TypeError):
        SecureWords(KEY)
    with pytest.raises(TypeError):
        SecureWords(key=KEY)


def test_r6_every_process_draws_its_own_key(
    run_module: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    code = (
        "from budget_opt.randomizer.words import SecureWords; print(SecureWords().stream(b'c', 64).take(2))"
    )
    shown = [run_module("-c", code).stdout for _ in range(2)]
    assert all(shown)
    assert shown[0] != shown[1]
