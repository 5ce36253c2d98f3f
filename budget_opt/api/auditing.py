"""Is a sampler, anyone's, what the allocation says? It is asked as a black box."""

from __future__ import annotations

import math
import numbers
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import as_list, require, require_number
from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.verifier.auditing.power import Noticed
    from budget_opt.verifier.auditing.result import Audit
    from budget_opt.verifier.auditing.samplers import Sampler
    from budget_opt.verifier.auditing.settings import Settings

FEWEST_TRIALS = 1_000
_TAKES = ("pandas", "polars", "pyarrow", "record")
_CALLS, _CALLS_OF_A_COMMAND = 200, 40
_UNDECLARED, _UNDECLARED_OF_A_COMMAND = 60, 12


@dataclass(frozen=True)
class AuditOptions:
    """How `audit` asks.

    `takes` is what a callable is given: a table ("pandas", "polars", "pyarrow"), or one "record" at a time as
    a dictionary. `error` in (0, 0.1] is the probability, over all tests together, that a sound sampler has
    findings. `calls` is the number of small batches, in which the first, the last and the only record are
    looked at (200, 40 for a command, none one record at a time). `seed` makes the same choices again;
    without one it is fresh, and the audit states it. `time_limit` (seconds) is for each call of a command;
    what runs in this process cannot be stopped.
    """

    takes: Literal["pandas", "polars", "pyarrow", "record"] = "pandas"
    error: float = 1e-9
    calls: int | None = None
    seed: int | None = None
    time_limit: float = 60.0


def audit(
    sampler: Callable[[Any], Any] | Sequence[str],
    allocation: Allocation,
    trials: int = 200_000,
    options: AuditOptions | None = None,
) -> Audit:
    """Ask a sampler for reports of made-up records, and look for a privacy loss above the allocation's.

    `sampler` is a callable (see `AuditOptions.takes`), or a command as a list of texts, run without a shell:
    it reads CSV from standard input, or from the file {input}, and writes CSV to standard output, or to the
    file {output}. Reports must come back for all records, in their order, in columns of the same names with
    the declared labels. `trials` >= 1,000 is the number of records in large batches. No data is needed.

    Shown are lower bounds of epsilon (nats) by Clopper and Pearson: of every attribute, and of every
    cluster as one attribute with its joint categories, over all pairs of categories and all reports, at
    every place in a batch, and over chosen sets of its and others' reports; and of the record over a
    worst pair. Found are also noise that repeats or goes together, reports that carry other values, of
    their record or of another one, or are outside the domain, columns (and an index, or metadata) beside
    the declared ones, and undeclared values that come back unchanged. A keyed release repeats its noise
    on purpose: give every call a new one. The result never says that a sampler is private; it says what
    it would have noticed. `.require()` raises `VerificationError` where there are findings. An audit
    repeated until it passes says nothing.

    Raises `InputError` for arguments, and where the sampler raises, takes too long, or gives other rows.
    """
    from budget_opt.verifier.auditing.auditor import audit_sampler

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    options = AuditOptions() if options is None else options
    require(options, AuditOptions, "options", 'Write AuditOptions(takes="record", error=1e-9, ...).')
    asked = _sampler(sampler, options)
    return audit_sampler(asked, allocation, _settings(trials, options, asked))


def noticeable(allocation: Allocation, trials: int = 200_000, error: float = 1e-9) -> dict[str, Noticed]:
    """The least epsilon (nats) of each attribute or cluster that 9 audits of 10 of this size notice.

    `truth` of a sampler that keeps the truth too often, `pair` of one with a fault in one pair of categories;
    inf where none is noticed.
    """
    from budget_opt.verifier.auditing.power import noticeable as noticed
    from budget_opt.verifier.auditing.settings import Settings

    released = [block for block in allocation.blocks if block.is_released]
    settings = Settings(_whole(trials, "trials", FEWEST_TRIALS), 0, _error(error), 0, 0)
    return {block.name: noticed(block, settings, len(released)) for block in released}


def noticeable_in_words(allocation: Allocation, trials: int, error: float) -> str:
    """What an audit of this size notices in whatever attribute, told beforehand."""
    from budget_opt.verifier.auditing.result import excess_in_words

    epsilons = {block.name: block.epsilon for block in allocation.blocks}
    excesses = [
        (at.truth - epsilons[name], at.pair - epsilons[name])
        for name, at in noticeable(allocation, trials, error).items()
    ]
    truth, pair = (max(kind) for kind in zip(*excesses, strict=True)) if excesses else (math.inf, math.inf)
    return f"notices, 9 times in 10, {excess_in_words(truth, pair)}"


def _sampler(sampler: Callable[[Any], Any] | Sequence[str], options: AuditOptions) -> Sampler:
    from budget_opt.verifier.auditing.commands import CommandSampler
    from budget_opt.verifier.auditing.samplers import RecordSampler, TableSampler

    if options.takes not in _TAKES:
        raise InputError(f"takes: is {options.takes!r}, must be one of {', '.join(_TAKES)}.")
    if callable(sampler):
        return RecordSampler(sampler) if options.takes == "record" else TableSampler(sampler, options.takes)
    time_limit = require_number(options.time_limit, "time_limit")
    if not 0 < time_limit < math.inf:
        raise InputError(f"time_limit: is {time_limit!r}, must be a positive number of seconds.")
    return CommandSampler(as_list(sampler) or (), time_limit)


def _settings(trials: int, options: AuditOptions, sampler: Sampler) -> Settings:
    from budget_opt.verifier.auditing.settings import Settings

    calls, undeclared = (
        (_CALLS, _UNDECLARED) if sampler.in_process else (_CALLS_OF_A_COMMAND, _UNDECLARED_OF_A_COMMAND)
    )
    if options.calls is not None:
        calls = _whole(options.calls, "calls", 0)
    seed = secrets.randbits(64) if options.seed is None else _whole(options.seed, "seed", 0)
    return Settings(_whole(trials, "trials", FEWEST_TRIALS), calls, _error(options.error), seed, undeclared)


def _error(value: object) -> float:
    error = require_number(value, "error")
    if not 0 < error <= 0.1:
        raise InputError(f"error: is {error!r}, must be above 0 and at most 0.1.")
    return error


def _whole(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name}: is a {type(value).__name__}, must be an integer.")
    if value < least:
        raise InputError(f"{name}: is {value}, must be at least {least:,}.")
    return int(value)
