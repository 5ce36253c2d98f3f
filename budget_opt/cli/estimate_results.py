"""The results of the command estimate: printed, as JSON, and as one table for a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from budget_opt.cli.replacing import require_replaceable_table
from budget_opt.errors import InputError
from budget_opt.estimators.moments.moment_estimates import MomentEstimates
from budget_opt.tables.rows import as_csv

if TYPE_CHECKING:
    from rich.console import RenderableType

    from budget_opt.estimators.statistics.independence import IndependenceTest

_LEADING = ("result", "asked")
"""The first columns of the file, and fields of JSON: the option, and its words."""


class Estimated(Protocol):
    """What every result of `bo.estimate` with intervals can do, at any level of them."""

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Rows for a file."""

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """JSON."""

    def renderable(self, level: float = 0.95) -> RenderableType:
        """A table for people."""


Table: TypeAlias = "Estimated | IndependenceTest"


@dataclass(frozen=True)
class Result:
    """What came of one request: of which `option`, `asked` in which words, with intervals at `level`."""

    option: str
    asked: str
    found: Table
    level: float

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the file that are its own."""
        if isinstance(self.found, MomentEstimates):
            listed = [(",".join(one.attributes), row) for one in self.found for row in one.rows(self.level)]
        else:
            listed = [(self.asked, row) for row in self.found.rows(*self._level)]
        return [self._labelled(asked, row) for asked, row in listed]

    def documents(self) -> Iterator[dict[str, Any]]:
        """Itself as JSON; of moments one document each."""
        if isinstance(self.found, MomentEstimates):
            for one in self.found:
                yield self._labelled(",".join(one.attributes), one.to_dict(self.level))
        else:
            yield self._labelled(self.asked, self.found.to_dict(*self._level))

    def renderable(self) -> RenderableType:
        """Itself for a rich console."""
        return self.found.renderable(*self._level)

    @property
    def _level(self) -> tuple[float, ...]:
        """A test has no interval, and so no level."""
        return () if self.option == "test" else (self.level,)

    def _labelled(self, asked: str, row: dict[str, Any]) -> dict[str, Any]:
        """With the leading fields; an attribute of such a name steps aside."""
        own = {f"attribute {name}" if name in _LEADING else name: value for name, value in row.items()}
        return dict(zip(_LEADING, (self.option, asked), strict=True)) | own


def documents_of(results: Sequence[Result]) -> list[dict[str, Any]]:
    """All results as JSON."""
    return [document for result in results for document in result.documents()]


def csv_of(results: Sequence[Result]) -> str:
    """All results as one CSV table; a cell is empty where a result has no such column."""
    rows = [row for result in results for row in result.rows()]
    columns = dict.fromkeys(column for row in rows for column in row)
    return as_csv([{column: row.get(column) for column in columns} for row in rows])


def require_replaceable_estimates(output: Path, released: Path) -> None:
    """`InputError` where the file may not be replaced by one of estimates: another's table, the release."""
    require_replaceable_table(output, f"{','.join(_LEADING)},", "a table of estimates")
    if output.exists() and released.exists() and output.samefile(released):
        raise InputError(f"-o {output}: is the released table. Choose another name.")
