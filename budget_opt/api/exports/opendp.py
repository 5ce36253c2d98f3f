"""Mechanisms that OpenDP's own loader reads, each accepted by OpenDP's own map (extra `opendp`).

OpenDP's randomized response reports the truth with probability p, and else one of the other categories,
each with (1 - p) / (r - 1) (opendp, measurements/randomized_response/mod.rs): with p = P(report = truth) its
matrix is ours, where the background is uniform. A cluster is one variable, whose categories are texts of its
members' labels. The map rounds outward in every step, so a p that was computed for epsilon is often judged
above it. p is therefore lowered, by the few units in the last place that it takes for the map of each
mechanism to accept its epsilon, and for the map of their composition on one record to accept the total.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from budget_opt.allocation import Allocation
from budget_opt.api.exports.labels import joint_labels, named, separator_for
from budget_opt.api.exports.opendp_usage import USAGE
from budget_opt.api.exports.released import Released, read_domain
from budget_opt.errors import InputError
from budget_opt.mechanisms.doubles import informs, truth_at_most
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.model.attribute import Attribute
from budget_opt.model.documents import json_text
from budget_opt.version import __version__

FORMAT, VERSION = "budget-opt/opendp", 1
MOST_UNITS = 2**20
"""Units in the last place by which p is lowered at most; a few are enough but for thousands of attributes."""
_FEATURES = ("contrib", "honest-but-curious")
_ALONE = threading.Lock()
_TYPES = {"text": "String", "bins": "String", "integer": "i64", "boolean": "bool"}
"""OpenDP's type of a category by the kind of the domain."""


@dataclass(frozen=True)
class Mechanism:
    """One block's mechanism: `truth` = p, lowered by `units` in the last place."""

    released: Released
    values: list[str | int | bool]
    truth: float
    units: int
    measurement: Any

    @property
    def loss(self) -> float:
        """What OpenDP's map says of it, in nats."""
        return float(self.measurement.map(1))


def content(allocation: Allocation, blocks: Sequence[Released], _: str) -> tuple[bytes, tuple[str, ...]]:
    """The JSON file, and how far p was lowered; `InputError` where OpenDP cannot implement a matrix."""
    with _opendp() as dp:
        stated = allocation.total_epsilon
        # OpenDP's map of the composed measurement is a sum, which a total with a delta is not
        total = allocation.spent_epsilon if stated is None or allocation.total_delta > 0 else stated
        mechanisms, composed = _within(dp, [_accepted(dp, one, 0) for one in blocks], total)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "name": allocation.name,
            "problem_sha256": allocation.problem_sha256,
            "software": f"budget-opt {__version__}",
            "total_epsilon": total,
            "composed_epsilon": composed,
            "usage": list(USAGE),
            "public": list(allocation.public),
            "dropped": list(allocation.dropped),
            "not_released": [one.name for one in allocation.attributes if not one.is_released],
            "attributes": [_entry(dp, one) for one in mechanisms],
        }
    return json_text(document).encode("utf-8"), tuple(_notes(mechanisms, composed, total))


def _notes(mechanisms: Sequence[Mechanism], composed: float, total: float) -> Iterator[str]:
    """What OpenDP says of the mechanisms, and what a user must know of the values that they take."""
    lowered = max(one.units for one in mechanisms)
    price = f"for that p was lowered by up to {lowered} units in the last place" if lowered else "p as it was"
    yield f"OpenDP's maps accept each epsilon, and the whole record: {composed!r} of {total!r}; {price}"
    alone = [one.released for one in mechanisms if not one.released.is_cluster]
    coded = [one.name for one in alone if one.members[0].domain.missing is not None]
    binned = [
        member.name for one in mechanisms for member in one.released.members if member.domain.kind == "bins"
    ]
    joint = [one.released.name for one in mechanisms if one.released.is_cluster]
    if coded:
        yield f"OpenDP has no missing category, so codes stand for the categories of {', '.join(coded)}"
    if binned:
        yield f"OpenDP takes the labels of bins, which usage finds for a number: {', '.join(binned)}"
    if joint:
        listed = ", ".join(joint)
        yield f"one mechanism of joint categories each, which usage makes of all members' cells: {listed}"
    yield "the file says under usage how to load it; draw each cell once, a second draw is another release"


def _entry(dp: ModuleType, one: Mechanism) -> dict[str, Any]:
    members = [_column(member) for member in one.released.members]
    what = {"name": one.released.name, "members": members} if one.released.is_cluster else members[0]
    return {
        **what,
        "values": one.values,
        "epsilon": one.released.epsilon,
        "opendp_epsilon": one.loss,
        "units_lower": one.units,
        "mechanism": json.loads(dp.serialize(one.measurement)),
    }


def _column(attribute: Attribute) -> dict[str, Any]:
    """What usage must know of a column: its categories, and how its cells are read."""
    domain, read = attribute.domain, read_domain(attribute)
    optional = {
        "bins": None if read.edges is None else [None if math.isinf(edge) else edge for edge in read.edges],
        "other": None if read.other is None else read.labels[read.other],
        # read in categories of which a report has merged ones
        "declared": None if read is domain else list(read.labels),
        "codes": None if read is domain else list(domain.codes),
    }
    stated = {field: value for field, value in optional.items() if value is not None}
    return {"name": attribute.name, "categories": list(domain.labels), **stated}


def _accepted(dp: ModuleType, one: Released, units: int) -> Mechanism:
    """The mechanism whose p is the first, from `units` below ours on, that OpenDP's map accepts."""
    sampler = _uniform(one)
    if float(sampler.truth_probability) == 1.0:
        raise InputError(
            f"{one.name}: at epsilon {one.epsilon!r} the probability of the truth rounds to 1 in OpenDP's "
            "doubles, and nothing would ever be changed. Give it 37 or less, or use budget-opt randomize."
        )
    values, kind = _values(one)
    truth = truth_at_most(sampler)
    for _ in range(units):
        truth = math.nextafter(truth, 0.0)
    while informs(truth, sampler.cardinality) and units <= MOST_UNITS:
        measurement = dp.m.make_randomized_response(values, truth, T=kind)
        if exact(measurement.map(1)) <= exact(one.epsilon):
            return Mechanism(one, values, truth, units, measurement)
        truth, units = math.nextafter(truth, 0.0), units + 1
    raise InputError(
        f"{one.name}: epsilon {one.epsilon!r} is too small for OpenDP's doubles: no probability of the truth "
        "above 1/r is judged to be within it. Give it more, or use budget-opt randomize."
    )


def _uniform(one: Released) -> Sampler:
    """Its sampler, which must be one of a uniform background."""
    if isinstance(one.sampler, Sampler):
        return one.sampler
    if isinstance(one.sampler, MatrixSampler):
        raise InputError(
            f"{one.name}: its matrix was chosen for a known source, and OpenDP's randomized response has "
            "none but its own. Export its matrix (--to matrices), or use budget-opt randomize."
        )
    raise InputError(
        f"{one.name}: its background is not uniform, and OpenDP's randomized response has no other. "
        "Export its matrix (--to matrices), use budget-opt randomize, or give it a uniform background."
    )


def _values(one: Released) -> tuple[list[str | int | bool], str]:
    """The categories as OpenDP takes them, and their type.

    Labels, or codes where one category is missing; joint labels of a cluster.
    """
    if one.is_cluster:
        texts = [named(member.domain.labels)[0] for member in one.members]
        return list(joint_labels(texts, separator_for(texts))), "String"
    domain = one.members[0].domain
    labels = [label for label in domain.labels if label is not None]
    if domain.missing is not None:
        return list(range(domain.cardinality)), "i64"
    return labels, _TYPES[domain.kind]


def _within(dp: ModuleType, mechanisms: list[Mechanism], total: float) -> tuple[list[Mechanism], float]:
    """The mechanisms, lowered further until their composition is accepted, and what it says.

    The sum of many maps is rounded up once more for each; what that adds is taken from the largest epsilons,
    so that no small one is lost.
    """
    step = 1
    large = max(one.released.epsilon for one in mechanisms) / 2
    while exact(composed := _composed(dp, mechanisms)) > exact(total):
        mechanisms = [
            _accepted(dp, one.released, one.units + step) if one.released.epsilon >= large else one
            for one in mechanisms
        ]
        step *= 2
    return mechanisms, composed


def _composed(dp: ModuleType, mechanisms: Sequence[Mechanism]) -> float:
    """OpenDP's own map of the composition: each mechanism reads its cell of one record (d_in = 1 record)."""
    records, replaced = dp.user_domain("records", lambda _: True), dp.discrete_distance()

    def on_record(position: int, mechanism: Any) -> Any:
        cell = dp.t.make_user_transformation(
            records,
            replaced,
            mechanism.input_domain,
            mechanism.input_metric,
            lambda record: record[position],
            lambda records_replaced: records_replaced,
        )
        return cell >> mechanism

    parts = [on_record(i, one.measurement) for i, one in enumerate(mechanisms)]
    return float(dp.c.make_composition(parts).map(1))


@contextmanager
def _opendp() -> Iterator[ModuleType]:
    """OpenDP with the features that building and composing need; those that were off are off again after."""
    try:
        dp = import_module("opendp.prelude")
    except ImportError:
        raise InputError(
            "opendp: is not installed, and its own maps decide. Install it with: "
            "python -m pip install 'budget-opt[opendp]'"
        ) from None
    # the features are the process's: an export that ends would turn them off in the midst of another
    with _ALONE:
        added = [name for name in _FEATURES if name not in import_module("opendp.mod").GLOBAL_FEATURES]
        dp.enable_features(*added)
        try:
            yield dp
        finally:
            dp.disable_features(*added)
