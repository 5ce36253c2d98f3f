"""The terms in an allocation file, read with the standard library alone (DESIGN 3.2).

Every number that the guarantee rests on is recomputed and compared, as `Allocation.read` does, which
checks all the rest as well: moments, objective, prices, scores, marginals. Those are not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

from budget_opt.errors import MISSING, AllocationError, Fault
from budget_opt.mechanisms.exact import exact_sum, float_at_least, multiple_at_least
from budget_opt.mechanisms.sampler import WIDTHS, sampler_as_stated
from budget_opt.model import values
from budget_opt.model.differences import differences
from budget_opt.model.documents import format_faults
from budget_opt.model.domain import Domain, declared_domain
from budget_opt.model.values import UnfitError
from budget_opt.randomizer.local.terms import AttributeTerms, Budget, Terms

FORMAT, VERSION = "budget-opt/allocation", 1

DOCUMENT_FIELDS = frozenset(
    {"format", "version", "name", "problem_sha256", "created", "software", "row_order", "provenance"}
    | {"total_epsilon", "total_delta", "spent_epsilon", "privacy", "objective", "moments", "sensitivity"}
    | {"attributes", "clusters", "groups", "public", "dropped"}
)
STATED_FIELDS = frozenset({"survey"})
"""Fields of the file that are there only where the problem states them."""
RESULT_FIELDS = frozenset(
    {"name", "background", "cardinality", "epsilon", "loss", "retention", "sampler", "shadow_price"}
    | {"truth_probability", "other_probability"}
)
DECLARED_FIELDS = frozenset(
    {"categories", "bins", "scores", "ordered", "marginal", "missing", "missing_score", "other"}
)
_PRIVACY_FIELDS = frozenset(["unit", "neighbours", "composition", "loss"])
_UNIT_FIELDS = frozenset(["id", "max_rows", "waves", "planned_loss"])
_COUNT = re.compile("[1-9][0-9]{0,38}")
T = TypeVar("T")


def terms_of_document(document: Mapping[str, Any], where: str | None = None) -> Terms:
    """The terms in a parsed file called `where`; raises `AllocationError` with every fault."""
    faults = format_faults(document, FORMAT, VERSION)
    if not faults:
        whole = _Object(document, "", faults, DOCUMENT_FIELDS, STATED_FIELDS)
        attributes = [
            _attribute(item) for item in whole.objects("attributes", RESULT_FIELDS, DECLARED_FIELDS)
        ]
        _check_support(whole)
        # a total of attributes that were not understood would be another one
        if not faults:
            terms = _terms(whole, tuple(attribute for attribute in attributes if attribute is not None))
    if faults:
        raise AllocationError.from_faults(faults, where)
    return terms


class _Object:
    """The fields of one JSON object: each is taken through a check, and what is wrong is collected."""

    def __init__(
        self,
        fields: Any,
        where: str,
        faults: list[Fault],
        required: AbstractSet[str],
        optional: AbstractSet[str] = frozenset(),
    ) -> None:
        self.faults, self._where, self.sound = faults, where, True
        self._fields: Mapping[str, Any] = fields if isinstance(fields, Mapping) else {}
        if not isinstance(fields, Mapping):
            self.tell("", fields, UnfitError("must be an object", "Write its fields in braces"))
            return
        for name in fields:
            if name not in required | optional:
                self.tell(str(name), fields[name], UnfitError("is not a field of this format", "Remove it"))
        for name in sorted(required - set(fields)):
            self.tell(name, MISSING, UnfitError("is required", "Add the field"))

    def take(self, name: str, check: Callable[[Any], T]) -> T | None:
        """The field as its check returns it; None where it is absent or faulty."""
        if name not in self._fields:
            return None
        try:
            return check(self._fields[name])
        except UnfitError as why:
            self.tell(name, self._fields[name], why)
            return None

    def part(
        self, name: str, required: AbstractSet[str], optional: AbstractSet[str] = frozenset()
    ) -> _Object:
        """A field that is an object itself."""
        return _Object(self._fields.get(name, {}), self._path(name), self.faults, required, optional)

    def objects(
        self, name: str, required: AbstractSet[str], optional: AbstractSet[str] = frozenset()
    ) -> list[_Object]:
        """A field that is a list of objects."""
        return [
            _Object(item, f"{self._path(name)}[{i}]", self.faults, required, optional)
            for i, item in enumerate(self.take(name, _list) or [])
        ]

    def compare(self, computed: Mapping[str, Any], among: AbstractSet[str] = frozenset()) -> None:
        """These fields must be what is recomputed, and others `among` these must not be there."""
        stated = {name: value for name, value in self._fields.items() if name in among | computed.keys()}
        self.faults += differences(stated, computed, self._where)

    def tell(self, name: str, value: object, why: UnfitError) -> None:
        """Record a fault of a field, or of the object itself where the name is blank."""
        self.sound = False
        self.faults.append(Fault(self._path(name), value, why.limit, f"{why.remedy}."))

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where and name else self._where or name


def _attribute(stated: _Object) -> AttributeTerms | None:
    """One attribute with the sampler that its epsilon and the stated width must have."""
    name = stated.take("name", values.name)
    domain = _domain(stated)
    stated.take("background", _one_of("uniform"))
    epsilon = stated.take("epsilon", values.budget)
    bits = stated.take("sampler", _unless_none(_bits))
    if not stated.sound or name is None or domain is None or epsilon is None:
        return None
    terms = AttributeTerms(name, domain, epsilon, sampler_as_stated(epsilon, domain.cardinality, bits))
    stated.compare(_results(terms))
    return terms


def _domain(stated: _Object) -> Domain | None:
    categories = stated.take("categories", _unless_none(values.categories))
    bins = stated.take("bins", _unless_none(values.edges))
    missing = stated.take("missing", _one_of("error", "category"))
    other = stated.take("other", _unless_none(values.label))
    if not stated.sound:
        return None
    if (categories is None) == (bins is None):
        stated.tell(
            "categories, bins", MISSING, UnfitError("exactly one must be given", "Give one of the two")
        )
        return None
    try:
        return declared_domain(categories, bins, missing=missing == "category", other=other)
    except UnfitError as why:
        stated.tell("other", other, why)
        return None


def _results(terms: AttributeTerms) -> dict[str, Any]:
    """What the file must state of the attribute, as far as the guarantee rests on it."""
    sampler = terms.sampler
    integers = None if sampler is None else {"bits": sampler.bits, "q": str(sampler.q)}
    loss = 0.0 if sampler is None else sampler.loss
    return {"cardinality": terms.domain.cardinality, "loss": loss, "sampler": integers}


def _check_support(whole: _Object) -> None:
    """Raise no field that this version does not know how to honour."""
    whole.take("clusters", _idle([]))
    whole.take("total_delta", _idle(0.0))
    privacy = whole.part("privacy", _PRIVACY_FIELDS, _UNIT_FIELDS)
    privacy.take("unit", _one_of("record", "person"))
    privacy.take("neighbours", _one_of("one record's values replaced"))
    privacy.take("composition", _one_of("sum"))


def _terms(whole: _Object, attributes: tuple[AttributeTerms, ...]) -> Terms:
    """The attributes with the budgets and columns of the whole file, and its sums recomputed."""
    names = [attribute.name for attribute in attributes]
    public = [column.take("name", values.name) for column in whole.objects("public", {"name", "why"})]
    dropped = whole.take("dropped", _names) or ()
    terms = Terms(attributes, _budgets(whole, names), tuple(name for name in public if name), dropped)
    columns = [*names, *terms.public, *terms.dropped]
    if len(set(columns)) < len(columns):
        why = UnfitError("must be distinct names", "Remove the repeated one")
        whole.tell("attributes, public, dropped", columns, why)
    spent = float_at_least(exact_sum(attribute.epsilon for attribute in attributes))
    whole.compare({"spent_epsilon": spent})
    _check_unit(whole.part("privacy", _PRIVACY_FIELDS, _UNIT_FIELDS), terms)
    return terms


def _check_unit(privacy: _Object, terms: Terms) -> None:
    """What a record loses, and how that adds up over the records of a person and over waves."""
    computed: dict[str, Any] = {"loss": terms.loss}
    rows: int | None = 1
    waves = privacy.take("waves", values.waves)
    if privacy.take("unit", str) == "person":
        rows, column = privacy.take("max_rows", values.rows_of_one), privacy.take("id", values.name)
        computed |= {"max_rows": rows, "id": column}
        if column is not None and column not in (*terms.public, *terms.dropped):
            why = UnfitError("must be listed under dropped, or under public", "List it there")
            privacy.tell("id", column, why)
    if waves is not None:
        computed["waves"] = waves
    if len(computed) > 1 and rows is not None:
        computed["planned_loss"] = multiple_at_least(terms.loss, rows * (waves or 1))
    privacy.compare(computed, _UNIT_FIELDS)


def _budgets(whole: _Object, names: list[str]) -> tuple[Budget, ...]:
    """The total, where there is one, and the groups."""
    budgets = []
    total = whole.take("total_epsilon", _unless_none(values.budget))
    if total is not None:
        budgets.append(Budget("a record", tuple(names), total))
    for group in whole.objects("groups", {"name", "attributes", "epsilon_max"}):
        title = group.take("name", values.name)
        members = group.take("attributes", _members(names))
        cap = group.take("epsilon_max", values.budget)
        if title is not None and members is not None and cap is not None:
            budgets.append(Budget(f"group {title}", members, cap))
    return tuple(budgets)


def _unless_none(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else check(value)


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise UnfitError(f"must be {' or '.join(allowed)}", "No other is supported")
        return value

    return check


def _idle(idle: object) -> Callable[[Any], None]:
    """Accepts a field that asks for nothing."""

    def check(value: Any) -> None:
        if isinstance(value, bool) or value != idle:
            raise UnfitError("not supported yet", "Remove what it asks for")

    return check


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise UnfitError("must be a list", "Write its items in brackets")
    return list(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(values.name(item) for item in _list(value))


def _members(known: list[str]) -> Callable[[Any], tuple[str, ...]]:
    def check(value: Any) -> tuple[str, ...]:
        members = _names(value)
        if not members or len(set(members)) < len(members) or not set(members) <= set(known):
            raise UnfitError("must be distinct names of attributes", "Correct the names")
        return members

    return check


def _bits(value: Any) -> int:
    """The stated width of a sampler."""
    if not isinstance(value, Mapping) or set(value) != {"bits", "q"}:
        raise UnfitError("must be null, or have the fields bits and q alone", "The file is damaged")
    bits, q = value["bits"], value["q"]
    if isinstance(bits, bool) or not isinstance(bits, int) or bits not in WIDTHS:
        raise UnfitError(f"must have bits of {', '.join(map(str, WIDTHS))}", "The file is damaged")
    if not isinstance(q, str) or not _COUNT.fullmatch(q):
        raise UnfitError("must have q as the text of a positive integer", "The file is damaged")
    return bits
