"""How many cells a second are randomized, beside what others do and what bounds it, in one run (R27).

    python -m benchmarks.randomize > benchmarks/results/randomize.md

One attribute or cluster, codes in, reports out, a line a matrix; the largest epsilons need words of 64 and
128 bits, and so does every known source. The values of a cluster are one cell. Times are of the processor
(the cores are shared), the least of several rounds in which all take turns.

| column | what it does |
|---|---|
| single use | our reports under a fresh key, words and all, as `bo.randomize` draws them |
| keyed | the same with words that name of the row and cell determine; the names are made before |
| textbook | `where(random(n) < p, codes, others(n))` with numpy's PCG64, the columns at once |
| tuned textbook | the same in chunks that stay in the cache, codes' type for integers, uniforms of 24 bits |
| OpenDP | `make_randomized_response`, which takes one value a call and has no other matrix |
| key stream | AES-256-CTR alone, the words that single use needs |
| copy | `numpy.copyto` of the codes |

`others` are `integers` of a uniform background, and of another one the number of its summed shares that a
uniform number reaches. Of a known source the textbook has that number of the summed row of each cell's code,
and no p. It joins and splits the codes of a cluster as we do: by products, `//` and `%`.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

import budget_opt as bo
from budget_opt.allocation import AllocatedBlock
from budget_opt.mechanisms.doubles import nearest_matrix
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler, replaced_shares
from budget_opt.model.clusters.block import Block
from budget_opt.randomizer.drawing import Keyed, SingleUse
from budget_opt.randomizer.kernel import CHUNK_CELLS
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.row_names import RowNames, positions
from budget_opt.randomizer.words import SecureWords, empty_words
from budget_opt.tables.encoding import Codes, code_type

CELLS = 2**22
OPENDP_CELLS = 1000
ROUNDS = 7
TEXTBOOK_RATIO, TEXTBOOK_CATEGORIES = 4.0, 128
"""How many times as fast as the textbook single use is to be, up to so many categories."""
STREAM_SHARE = 0.3
"""Which share of the key stream's speed single use is to reach."""

Step = Callable[[], object]
Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
    """What is randomized as one, and its epsilon in nats."""

    matrix: str
    members: tuple[bo.Attribute, ...]
    epsilon: float

    @property
    def block(self) -> AllocatedBlock:
        """The block with its sampler."""
        block = Block(self.members)
        return AllocatedBlock(block, self.epsilon, block.sampler(self.epsilon))


def alone(r: int, epsilon: float) -> Case:
    """An attribute with the uniform background."""
    return Case("uniform", (bo.Attribute("x", categories=r),), epsilon)


def cluster(shape: tuple[int, ...], epsilon: float) -> Case:
    """Attributes that are randomized as one."""
    members = tuple(bo.Attribute(f"x{i}", categories=r) for i, r in enumerate(shape))
    return Case("cluster", members, epsilon)


def uneven(r: int) -> list[float]:
    """Shares that fall from the first category to the last, which has a tenth of the first."""
    falling = np.linspace(10.0, 1.0, r)
    return [float(share) for share in falling / falling.sum()]


def background(r: int, epsilon: float) -> Case:
    """An attribute whose replaced cells are drawn from uneven shares."""
    return Case("background", (bo.Attribute("x", categories=r, background=uneven(r)),), epsilon)


def known_source(r: int, epsilon: float) -> Case:
    """An attribute whose shares are known, so that the best matrix for them is drawn."""
    source = {"distributions": [uneven(r)]}
    return Case("known source", (bo.Attribute("x", categories=r, source=source, epsilon=epsilon),), epsilon)


CASES = (
    *(alone(r, e) for r, e in ((2, 1.0), (5, 1.0), (16, 1.0), (50, 1.0), (1000, 1.0))),
    *(alone(5, e) for e in (8.0, 25.0, 40.0)),
    *(cluster(shape, e) for shape, e in (((4, 4), 4.0), ((2, 3, 4), 4.0), ((16, 16), 4.0))),
    *(background(r, e) for r, e in ((5, 1.0), (50, 1.0), (1000, 4.0), (5, 25.0))),
    *(known_source(r, e) for r, e in ((5, 1.0), (50, 3.0), (200, 5.0))),
)


class Textbook:
    """What a page of a textbook says, and the same with types and sizes that suit numpy."""

    def __init__(self, sampler: AnySampler, shape: tuple[int, ...], seed: int) -> None:
        self._draw, self._shape, self._r = np.random.default_rng(seed), shape, sampler.cardinality
        self._kept = 0.0 if isinstance(sampler, MatrixSampler) else float(sampler.retention)
        self._sums: Numbers | None = None
        if isinstance(sampler, MatrixSampler):
            self._sums = np.cumsum(nearest_matrix(sampler), axis=1)[:, :-1]
        elif not isinstance(sampler, Sampler):
            self._sums = np.cumsum(np.array(replaced_shares(sampler), dtype=np.float64))[:-1]

    def at_once(self, columns: Mapping[str, Codes]) -> list[Numbers]:
        """The reports of all rows."""
        joint = self._joined([column.astype(np.int64) for column in columns.values()])
        return self._split(self._reported(joint, np.float64, np.int64))

    def in_chunks(self, columns: Mapping[str, Codes]) -> list[Numbers]:
        """The reports of all rows, a chunk at a time."""
        kind = code_type(self._r)
        reports = [np.empty_like(column) for column in columns.values()]
        for start in range(0, CELLS, CHUNK_CELLS):
            rows = slice(start, start + CHUNK_CELLS)
            joint = self._joined([column[rows].astype(kind) for column in columns.values()])
            found = self._split(self._reported(joint, np.float32, kind))
            for report, part in zip(reports, found, strict=True):
                report[rows] = part
        return reports

    def _joined(self, columns: list[Numbers]) -> Numbers:
        joint = columns[0]
        for column, r in zip(columns[1:], self._shape[1:], strict=True):
            joint = joint * r + column
        return joint

    def _split(self, joint: Numbers) -> list[Numbers]:
        parts = []
        for r in self._shape[:0:-1]:
            parts.append(joint % r)
            joint = joint // r
        return [joint, *parts[::-1]]

    def _reported(self, codes: Numbers, real: Any, whole: Any) -> Numbers:
        uniform = self._draw.random(codes.size, dtype=real)
        if self._sums is not None and self._sums.ndim == 2:
            return self._of_rows(codes, uniform, self._sums.astype(real))
        if self._sums is None:
            others = self._draw.integers(0, self._r, codes.size, dtype=whole)
        else:
            sums = self._sums.astype(real)
            others = np.searchsorted(sums, self._draw.random(codes.size, dtype=real), side="right")
        return np.where(uniform < self._kept, codes, others)

    def _of_rows(self, codes: Numbers, uniform: Numbers, sums: Numbers) -> Numbers:
        reports = np.empty_like(codes)
        for code in range(self._r):
            cells = np.flatnonzero(codes == code)
            reports[cells] = np.searchsorted(sums[code], uniform[cells], side="right")
        return reports


def key_stream(cells: int, bits: int) -> object:
    """As many words as cells, a chunk at a time, as the kernel draws them."""
    stream, words = SecureWords().stream(b"benchmark", bits), empty_words(CHUNK_CELLS, bits)
    for start in range(0, cells, CHUNK_CELLS):
        stream.fill(words[: cells - start])
    return words


def contestants(case: Case, rows: RowNames) -> dict[str, tuple[int, Step]]:
    """Of each name, the number of cells and what randomizes them; no cells where nothing does."""
    block, sampler = case.block, sampler_of(case)
    draw = np.random.default_rng(sampler.cardinality)
    columns: dict[str, Codes] = {
        one.name: draw.integers(0, one.cardinality, CELLS).astype(code_type(one.cardinality))
        for one in case.members
    }
    copies = {name: np.empty_like(codes) for name, codes in columns.items()}
    keyed, book = Keyed([block], KeyedRelease("benchmark")), Textbook(sampler, block.shape, CELLS)
    return {
        "single use": (CELLS, lambda: SingleUse([block], SecureWords()).reports(columns, rows)),
        "keyed": (CELLS, lambda: keyed.reports(columns, rows)),
        "textbook": (CELLS, lambda: book.at_once(columns)),
        "tuned textbook": (CELLS, lambda: book.in_chunks(columns)),
        "OpenDP": opendp(sampler, columns),
        "key stream": (CELLS, lambda: key_stream(CELLS, sampler.bits)),
        "copy": (CELLS, lambda: copy(columns, copies)),
    }


def copy(columns: Mapping[str, Codes], copies: Mapping[str, Codes]) -> None:
    """What memory alone takes."""
    for name, codes in columns.items():
        np.copyto(copies[name], codes)


def sampler_of(case: Case) -> AnySampler:
    """The integers of a case."""
    sampler = case.block.sampler
    if sampler is None:
        raise SystemExit(f"{case.matrix}: no sampler at epsilon {case.epsilon}")
    return sampler


def opendp(sampler: AnySampler, columns: Mapping[str, Codes]) -> tuple[int, Step]:
    """OpenDP's randomized response of one attribute with the uniform background, which is all that it has."""
    if not isinstance(sampler, Sampler) or len(columns) > 1:
        return 0, lambda: None
    truth = float(sampler.truth_probability)
    rival = dp.m.make_randomized_response(categories=list(range(sampler.cardinality)), prob=truth)
    few = next(iter(columns.values()))[:OPENDP_CELLS].tolist()
    return OPENDP_CELLS, lambda: [rival(code) for code in few]


def speeds(steps: Mapping[str, tuple[int, Step]]) -> dict[str, float]:
    """Million cells a second of the processor; 0 where nothing is randomized."""
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for name, (_, step) in steps.items():
            started = time.process_time()
            step()
            least[name] = min(least[name], time.process_time() - started)
    return {name: cells / least[name] / 1e6 if cells else 0.0 for name, (cells, _) in steps.items()}


def lines() -> Iterator[str]:
    """The page of results."""
    yield "# Results of `python -m benchmarks.randomize`\n"
    yield "What is compared, and how: its docstring. Million cells a second of the processor.\n"
    rows = positions(0, CELLS)
    names = tuple(contestants(CASES[0], rows))
    heads = ["matrix", "categories", "epsilon", "bits", *names]
    heads += ["to textbook", "to tuned", "of the key stream", "goals"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for case in CASES:
        yield f"| {' | '.join(cells_of(case, speeds(contestants(case, rows))))} |"
    yield (
        f"\nGoals, of the uniform background: at least {TEXTBOOK_RATIO:g} times the textbook up to "
        f"{TEXTBOOK_CATEGORIES} categories, and {STREAM_SHARE:.0%} of the key stream.\n{CELLS:,} cells "
        f"({OPENDP_CELLS:,} of OpenDP), the least of {ROUNDS} rounds."
    )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "cryptography", "opendp"))
    yield (
        f"Python {platform.python_version()}, {packages}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} shared cores."
    )


def cells_of(case: Case, found: Mapping[str, float]) -> list[str]:
    """A line of the table."""
    shape, ours = [member.cardinality for member in case.members], found["single use"]
    ratio, share = ours / found["textbook"], ours / found["key stream"]
    reached = (ratio >= TEXTBOOK_RATIO or max(shape) > TEXTBOOK_CATEGORIES) and share >= STREAM_SHARE
    return [
        case.matrix,
        " x ".join(map(str, shape)),
        f"{case.epsilon:g}",
        str(sampler_of(case).bits),
        *(f"{speed:.3g}" if speed else "-" for speed in found.values()),
        f"{ratio:.1f} x",
        f"{ours / found['tuned textbook']:.1f} x",
        f"{share:.0%}",
        "-" if case.matrix != "uniform" else "reached" if reached else "missed",
    ]


def main() -> None:
    """Print the page."""
    dp.enable_features("contrib")
    for line in lines():
        print(line, flush=True)


if __name__ == "__main__":
    main()
