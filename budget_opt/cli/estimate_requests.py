"""What the options of the command estimate ask for, before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import budget_opt as bo
from budget_opt.cli.estimate_results import Table
from budget_opt.cli.stated_scores import Scores
from budget_opt.errors import DataError, InputError
from budget_opt.estimators.moments.designs import scored_attributes
from budget_opt.estimators.releases.naming import hint

EVERY = "all"
_STATISTICS = ("entropy", "mutual-information", "chi-square", "g-square", "phi-square", "cramers-v")


@dataclass(frozen=True)
class Stated:
    """What holds for all that is asked: methods of tables and tests, and `shared` arguments of estimates."""

    allocation: bo.Allocation
    method: str
    test_method: str | None
    scores: Scores
    shared: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One result: of which option, in which words, and how it is made from a release.

    `scored` are the attributes whose scores it uses.
    """

    option: str
    asked: str
    scored: frozenset[str]
    make: Callable[[Path], Table]

    def made(self, released: Path) -> Table:
        """The result; an error that is not the released table's names the option."""
        try:
            return self.make(released)
        except DataError:
            raise
        except InputError as error:
            told = str(error)
            if self.option == "test":  # whose method is an option of its own
                told = told.replace("method=", "test_method=")
            said = f"--{self.option}" if self.asked in told else f"--{self.option} {self.asked}"
            raise error.reworded(f"{said}: {told}") from None


class _Call(NamedTuple):
    """A function of `bo.estimate` with its own arguments; `without` are shared ones that it does not take."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}
    scored: Collection[str] = ()
    without: Collection[str] = ()


def requests_of(asked: Mapping[str, Sequence[str] | None], stated: Stated) -> list[Request]:
    """All requests in the order of the options.

    Raises `InputError` for words that do not ask for anything, and for scores that nothing uses.
    """
    requests = list(_requests(asked, stated))
    used = frozenset[str]().union(*(request.scored for request in requests))
    for name in stated.scores:
        if name not in used:
            raise InputError(
                f"--scores {name}: no moment, covariance, correlation, group mean or regression of it is "
                f"asked for. {hint(name, sorted(used)) if used else 'Leave it out.'}"
            )
    return requests


def _requests(asked: Mapping[str, Sequence[str] | None], stated: Stated) -> Iterator[Request]:
    for option, texts in asked.items():
        if option == "moment" and texts:
            # all moments of a release are made together, as it is read once for them
            yield _request(option, " and ".join(texts), _moments(texts), stated)
        else:
            for text in texts or ():
                yield _request(option, text, _CALLS[option](text, stated), stated)


def _request(option: str, text: str, call: _Call, stated: Stated) -> Request:
    shared = {name: value for name, value in stated.shared.items() if name not in call.without}
    scores = {name: numbers for name, numbers in stated.scores.items() if name in call.scored}
    given = {"scores": scores} if scores else {}

    def make(released: Path) -> Table:
        options = {**shared, **given, **call.options}
        made: Table = call.function(released, stated.allocation, *call.arguments, **options)
        return made

    return Request(option, text, frozenset(call.scored), make)


def _moments(texts: Sequence[str]) -> _Call:
    wanted = [_names(text, "moment") for text in texts]
    return _Call(bo.estimate.moments, (wanted,), scored={name for names in wanted for name in names})


def _marginals(text: str, stated: Stated) -> _Call:
    del stated
    return _Call(bo.estimate.marginals, _chosen(text, "marginals"))


def _source_marginal(text: str, stated: Stated) -> _Call:
    del stated
    return _Call(bo.estimate.source_marginal, (text.strip(),), without=("target", "noise_limit"))


def _table(text: str, stated: Stated) -> _Call:
    return _Call(bo.estimate.table, _names(text, "table"), {"method": stated.method})


def _matrix(option: str, text: str, stated: Stated) -> _Call:
    function = bo.estimate.covariance if option == "covariances" else bo.estimate.correlation
    names = _chosen(text, option)
    own = {name: given for name, given in stated.scores.items() if isinstance(given, list)}
    return _Call(function, names, scored=names or scored_attributes(stated.allocation, own))


def _associations(text: str, stated: Stated) -> _Call:
    del stated
    return _Call(bo.estimate.associations, _chosen(text, "associations"))


def _test(text: str, stated: Stated) -> _Call:
    names, options = _names(text, "test"), {"method": stated.test_method}
    return _Call(bo.estimate.independence_test, names, options, without=("target", "noise_limit"))


def _statistic(text: str, stated: Stated) -> _Call:
    del stated
    name, names = _pair(text, "statistic", "entropy:income")
    if name not in _STATISTICS:
        raise InputError(f"--statistic {text}: {name!r} is none of {', '.join(_STATISTICS)}. Choose one.")
    return _Call(getattr(bo.estimate, name.replace("-", "_")), _names(names, "statistic"))


def _means(text: str, stated: Stated) -> _Call:
    del stated
    attribute, by = _pair(text, "means", "income:region")
    return _Call(bo.estimate.group_means, (attribute,), {"by": by}, scored=(attribute,))


def _regression(family: str, text: str, stated: Stated) -> _Call:
    from budget_opt.estimators.regression.opening import model_of

    names = [*(one.name for one in stated.allocation.attributes), *stated.allocation.public]
    model = model_of(text, names, categories=family == "logistic")
    return _Call(bo.estimate.regress, (text,), {"family": family}, scored=model.attributes)


_CALLS: dict[str, Callable[[str, Stated], _Call]] = {
    "marginals": _marginals,
    "source-marginal": _source_marginal,
    "table": _table,
    "covariances": partial(_matrix, "covariances"),
    "correlations": partial(_matrix, "correlations"),
    "associations": _associations,
    "test": _test,
    "statistic": _statistic,
    "means": _means,
    "regress": partial(_regression, "linear"),
    "logistic": partial(_regression, "logistic"),
}


def _names(text: str, option: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InputError(f"--{option} {text}: must be names of attributes with a comma between them.")
    return names


def _chosen(text: str, option: str) -> tuple[str, ...]:
    """The names; none where all are meant."""
    return () if text.strip() == EVERY else _names(text, option)


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    first, _, second = text.partition(":")
    if not first.strip() or not second.strip():
        raise InputError(f"--{option} {text}: must be like {example}.")
    return first.strip(), second.strip()
