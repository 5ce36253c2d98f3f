"""The terms in an allocation file, read with the standard library alone (DESIGN 3.2).

Every number that the guarantee rests on is recomputed and compared, as `Allocation.read` does, which
checks all the rest as well: moments, objective, prices, scores, marginals. Those are not looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budget_opt.errors import AllocationError
from budget_opt.mechanisms.exact import exact_sum, float_at_least, multiple_at_least
from budget_opt.model import values
from budget_opt.model.documents import format_faults
from budget_opt.model.values import UnfitError
from budget_opt.randomizer.local.blocks import (
    CLUSTER_FIELDS,
    MEMBER_FIELDS,
    RESULT_FIELDS,
    SOURCE_FIELDS,
    stated_attribute,
    stated_blocks,
)
from budget_opt.randomizer.local.declared import DECLARED_FIELDS
from budget_opt.randomizer.local.stated import Stated, members, names, one_of, unasked, unless_none
from budget_opt.randomizer.local.terms import AttributeTerms, BlockTerms, Budget, Terms

FORMAT, VERSION = "budget-opt/allocation", 1

DOCUMENT_FIELDS = frozenset(
    {"format", "version", "name", "problem_sha256", "created", "software", "row_order", "provenance"}
    | {"total_epsilon", "total_delta", "spent_epsilon", "privacy", "objective", "moments", "sensitivity"}
    | {"attributes", "clusters", "groups", "public", "dropped"}
)
STATED_FIELDS = frozenset({"survey"})
"""Fields of the file that are there only where the problem states them."""
_PRIVACY_FIELDS = frozenset(["unit", "neighbours", "composition", "loss"])
_UNIT_FIELDS = frozenset(["id", "max_rows", "waves", "planned_loss"])


def terms_of_document(document: Mapping[str, Any], where: str | None = None) -> Terms:
    """The terms in a parsed file called `where`; raises `AllocationError` with every fault."""
    faults = format_faults(document, FORMAT, VERSION)
    if not faults:
        whole = Stated(document, "", faults, DOCUMENT_FIELDS, STATED_FIELDS)
        attributes = [
            stated_attribute(item)
            for item in whole.objects(
                "attributes", RESULT_FIELDS, DECLARED_FIELDS | MEMBER_FIELDS | SOURCE_FIELDS
            )
        ]
        clusters = whole.objects("clusters", CLUSTER_FIELDS)
        _check_support(whole)
        # sums over what was not understood would be other ones
        if not faults:
            blocks = stated_blocks([one for one in attributes if one is not None], clusters)
        if not faults:
            terms = _terms(whole, tuple(one.terms for one in attributes if one is not None), blocks)
    if faults:
        raise AllocationError.from_faults(faults, where)
    return terms


def _check_support(whole: Stated) -> None:
    """Raise no field that this version does not know how to honour."""
    whole.take("total_delta", unasked(0.0))
    privacy = whole.part("privacy", _PRIVACY_FIELDS, _UNIT_FIELDS)
    privacy.take("unit", one_of("record", "person"))
    privacy.take("neighbours", one_of("one record's values replaced"))
    privacy.take("composition", one_of("sum"))


def _terms(whole: Stated, attributes: tuple[AttributeTerms, ...], blocks: tuple[BlockTerms, ...]) -> Terms:
    """The blocks with the budgets and columns of the whole file, and its sums recomputed."""
    listed = [attribute.name for attribute in attributes]
    public = [column.take("name", values.name) for column in whole.objects("public", {"name", "why"})]
    dropped = whole.take("dropped", names) or ()
    terms = Terms(
        attributes, blocks, _budgets(whole, listed), tuple(name for name in public if name), dropped
    )
    columns = [*listed, *terms.public, *terms.dropped]
    if len(set(columns)) < len(columns):
        why = UnfitError("must be distinct names", "Remove the repeated one")
        whole.tell("attributes, public, dropped", columns, why)
    spent = float_at_least(exact_sum(block.epsilon for block in terms.blocks))
    whole.compare({"spent_epsilon": spent})
    _check_unit(whole.part("privacy", _PRIVACY_FIELDS, _UNIT_FIELDS), terms)
    return terms


def _check_unit(privacy: Stated, terms: Terms) -> None:
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


def _budgets(whole: Stated, known: list[str]) -> tuple[Budget, ...]:
    """The total, where there is one, and the groups."""
    budgets = []
    total = whole.take("total_epsilon", unless_none(values.budget))
    if total is not None:
        budgets.append(Budget("a record", tuple(known), total))
    for group in whole.objects("groups", {"name", "attributes", "epsilon_max"}):
        title = group.take("name", values.name)
        inside = group.take("attributes", members(known))
        cap = group.take("epsilon_max", values.budget)
        if title is not None and inside is not None and cap is not None:
            budgets.append(Budget(f"group {title}", inside, cap))
    return tuple(budgets)
