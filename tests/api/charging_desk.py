"""A table, a ledger that allows some releases of it, and a place for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import budget_opt as bo

ROWS = 700
PROBLEM = bo.Problem(
    total_epsilon=2.0,
    attributes=[bo.Attribute("a", categories=5), bo.Attribute("b", categories=["x", "y"])],
    moments=[bo.CrossMoment("a", "b")],
    public=[{"name": "wave", "why": "the same for everybody"}],
    dropped=["person"],
)
ALLOCATION = bo.uniform(PROBLEM)
KEPT, BACK = "note: the charge stays", "note: nothing is charged to 'survey'"


def table_of(seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": np.arange(ROWS),
            "a": random.integers(0, 5, ROWS),
            "b": random.choice(["x", "y"], ROWS),
            "wave": np.arange(ROWS) % 3,
        }
    )


class Desk:
    """A folder with a table, and a ledger that allows `releases` releases of it; `said` is what is told."""

    def __init__(self, folder: Path, releases: int = 2) -> None:
        self.folder, self.said = folder, list[str]()
        self.table = table_of(1)
        self.table.to_csv(folder / "data.csv", index=False)
        ALLOCATION.write(folder / "allocation.json")
        self.ledger = bo.Ledger.create(folder / "ledger.db")
        self.ledger.register("survey", bo.Caps(total=2.0 * releases))
        self.payer = bo.Payer("survey", self.ledger, tell=self.said.append)

    def write(self, table: pd.DataFrame, target: str = "data.csv") -> Path:
        path = self.folder / target
        (table.to_parquet if target.endswith("parquet") else table.to_csv)(path, index=False)
        return path

    def release(self, target: str = "r.csv", source: str = "data.csv", **options: Any) -> Any:
        asked = bo.FileOptions(**options)
        return bo.randomize_file(
            self.folder / source, ALLOCATION, self.folder / target, asked, charge_to=self.payer
        )

    def spent(self) -> float:
        return self.ledger.spent("survey").total

    def statuses(self) -> list[str]:
        return [release.status for release in self.ledger.releases("survey")]

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"data.csv", "allocation.json", "ledger.db"}
