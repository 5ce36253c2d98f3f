"""How many cells a second are randomized, beside what others do and what bounds it, in one run (R27).

    python -m benchmarks.randomize > benchmarks/results/randomize.md

One attribute, codes in, reports out, a line a number of categories and an epsilon; the largest epsilons need
words of 64 and 128 bits. Times are of the processor (the cores are shared), the least of several rounds in
which all take turns.

| column | what it does |
|---|---|
| single use | our reports under a fresh key, words and all, as `bo.randomize` draws them |
| keyed | the same with words that name of the row and cell determine; the names are made before |
| textbook | `where(random(n) < p, codes, integers(0, r, n))` with numpy's PCG64, the column at once |
| tuned textbook | the same in chunks that stay in the cache, codes' type for integers, uniforms of 24 bits |
| OpenDP | `make_randomized_response`, which takes one value a call |
| key stream | AES-256-CTR alone, the words that single use needs |
| copy | `numpy.copyto` of the codes |
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np
import opendp.prelude as dp

import budget_opt as bo
from budget_opt.allocation import AllocatedAttribute
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.randomizer.drawing import Keyed, SingleUse
from budget_opt.randomizer.kernel import CHUNK_CELLS
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.row_names import RowNames, positions
from budget_opt.randomizer.words import SecureWords, empty_words
from budget_opt.tables.encoding import Codes, code_type

CASES = ((2, 1.0), (5, 1.0), (16, 1.0), (50, 1.0), (1000, 1.0), (5, 8.0), (5, 25.0), (5, 40.0))
"""Categories and epsilon."""
CELLS = 2**23
OPENDP_CELLS = 1000
ROUNDS = 9
TEXTBOOK_RATIO, TEXTBOOK_CATEGORIES = 4.0, 128
"""How many times as fast as the textbook single use is to be, up to so many categories."""
STREAM_SHARE = 0.3
"""Which share of the key stream's speed single use is to reach."""

Step = Callable[[], object]


def attribute_of(r: int, epsilon: float) -> tuple[AllocatedAttribute, Sampler]:
    """One attribute that has the whole budget, and its integers."""
    problem = bo.Problem(
        attributes=[bo.Attribute("x", categories=r)], moments=[bo.CrossMoment("x")], total_epsilon=epsilon
    )
    attribute = bo.uniform(problem)["x"]
    if not isinstance(attribute.sampler, Sampler):
        raise SystemExit(f"{r} categories have no sampler at epsilon {epsilon}")
    return attribute, attribute.sampler


def textbook(codes: Codes, r: int, p: float, draw: np.random.Generator) -> object:
    """What a page of a textbook says."""
    return np.where(draw.random(codes.size) < p, codes, draw.integers(0, r, codes.size))


def tuned_textbook(codes: Codes, r: int, p: float, draw: np.random.Generator) -> object:
    """The same with types and sizes that suit numpy."""
    reports = np.empty_like(codes)
    for start in range(0, codes.size, CHUNK_CELLS):
        chunk = codes[start : start + CHUNK_CELLS]
        kept = draw.random(chunk.size, dtype=np.float32) < p
        others = draw.integers(0, r, chunk.size, dtype=codes.dtype)
        reports[start : start + CHUNK_CELLS] = np.where(kept, chunk, others)
    return reports


def key_stream(cells: int, bits: int) -> object:
    """As many words as cells, a chunk at a time, as the kernel draws them."""
    stream, words = SecureWords().stream(b"benchmark", bits), empty_words(CHUNK_CELLS, bits)
    for start in range(0, cells, CHUNK_CELLS):
        stream.fill(words[: cells - start])
    return words


def contestants(r: int, epsilon: float, rows: RowNames) -> dict[str, tuple[int, Step]]:
    """Of each name, the number of cells and what randomizes them."""
    attribute, sampler = attribute_of(r, epsilon)
    blocks = [attribute.part]
    draw = np.random.default_rng(r)
    codes: Codes = draw.integers(0, r, CELLS).astype(code_type(r))
    copy, few = np.empty_like(codes), codes[:OPENDP_CELLS].tolist()
    p = float(sampler.retention)
    rival = dp.m.make_randomized_response(categories=list(range(r)), prob=float(sampler.truth_probability))
    keyed = Keyed(blocks, KeyedRelease("benchmark"))
    return {
        "single use": (CELLS, lambda: SingleUse(blocks, SecureWords()).reports({"x": codes}, rows)),
        "keyed": (CELLS, lambda: keyed.reports({"x": codes}, rows)),
        "textbook": (CELLS, lambda: textbook(codes, r, p, draw)),
        "tuned textbook": (CELLS, lambda: tuned_textbook(codes, r, p, draw)),
        "OpenDP": (OPENDP_CELLS, lambda: [rival(code) for code in few]),
        "key stream": (CELLS, lambda: key_stream(CELLS, sampler.bits)),
        "copy": (CELLS, lambda: np.copyto(copy, codes)),
    }


def speeds(steps: dict[str, tuple[int, Step]]) -> dict[str, float]:
    """Million cells a second of the processor."""
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for name, (_, step) in steps.items():
            started = time.process_time()
            step()
            least[name] = min(least[name], time.process_time() - started)
    return {name: cells / least[name] / 1e6 for name, (cells, _) in steps.items()}


def lines() -> Iterator[str]:
    """The page of results."""
    yield "# Results of `python -m benchmarks.randomize`\n"
    yield "What is compared, and how: its docstring. Million cells a second of the processor.\n"
    names = tuple(contestants(2, 1.0, positions(0, 0)))
    heads = ["categories", "epsilon", "bits", *names, "to textbook", "to tuned", "of the key stream", "goals"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    rows = positions(0, CELLS)
    for r, epsilon in CASES:
        found = speeds(contestants(r, epsilon, rows))
        ours = found["single use"]
        ratio, share = ours / found["textbook"], ours / found["key stream"]
        reached = (ratio >= TEXTBOOK_RATIO or r > TEXTBOOK_CATEGORIES) and share >= STREAM_SHARE
        cells = [
            str(r),
            f"{epsilon:g}",
            str(attribute_of(r, epsilon)[1].bits),
            *(f"{speed:.3g}" for speed in found.values()),
        ]
        cells += [f"{ratio:.1f} x", f"{ours / found['tuned textbook']:.1f} x", f"{share:.0%}"]
        yield f"| {' | '.join(cells)} | {'reached' if reached else 'missed'} |"
    yield (
        f"\nGoals: at least {TEXTBOOK_RATIO:g} times the textbook up to {TEXTBOOK_CATEGORIES} categories, "
        f"and {STREAM_SHARE:.0%} of the key stream.\n{CELLS:,} cells "
        f"({OPENDP_CELLS:,} of OpenDP), the least of {ROUNDS} rounds."
    )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "cryptography", "opendp"))
    yield (
        f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} shared cores."
    )


def main() -> None:
    """Print the page."""
    dp.enable_features("contrib")
    for line in lines():
        print(line, flush=True)


if __name__ == "__main__":
    main()
