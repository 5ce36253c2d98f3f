"""How many chance events stand behind an estimated error, and its interval where they are few.

Letters: psi the influence function of an estimate, m Kish's effective rows (without survey weights n),
k = E psi^4 / (E psi^2)^2 - 3. The estimated variance of the estimate has the relative variance
(k + 2 m / (m - 1)) / m, as a chi-square of d degrees of freedom has 2 / d; of a count of mu rare events
m / k is mu. So

    events = m / k,   d = 2 / (1 / events + 2 / (m - 1))    (Satterthwaite 1946)

and below 40 events or rows the interval takes Student's t with d in place of the normal law. That allows for
the noise of the error, not for skewness: such an interval is rough, and is flagged. From the original data
only redrawn reports are random, and of two categories half of them change: there are m (1 - prod lambda) / 2
events at most. Events that did not occur are not in psi: a flag looks as well at those of a product of
unlinked attributes, whose E psi^4 / (E psi^2)^2 is the product of theirs.

Measured (population, 20,000 repetitions, the covariance of two categories with shares p, correlation 0.3,
retention 0.95 each; normal law, then t): p = 0.05, n = 300: 0.904, 0.961; p = 0.02, n = 1,000: 0.922, 0.948;
p = 0.02, n = 300: 0.886, 0.888, and correlation 0 there: 0.46, for no interval knows what it has not seen.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.estimate import Target

FEW_EVENTS = 40.0
FEW_NOTE = "few rows or chance events (about {}) stand behind it: its interval is rough"
LEAST_DEGREES = 1.0

FloatArray = npt.NDArray[np.float64]


def chance_events(squares: npt.ArrayLike, fourths: npt.ArrayLike, effective: npt.ArrayLike) -> FloatArray:
    """Events behind estimates, of any shape; infinite where psi has no heavier tails than a normal law.

    From the means of psi^2 and of psi^4 over the rows, weighted by W2, in any unit that has room for both.
    """
    squared, fourth, rows = _broadcast(squares, fourths, effective)
    scale = squared**2
    relative = np.divide(fourth, scale, out=np.zeros(scale.shape), where=scale > 0)
    heavy = relative - 3.0
    events: FloatArray = np.divide(rows, heavy, out=np.full(squared.shape, np.inf), where=heavy > 0)
    return events


def degrees_of(events: FloatArray, effective: npt.ArrayLike) -> FloatArray:
    """Degrees of freedom where events or rows are few, infinite elsewhere."""
    rows = np.asarray(effective, dtype=np.float64)
    d = 2 / (1 / np.maximum(events, 1e-3) + 2 / np.maximum(rows - 1, 1e-3))
    return np.where(np.minimum(events, rows) < FEW_EVENTS, np.maximum(d, LEAST_DEGREES), np.inf)


def behind(
    events: FloatArray, effective: npt.ArrayLike, retention: npt.ArrayLike, target: Target
) -> FloatArray:
    """The fewest of events, rows and, from the data, changed reports: what an interval rests on.

    `retention` is the product of all retentions; infinite where it is 1 and the data's error is 0.
    """
    given, rows, kept = _broadcast(events, effective, retention)
    least = np.minimum(given, rows)
    if target == "population":
        return least
    return np.where(kept < 1, np.minimum(least, rows * (1 - kept) / 2), np.inf)


def few_note(number: float) -> tuple[str, ...]:
    """What a result says that rests on so few; nothing of others."""
    return (FEW_NOTE.format(f"{max(number, 0.1):.2g}"),) if number < FEW_EVENTS else ()


def _broadcast(*numbers: npt.ArrayLike) -> tuple[FloatArray, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in numbers)))
