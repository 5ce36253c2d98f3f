"""How fast is the ledger? Charges a second on the disk, and how long a long ledger takes to open.

    python benchmarks/ledger.py                   some half a minute
    python benchmarks/ledger.py --events 100000   a shorter ledger

The charges are reserved and confirmed one after another, each on the disk before the next. The long ledger is
written in one go, and opened by a fresh process as every command does: all hashes and events are checked.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import budget_opt as bo  # noqa: E402
from budget_opt.ledger.charge import Part  # noqa: E402
from budget_opt.ledger.events import new_event, next_hash, text_of  # noqa: E402
from budget_opt.ledger.file import Rows, connected  # noqa: E402

ATTRIBUTES = 5
OPEN = """
import resource, sys, time
import budget_opt as bo
begun = time.process_time()
ledger = bo.Ledger.open(sys.argv[1])
opened = time.process_time()
left = ledger.left("survey").total
again = time.process_time()
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(f"{opened - begun:.1f} s of CPU to open, {1000 * (again - opened):.1f} ms to ask again, {most} MB")
print(f"left: {left!r}")
"""


def charge(epsilon: str) -> bo.Charge:
    """A charge of this total, split over some attributes."""
    parts = tuple(Part((f"attribute {k}",), Decimal(epsilon) / ATTRIBUTES) for k in range(ATTRIBUTES))
    return bo.Charge(parts, Decimal(epsilon))


def charges(path: Path, count: int) -> None:
    """Reserve and confirm."""
    ledger = bo.Ledger.create(path)
    ledger.register("survey", bo.Caps(total=1000.0))
    asked = charge("0.01")
    begun, busy = time.perf_counter(), time.process_time()
    for number in range(count):
        ledger.reserve("survey", asked, f"release {number}")
        ledger.confirm(
            f"release {number}", cells=f"{number:064x}", rows=1, allocation_sha256=asked.allocation_sha256
        )
    took, busy = time.perf_counter() - begun, time.process_time() - busy
    print(
        f"{count} releases reserved and confirmed: {count / took:.0f} a second, "
        f"{1000 * took / count:.1f} ms each, of which {1000 * busy / count:.1f} ms are computing"
    )


def long_ledger(path: Path, events: int) -> None:
    """A ledger of so many events: half of them reserve, half confirm, a millionth each."""
    bo.Ledger.create(path).register("survey", bo.Caps(total=1.0))
    asked = charge("0.000001")
    with closing(connected(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        rows = Rows(database)
        number, last = rows.head()
        for release in range((events - number) // 2):
            name = f"{release:032x}"
            for event in (
                new_event("reserve", dataset="survey", release=name, charge=asked.to_dict(), ahead=False),
                new_event("confirm", release=name, cells=f"{release:064x}", rows=1000),
            ):
                text = text_of(event)
                last = next_hash(last, text)
                rows.append(text, last)
        database.execute("COMMIT")
    print(f"a ledger of {events:,} events: {path.stat().st_size / 2**20:.0f} MB", flush=True)


def main() -> None:
    """Parse the arguments, and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000, help="of the long ledger")
    parser.add_argument("--charges", type=int, default=200, help="reserved and confirmed one by one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ledger-") as folder:
        os.environ["BUDGET_OPT_STATE_DIR"] = f"{folder}/state"
        charges(Path(folder, "short.db"), options.charges)
        long_ledger(Path(folder, "long.db"), options.events)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", OPEN, f"{folder}/long.db"], env=environment, check=True)


if __name__ == "__main__":
    main()
