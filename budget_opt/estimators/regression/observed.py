"""The likelihood of the reports under a logistic model of the truths, and its derivatives.

Letters: z a true cell of all covariates, pi(z) its share (any distribution: a parameter for each cell that
occurs), x(z) the columns, p(1 | z) = 1 / (1 + exp(- x' beta)), P the channels, t a cell of reports with share
N(t):

    q(z, y) = pi(z) p(y | z)     L(t) = sum q P     log-likelihood a row = sum_t N log L
    A(z, y) = sum_t P N / L      the posterior shares of the true cells are q A      (expectation step)

The maximization step takes pi(z) = sum_y q A and one step of Newton for beta in the weighted logistic
regression (a generalized step: Rai and Matthews 1993). The information is that of the reports, in beta and in
the relative changes of pi, whose sum needs no constraint: as a Poisson likelihood it has sum pi as its own
term, and the same maximum. With the derivatives L_beta, L_pi of L and v = p(1 | z) p(0 | z):

    minus the second derivative = sum N L' L'^T / L^2 - sum N L'' / L
    the second sum: beta, pi(z): (A(z,1) - A(z,0)) v x;   beta, beta: sum_z pi (A(z,1) - A(z,0)) v (1 - 2 p) x
    x'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.layout import layout_of
from budget_opt.estimators.regression.grid import Grid
from budget_opt.estimators.regression.symmetric import solved

_SIGNS = np.array([-1.0, 1.0])
_ROOM = 2**23


@dataclass(frozen=True)
class Point:
    """Parameters: `beta`, and `shares` pi >= 0 of the true cells of the covariates, (r_1, .., r_k, G)."""

    beta: FloatArray
    shares: FloatArray


@dataclass(frozen=True)
class View:
    """What the reports say at a point: `ones` p(1 | z), `law` L, `odds` N / L, `posterior` A."""

    point: Point
    ones: FloatArray
    law: FloatArray
    odds: FloatArray
    posterior: FloatArray
    log_likelihood: float

    @property
    def leaning(self) -> FloatArray:
        """A(z, 1) - A(z, 0)."""
        leaning: FloatArray = self.posterior[..., 1, :] - self.posterior[..., 0, :]
        return leaning

    @property
    def gradient(self) -> FloatArray:
        """Of the log-likelihood by the relative change of each share, less its share: pi (sum_y p A - 1)."""
        likeliest = self.posterior[..., 0, :] + self.ones * self.leaning
        gradient: FloatArray = self.point.shares * (likeliest - 1)
        return gradient


def view_of(grid: Grid, point: Point) -> View:
    """The reports seen from a point."""
    ones = expit(grid.design @ point.beta)
    law = along_all(Channel.spread, grid.channels, point.shares[..., None, :] * _both(ones))
    seen = grid.first > 0
    with np.errstate(divide="ignore"):  # a point may make reports impossible
        likelihood = float(np.sum(grid.first[seen] * np.log(law[seen])))
    odds = np.divide(grid.first, law, out=np.zeros_like(law), where=law > 0)
    posterior = along_all(Channel.expected, grid.channels, odds)
    return View(point, ones, law, odds, posterior, likelihood)


def step_from(grid: Grid, view: View) -> Point:
    """One step of expectation-maximization."""
    expected = view.point.shares[..., None, :] * _both(view.ones) * view.posterior
    shares = expected.sum(axis=-2)
    error = expected[..., 1, :] - shares * view.ones
    weights = shares * view.ones * (1 - view.ones)
    return Point(
        view.point.beta + solved(_weighted(grid.design, weights), _summed(grid.design, error)), shares
    )


def beta_gradient(grid: Grid, view: View) -> FloatArray:
    """The derivative of the log-likelihood a row by beta."""
    slope = view.point.shares * view.ones * (1 - view.ones) * view.leaning
    return _summed(grid.design, slope)


@dataclass(frozen=True)
class Information:
    """A row's observed information on beta with the shares unknown, `profile`, and what Newton needs.

    `score` is the gradient by beta less what the shares explain of it, `relative` the share's own step
    I_pipi^-1 s_pi, and `explained` I_pipi^-1 I_pibeta, shape (r_1, .., r_k, G, p); all by relative changes of
    shares.
    """

    profile: FloatArray
    score: FloatArray
    relative: FloatArray
    explained: FloatArray
    by_beta: FloatArray


def information_at(grid: Grid, view: View, active: FloatArray) -> Information:
    """The information at a point; shares that are not `active` (0 or 1 a cell) are fixed."""
    point, design = view.point, grid.design
    spread = view.ones * (1 - view.ones)
    moved = (point.shares * spread)[..., None, :, None] * _SIGNS[:, None, None] * design[..., None, :, :]
    by_beta = along_all(Channel.spread, grid.channels, moved)  # L_beta
    weight = np.divide(view.odds, view.law, out=np.zeros_like(view.law), where=view.law > 0)
    heavy = by_beta * weight[..., None]
    bent = point.shares * view.leaning * spread * (1 - 2 * view.ones)
    own = _rows(heavy).T @ _rows(by_beta) - _weighted(design, bent)
    paths = _paths(grid, view)
    shared = sum(
        (along_all(Channel.expected, path.covariates, heavy) * path.reported[..., None] for path in paths),
        np.zeros(()),
    )
    scale = point.shares * active
    crossed = scale[..., None] * (shared.sum(axis=-3) - (view.leaning * spread)[..., None] * design)
    relative, explained = _shares_solved(grid, weight, paths, scale, view.gradient * active, crossed)
    profile = own - _rows(crossed).T @ _rows(explained)
    score = beta_gradient(grid, view) - _summed(crossed, relative)
    return Information((profile + profile.T) / 2, score, relative, explained, by_beta)


def report_scores(grid: Grid, view: View, information: Information) -> FloatArray:
    """The derivative of log L(t) by beta less what the shares explain of it, for every report."""
    scaled = (view.point.shares[..., None] * information.explained)[..., None, :, :]
    explained = sum(
        (
            along_all(Channel.spread, path.covariates, scaled * path.reported[..., None])
            for path in _paths(grid, view)
        ),
        np.zeros(()),
    )
    scores: FloatArray = information.by_beta - explained
    return np.divide(scores, view.law[..., None], out=np.zeros_like(scores), where=view.law[..., None] > 0)


@dataclass(frozen=True)
class _Path:
    """A term of P(reports | z): P(those of the covariates | z) times `reported`, (r_1, .., r_k, 2, G)."""

    covariates: tuple[Channel, ...]
    reported: FloatArray


def _paths(grid: Grid, view: View) -> tuple[_Path, ...]:
    """P(reports | z) as terms whose sum it is: one where the outcome is in no cluster with a covariate.

    Of an outcome in one cluster with covariates T, L I p(t | z) + (1 - L) q_T q(t) is
    (L I + (1 - L) q_T) q(t) + I L (p(t | z) - q(t)).
    """
    outcome, both = grid.channels[-1], _both(view.ones)
    if outcome.cluster is None or all(one.cluster != outcome.cluster for one in grid.covariates):
        return (_Path(grid.covariates, Channel.spread(outcome, both, -2)),)
    noise = np.broadcast_to(outcome.background[:, None], both.shape)
    opened = tuple(
        replace(one, retention=1.0) if one.cluster == outcome.cluster else one for one in grid.covariates
    )
    return _Path(grid.covariates, noise), _Path(opened, outcome.retention * (both - noise))


def _both(ones: FloatArray) -> FloatArray:
    return np.stack([1 - ones, ones], axis=-2)


def _rows(table: FloatArray) -> FloatArray:
    """The table with all axes but the last in one."""
    return table.reshape(-1, table.shape[-1])


def _summed(design: FloatArray, values: FloatArray) -> FloatArray:
    return _rows(design).T @ values.reshape(-1)


def _weighted(design: FloatArray, weights: FloatArray) -> FloatArray:
    return (_rows(design) * weights.reshape(-1, 1)).T @ _rows(design)


def _shares_solved(
    grid: Grid,
    weight: FloatArray,
    paths: Sequence[_Path],
    scale: FloatArray,
    gradient: FloatArray,
    crossed: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """I_pipi^-1 of the gradient and of I_pibeta; block by block, since public columns do not mix."""
    size, blocks = grid.patterns, grid.first.shape[-1]
    terms = [(_matrix(path.covariates), path.reported.reshape(size, 2, blocks)) for path in paths]
    weight = weight.reshape(size, 2, blocks)
    right = np.concatenate([gradient[..., None], crossed], axis=-1).reshape(size, blocks, -1)
    scale = scale.reshape(size, blocks)
    found = np.empty_like(right)
    for start in range(0, blocks, max(1, _ROOM // size**2)):
        part = slice(start, start + max(1, _ROOM // size**2))
        inner = np.zeros((scale[:, part].shape[1], size, size))
        for outcome in (0, 1):
            left = sum(
                (
                    (scale[:, part] * reported[:, outcome, part]).T[:, :, None] * matrix
                    for matrix, reported in terms
                ),
                np.zeros(()),
            )
            inner += (left * weight[:, outcome, part].T[:, None, :]) @ left.transpose(0, 2, 1)
        inner += np.eye(size) * (scale[:, part] == 0).T[:, None, :]
        found[:, part] = np.linalg.solve(inner, right[:, part].transpose(1, 0, 2)).transpose(1, 0, 2)
    shaped = found.reshape(*crossed.shape[:-1], -1)
    return shaped[..., 0], shaped[..., 1:]


def _matrix(covariates: Sequence[Channel]) -> FloatArray:
    """P of all covariates, rows by the truth, in the order of their cells."""
    layout = layout_of(covariates)
    matrix: FloatArray = np.ones((1, 1))
    for channel in layout.blocks:
        own = channel.expected(np.eye(channel.cardinality), 0)
        matrix = np.asarray(np.kron(matrix, own), dtype=np.float64)
    if len(layout.blocks) == len(covariates):
        return matrix
    cells = np.arange(len(matrix)).reshape([channel.cardinality for channel in covariates])
    order = np.argsort(layout.joined(cells).reshape(-1))
    return matrix[np.ix_(order, order)]
