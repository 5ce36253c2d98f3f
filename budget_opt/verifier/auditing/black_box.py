"""The sampler as a function of (joint) codes, with a count of what it was asked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from budget_opt.allocation import AllocatedAttribute, Allocation
from budget_opt.tables.lookup import lookup_for
from budget_opt.verifier.auditing.extras import Extras
from budget_opt.verifier.auditing.judged import judged_blocks
from budget_opt.verifier.auditing.made_up import MadeUp
from budget_opt.verifier.auditing.reports import Reports
from budget_opt.verifier.auditing.rows import Codes, Rows, random_records
from budget_opt.verifier.auditing.samplers import Sampler, SamplerError


class BlackBox:
    """One sampler under one allocation.

    `judged` are the attributes and clusters that are judged: all with a budget, and those without that come
    back all the same. A first call with two records tells which. `extras` are what came back beside them.
    """

    def __init__(self, sampler: Sampler, allocation: Allocation, rng: np.random.Generator) -> None:
        self._sampler, self._allocation, self._made_up = sampler, allocation, MadeUp(allocation)
        self.calls = self.records = self.largest = 0
        self.extras = Extras()
        self._declared = {*(attribute.name for attribute in allocation.attributes), *allocation.public}
        everything = [attribute.cardinality for attribute in allocation.attributes]
        first = self.answer(self._made_up.table(random_records(rng, everything, 2)))
        first.require([a.name for a in allocation.attributes if a.is_released])
        self._returned = [i for i, a in enumerate(allocation.attributes) if a.name in first.names]
        if not self._returned:
            raise SamplerError(
                "the sampler: gave back none of the allocation's attributes. There is nothing to audit."
            )
        self.judged = judged_blocks(allocation.blocks, allocation.question.names, self._returned)
        self._declared = {*(attribute.name for attribute in self.attributes), *allocation.public}
        self._lookups = [
            lookup_for(a.domain, a.name, released=True, text=not sampler.in_process) for a in self.attributes
        ]

    @property
    def attributes(self) -> tuple[AllocatedAttribute, ...]:
        """The attributes that come back, each a column."""
        return tuple(self._allocation.attributes[i] for i in self._returned)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of (joint) categories of what is judged as one."""
        return tuple(one.cardinality for one in self.judged)

    @property
    def batched(self) -> bool:
        """Whether many records go into one call."""
        return self._sampler.batched

    @property
    def in_process(self) -> bool:
        """Whether the sampler runs in this process."""
        return self._sampler.in_process

    def table(self, truths: Codes) -> pa.Table:
        """A table of made-up records; attributes that are not judged have their first category."""
        whole = np.zeros((len(self._allocation.attributes), truths.shape[1]), dtype=np.int32)
        for one, codes in zip(self.judged, truths, strict=True):
            whole[list(one.columns)] = one.split(codes)
        return self._made_up.table(whole)

    def answer(self, records: pa.Table) -> Reports:
        """The reports of a table. Raises `SamplerError`, also where its rows are known to be out of order."""
        self.calls += 1 if self.batched else len(records)
        self.records += len(records)
        self.largest = max(self.largest, len(records)) if self.batched else 1
        returned = self._sampler(records)
        reports = Reports(returned, len(records))
        self.extras.add(returned, reports.names, self._declared)
        for name in self._allocation.public:
            if name in reports.names:
                _require_order(reports.values(name), name)
        return reports

    def rows(self, truths: Codes) -> Rows:
        """The reports of these records, as codes."""
        reports = self.answer(self.table(truths))
        reports.require([attribute.name for attribute in self.attributes])
        codes = {
            column: reports.codes(attribute, lookup)
            for column, attribute, lookup in zip(self._returned, self.attributes, self._lookups, strict=True)
        }
        joint = [one.joined([codes[column] for column in one.columns]) for one in self.judged]
        return Rows(self.cardinalities, truths, np.stack(joint))


def _require_order(values: list[object], name: str) -> None:
    """Public columns hold the numbers of the rows."""
    if [str(value) for value in values] != [str(row) for row in range(len(values))]:
        raise SamplerError(
            f"the sampler: its reports come back in another order, as the public column {name!r} tells. "
            "Let it keep the order of the rows for an audit (row_order public, or before its shuffle)."
        )
