"""The command estimate: what a released table still says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import budget_opt as bo
from budget_opt.api.releasing.publishing import require_released_under
from budget_opt.cli.commands_problem import AllocationFile, AsJson
from budget_opt.cli.estimate_requests import EVERY, Stated, requests_of
from budget_opt.cli.estimate_results import Result, csv_of, documents_of, require_replaceable_estimates
from budget_opt.cli.output import note, out, out_json
from budget_opt.cli.stated_scores import scores_of
from budget_opt.errors import InputError
from budget_opt.estimators.estimate import normal_quantile
from budget_opt.estimators.intervals.noise_limit import require_noise_limit
from budget_opt.estimators.releases.naming import hint
from budget_opt.model.documents import write_text


def _asked(metavar: str, text: str) -> Any:
    """An option by which something is asked for; typer does not say what type it gives back."""
    return typer.Option(metavar=metavar, help=text)


def estimate(
    allocation: AllocationFile,
    released: Annotated[Path, typer.Argument(metavar="RELEASED", help="The released table.")],
    moment: Annotated[
        list[str] | None, _asked("a,b", "The cross-moment of attributes with scores; of one, its mean.")
    ] = None,
    marginals: Annotated[
        list[str] | None, _asked("a,b", f"The shares of the categories of each of these, or of {EVERY}.")
    ] = None,
    source_marginal: Annotated[
        list[str] | None,
        _asked("a", "The shares of the categories of this one, whose matrix a known source chose."),
    ] = None,
    table: Annotated[list[str] | None, _asked("a,b,c", "The joint table of these; see --method.")] = None,
    covariances: Annotated[
        list[str] | None, _asked("a,b,c", f"Covariances of these, or of {EVERY} with scores.")
    ] = None,
    correlations: Annotated[
        list[str] | None, _asked("a,b,c", f"Correlations of these, or of {EVERY} with scores.")
    ] = None,
    associations: Annotated[
        list[str] | None,
        _asked("a,b,c", f"Cramer's V of all pairs of these, or of {EVERY}; needs no scores."),
    ] = None,
    test: Annotated[list[str] | None, _asked("a,b", "Test whether these are independent.")] = None,
    statistic: Annotated[
        list[str] | None,
        _asked(
            "NAME:a,b",
            "entropy, mutual-information, chi-square, g-square, phi-square or cramers-v, such as "
            "entropy:income.",
        ),
    ] = None,
    means: Annotated[
        list[str] | None, _asked("y:g", "The mean of y in each category of g, such as income:region.")
    ] = None,
    regress: Annotated[list[str] | None, _asked("'y ~ x1 + x2'", "A linear regression.")] = None,
    logistic: Annotated[
        list[str] | None, _asked("'y ~ x1 + x2'", "A logistic regression; y has two categories.")
    ] = None,
    target: Annotated[
        Literal["population", "data"],
        typer.Option(help="What errors are measured from: data is the original table."),
    ] = "population",
    level: Annotated[float, typer.Option(help="Of all intervals, between 0 and 1.")] = 0.95,
    method: Annotated[
        str | None,
        typer.Option(
            help="Of joint tables: default (least error), unbiased (with intervals), simplex, likelihood, "
            "maximum-likelihood, independent, hybrid, truncated.",
        ),
    ] = None,
    test_method: Annotated[
        Literal["released", "likelihood", "corrected", "permutation"] | None,
        typer.Option(
            help="Of --test: released (Pearson, the default) or likelihood of the released table; corrected, "
            "which alone suits members of one cluster and is the default there; permutation, for few rows.",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="a=0,1,2",
            help="Scores of an attribute, one a category in their order; of a public column of categories "
            "one a value, such as wave=first:0,second:1. Repeat for more.",
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A public column of survey weights, or none. Default: that of the allocation, if any.",
        ),
    ] = None,
    noise_limit: Annotated[
        float,
        typer.Option(
            help="What has an error above so many times the largest value there can be is refused; inf: "
            "nothing is.",
        ),
    ] = 1.0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.csv", help="Write all results as one table too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate from a release what the originals say: corrected, with standard errors and intervals.

    Everything is asked for by an option, which may be given more than once. Where one of the results is
    refused, nothing is printed and nothing is written.
    """
    asked = {
        "moment": moment,
        "marginals": marginals,
        "source-marginal": source_marginal,
        "table": table,
        "covariances": covariances,
        "correlations": correlations,
        "associations": associations,
        "test": test,
        "statistic": statistic,
        "means": means,
        "regress": regress,
        "logistic": logistic,
    }
    normal_quantile(level)
    require_noise_limit(noise_limit)
    _require_asked(asked, method, test_method)
    _require_population(asked, target)
    if output is not None:
        require_replaceable_estimates(output, released)
    found = bo.Allocation.read(allocation)
    stated = Stated(
        allocation=found,
        method=method or "default",
        test_method=test_method,
        scores=scores_of(scores or (), found.public),
        shared={
            "target": target,
            "weight": _weight(weight, found),
            "noise_limit": noise_limit,
        },
    )
    requests = requests_of(asked, stated)
    if not require_released_under(released, found, str(allocation)):
        note(f"note: no manifest beside {released} says that it was released under {allocation}")
    results = [Result(one.option, one.asked, one.made(released), level) for one in requests]
    _tell(results, output, as_json=as_json)


def _require_asked(asked: dict[str, list[str] | None], method: str | None, test_method: str | None) -> None:
    from budget_opt.estimators.joint.methods import method_named

    if not any(asked.values()):
        raise InputError(
            "estimate: nothing is asked for. Give one or more of "
            f"{', '.join(f'--{option}' for option in asked)}, for instance --marginals {EVERY}."
        )
    if method is not None:
        method_named(method)
        if not asked["table"]:
            raise InputError(
                "--method: is of joint tables, and none is asked for. Give --table, or leave it out; that of "
                "a test is --test-method."
            )
    if test_method is not None and not asked["test"]:
        raise InputError("--test-method: is of --test, and no test is asked for. Give one, or leave it out.")


def _require_population(asked: dict[str, list[str] | None], target: str) -> None:
    if asked["source-marginal"] and target != "population":
        raise InputError(
            f"--target {target}: the errors of --source-marginal are from the population alone. Ask for it "
            "in a command of its own, without --target."
        )


def _weight(column: str | None, allocation: bo.Allocation) -> str | Literal[False] | None:
    """The argument of estimates: False for "none", None for what the allocation states."""
    if column is None or column in allocation.public:
        return column
    if column == "none":
        return False
    raise InputError(
        f"--weight: {column!r} is not a public column of the allocation. "
        f"{hint(column, [*allocation.public, 'none'])}"
    )


def _tell(results: Sequence[Result], output: Path | None, *, as_json: bool) -> None:
    if output is not None:
        write_text(csv_of(results), output)
    if as_json:
        out_json(documents_of(results))
        return
    for result in results:
        out(result.renderable())
    if output is not None:
        out(f"written: {output}")
