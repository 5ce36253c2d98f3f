"""All randomized columns of one release: word i of an attribute belongs to row i, whatever the batches."""

from __future__ import annotations

from collections.abc import Mapping

from budget_opt.allocation import AllocatedAttribute
from budget_opt.randomizer.context import blind_context, report_context
from budget_opt.randomizer.kernel import Kernel, kernel_for, randomize_column
from budget_opt.randomizer.words import WordSource, WordStream
from budget_opt.tables.encoding import Codes


class Reports:
    """Randomizes the batches of a table in their order, each attribute with words of its own."""

    def __init__(self, attributes: Mapping[str, AllocatedAttribute], source: WordSource) -> None:
        self._columns = {name: _column(attribute, source) for name, attribute in attributes.items()}

    def of(self, codes: Mapping[str, Codes]) -> dict[str, Codes]:
        """The reports of the next rows; `codes` has the codes of every attribute."""
        return {
            name: randomize_column(codes[name], stream, kernel)
            for name, (stream, kernel) in self._columns.items()
        }


def _column(attribute: AllocatedAttribute, source: WordSource) -> tuple[WordStream, Kernel]:
    kernel = kernel_for(attribute.sampler, attribute.cardinality)
    if attribute.sampler is None:
        context = blind_context(attribute.name, attribute.domain)
    else:
        context = report_context(attribute.name, attribute.domain, attribute.sampler)
    return source.stream(context, kernel.bits), kernel
