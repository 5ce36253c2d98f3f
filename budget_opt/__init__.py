"""The best split of a privacy budget over the attributes of a table, proved, released and verified.

    import budget_opt as bo

`Attribute`, `CrossMoment`, `Group`, `Problem` state the question; `read_codebook` gives attributes,
`moments_from_formula`, `all_pairs` and `pairs_with` moments, `pilot_strengths` and `observed_strengths`
weights from the data. `solve` gives the best `Allocation` and proves it, `uniform` the even one,
`allocation_from` one by hand; `judge` says what any of them is worth, `meaning` what it gives away, `prices`
what a little more would bring; `compare` puts several side by side, `explain` says why one is as it is and
what limits cost, `rounded` gives the best one on a grid, `frontier` the best ones along a range of totals,
weights, floors or n; `design` which attributes to randomize together. `randomize` makes a release of a
table, `randomize_file` of a file, a `LocalRandomizer` of one record at a time; under a `KeyedRelease` it
comes out the same wherever it is made, in parts by a `BatchRandomizer`, on a cluster by
`budget_opt.engines`. `export` writes the matrices for another anonymizer; `verify` and `verify_release`
check what was promised, `audit` asks any sampler as a black box; `estimate.moment` reads. A `Ledger` knows
what was spent on each data set, and refuses a `Charge` that passes its `Caps`; a release is charged to a
`Payer`, one of its data sets. `plots` draws, `explore` has sliders for a notebook, `report` writes one HTML
page for everybody. `hamming` has the best matrices for an attribute about whose distribution something is
known.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# the package has the function's name: whichever is imported last would win
from budget_opt.report import report
from budget_opt.version import __version__

if TYPE_CHECKING:
    from budget_opt import plots
    from budget_opt.accounting.meaning import Meaning
    from budget_opt.accounting.privacy import Privacy, privacy_of
    from budget_opt.allocation import Allocation, allocation_from, uniform
    from budget_opt.api import estimate
    from budget_opt.api.auditing import AuditOptions, audit
    from budget_opt.api.charging.charging import Payer
    from budget_opt.api.comparing.comparing import compare
    from budget_opt.api.comparing.comparison import Comparison
    from budget_opt.api.design.designing import design
    from budget_opt.api.design.result import Design
    from budget_opt.api.explaining import Explanation, explain
    from budget_opt.api.exports.exporting import export
    from budget_opt.api.formulas import FormulaMoments, moments_from_formula
    from budget_opt.api.frontiers.frontier import Frontier
    from budget_opt.api.frontiers.making import frontier
    from budget_opt.api.gridding import Rounded, rounded
    from budget_opt.api.judging import Judgement, judge
    from budget_opt.api.least_total import LeastTotal, least_total
    from budget_opt.api.meaning import meaning
    from budget_opt.api.planning import plan
    from budget_opt.api.pricing import prices
    from budget_opt.api.releasing.releasing import randomize, randomize_file
    from budget_opt.api.solving import solve
    from budget_opt.api.source_aware import SourceAware, source_aware
    from budget_opt.api.strengths import observed_strengths, pilot_strengths
    from budget_opt.api.verifying import verify, verify_release
    from budget_opt.codebooks.codebook import Codebook
    from budget_opt.codebooks.reading import read_codebook
    from budget_opt.errors import (
        AllocationError,
        BudgetExceededError,
        BudgetOptError,
        CertificateError,
        DataError,
        InfeasibleError,
        InputError,
        LedgerError,
        NoiseError,
        NotSolvedError,
        ProblemError,
        RandomSourceError,
        VerificationError,
    )
    from budget_opt.estimators.releases.counting import Counts
    from budget_opt.estimators.strengths.result import Strengths
    from budget_opt.explorer import explore
    from budget_opt.ledger.caps import Caps
    from budget_opt.ledger.charge import Charge
    from budget_opt.ledger.ledger import Ledger
    from budget_opt.mechanisms import hamming
    from budget_opt.model.attribute import Attribute
    from budget_opt.model.groupings.hierarchies import (
        groupings_from_edges,
        groupings_from_parents,
        groupings_from_prefixes,
        groupings_from_ranges,
    )
    from budget_opt.model.moments.moment import CrossMoment, Group, Provenance, PublicColumn
    from budget_opt.model.moments.priorities import all_pairs, pairs_with
    from budget_opt.model.problem import Problem
    from budget_opt.randomizer.batches import BatchRandomizer
    from budget_opt.randomizer.files import FileOptions
    from budget_opt.randomizer.keyed_release import KeyedRelease
    from budget_opt.randomizer.local import LocalRandomizer

_HOMES = {
    "Allocation": "budget_opt.allocation",
    "AllocationError": "budget_opt.errors",
    "Attribute": "budget_opt.model.attribute",
    "AuditOptions": "budget_opt.api.auditing",
    "BatchRandomizer": "budget_opt.randomizer.batches",
    "BudgetExceededError": "budget_opt.errors",
    "BudgetOptError": "budget_opt.errors",
    "Caps": "budget_opt.ledger.caps",
    "CertificateError": "budget_opt.errors",
    "Charge": "budget_opt.ledger.charge",
    "Codebook": "budget_opt.codebooks.codebook",
    "Comparison": "budget_opt.api.comparing.comparison",
    "Counts": "budget_opt.estimators.releases.counting",
    "CrossMoment": "budget_opt.model.moments.moment",
    "DataError": "budget_opt.errors",
    "Design": "budget_opt.api.design.result",
    "Explanation": "budget_opt.api.explaining",
    "FileOptions": "budget_opt.randomizer.files",
    "FormulaMoments": "budget_opt.api.formulas",
    "Frontier": "budget_opt.api.frontiers.frontier",
    "Group": "budget_opt.model.moments.moment",
    "InfeasibleError": "budget_opt.errors",
    "InputError": "budget_opt.errors",
    "Judgement": "budget_opt.api.judging",
    "KeyedRelease": "budget_opt.randomizer.keyed_release",
    "LeastTotal": "budget_opt.api.least_total",
    "Ledger": "budget_opt.ledger.ledger",
    "LedgerError": "budget_opt.errors",
    "LocalRandomizer": "budget_opt.randomizer.local",
    "Meaning": "budget_opt.accounting.meaning",
    "NoiseError": "budget_opt.errors",
    "NotSolvedError": "budget_opt.errors",
    "Privacy": "budget_opt.accounting.privacy",
    "Payer": "budget_opt.api.charging.charging",
    "Problem": "budget_opt.model.problem",
    "ProblemError": "budget_opt.errors",
    "Provenance": "budget_opt.model.moments.moment",
    "PublicColumn": "budget_opt.model.moments.moment",
    "RandomSourceError": "budget_opt.errors",
    "Rounded": "budget_opt.api.gridding",
    "SourceAware": "budget_opt.api.source_aware",
    "Strengths": "budget_opt.estimators.strengths.result",
    "VerificationError": "budget_opt.errors",
    "all_pairs": "budget_opt.model.moments.priorities",
    "allocation_from": "budget_opt.allocation",
    "audit": "budget_opt.api.auditing",
    "compare": "budget_opt.api.comparing.comparing",
    "design": "budget_opt.api.design.designing",
    "explain": "budget_opt.api.explaining",
    "explore": "budget_opt.explorer",
    "export": "budget_opt.api.exports.exporting",
    "frontier": "budget_opt.api.frontiers.making",
    "groupings_from_edges": "budget_opt.model.groupings.hierarchies",
    "groupings_from_parents": "budget_opt.model.groupings.hierarchies",
    "groupings_from_prefixes": "budget_opt.model.groupings.hierarchies",
    "groupings_from_ranges": "budget_opt.model.groupings.hierarchies",
    "judge": "budget_opt.api.judging",
    "least_total": "budget_opt.api.least_total",
    "meaning": "budget_opt.api.meaning",
    "moments_from_formula": "budget_opt.api.formulas",
    "observed_strengths": "budget_opt.api.strengths",
    "pairs_with": "budget_opt.model.moments.priorities",
    "pilot_strengths": "budget_opt.api.strengths",
    "plan": "budget_opt.api.planning",
    "prices": "budget_opt.api.pricing",
    "privacy_of": "budget_opt.accounting.privacy",
    "randomize": "budget_opt.api.releasing.releasing",
    "randomize_file": "budget_opt.api.releasing.releasing",
    "read_codebook": "budget_opt.codebooks.reading",
    "rounded": "budget_opt.api.gridding",
    "solve": "budget_opt.api.solving",
    "source_aware": "budget_opt.api.source_aware",
    "uniform": "budget_opt.allocation",
    "verify": "budget_opt.api.verifying",
    "verify_release": "budget_opt.api.verifying",
}
"""Where each name lives: it is imported when it is used, so that a part works without what others need."""

_MODULES = {
    "estimate": "budget_opt.api.estimate",
    "hamming": "budget_opt.mechanisms.hamming",
    "plots": "budget_opt.plots",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES and name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found: Any = _found(name)
    except ModuleNotFoundError as failure:
        if failure.name is None or failure.name.partition(".")[0] == __name__:
            raise
        raise ModuleNotFoundError(
            f"budget_opt.{name} needs the whole installation, and {failure.name} is missing. Install it "
            "with: python -m pip install budget-opt",
            name=failure.name,
        ) from None
    globals()[name] = found
    return found


def _found(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Allocation",
    "AllocationError",
    "Attribute",
    "AuditOptions",
    "BatchRandomizer",
    "BudgetExceededError",
    "BudgetOptError",
    "Caps",
    "CertificateError",
    "Charge",
    "Codebook",
    "Comparison",
    "Counts",
    "CrossMoment",
    "DataError",
    "Design",
    "Explanation",
    "FileOptions",
    "FormulaMoments",
    "Frontier",
    "Group",
    "InfeasibleError",
    "InputError",
    "Judgement",
    "KeyedRelease",
    "LeastTotal",
    "Ledger",
    "LedgerError",
    "LocalRandomizer",
    "Meaning",
    "NoiseError",
    "NotSolvedError",
    "Payer",
    "Privacy",
    "Problem",
    "ProblemError",
    "Provenance",
    "PublicColumn",
    "RandomSourceError",
    "Rounded",
    "SourceAware",
    "Strengths",
    "VerificationError",
    "__version__",
    "all_pairs",
    "allocation_from",
    "audit",
    "compare",
    "design",
    "estimate",
    "explain",
    "explore",
    "export",
    "frontier",
    "groupings_from_edges",
    "groupings_from_parents",
    "groupings_from_prefixes",
    "groupings_from_ranges",
    "hamming",
    "judge",
    "least_total",
    "meaning",
    "moments_from_formula",
    "observed_strengths",
    "pairs_with",
    "pilot_strengths",
    "plan",
    "plots",
    "prices",
    "privacy_of",
    "randomize",
    "randomize_file",
    "read_codebook",
    "report",
    "rounded",
    "solve",
    "source_aware",
    "uniform",
    "verify",
    "verify_release",
]
