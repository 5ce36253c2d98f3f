"""The sliders, and the split that follows them."""

from __future__ import annotations

from typing import Any

from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import BudgetOptError, InfeasibleError, InputError, NotSolvedError
from budget_opt.explorer import controls, page
from budget_opt.explorer.later import Later
from budget_opt.explorer.picture import Picture
from budget_opt.explorer.splitting import Step, largest_floor, proved_for, split_for
from budget_opt.explorer.wishes import Wishes
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Report

PROVE_SECONDS = 10.0


class Explorer:
    """The sliders of one problem with the split that follows them; made by `explore`.

    `total` (None for a problem without one), `records` and `moment` are the widgets above the rows; `row(…)`
    gives the sliders of a moment. Setting their `value` in Python does what moving them does.
    """

    def __init__(self, problem: Problem, n: int) -> None:
        widgets = controls.ipywidgets()
        self._first, self._n, self._wishes = problem, n, Wishes()
        self._moved: int | None = None
        self._rows: dict[int, controls.Row] = {}
        self._later = Later(self._follow)
        self._step = split_for(problem, None)
        self._possible = self._step.allocation
        self._start = self._possible or _without_solve(problem, self._step)
        self.total, self.records = controls.total_slider(problem), controls.records_slider(n)
        self.moment = controls.picker(problem)
        self._box, self._image = widgets.VBox(), widgets.Image(format="png")
        self._table, self._status = widgets.HTML(), widgets.HTML()
        self._code = widgets.Textarea(layout={"width": "100%", "height": "18em", "display": "none"})
        self._put_in_view(controls.first_moments(problem))
        self._observe()
        self.widget = self._laid_out()

    @property
    def problem(self) -> Problem:
        """The problem that the sliders stand at; raises `ProblemError` where they make none."""
        step = self._current()
        if step.problem is None:
            raise step.reason
        return step.problem

    @property
    def allocation(self) -> Allocation:
        """The split of that problem, never of another one.

        Raises what `why` says where there is none: `InfeasibleError` where none is possible, `NotSolvedError`
        where none was found, which `prove` may do, `ProblemError` where the sliders make no problem.
        """
        step = self._current()
        if step.allocation is None:
            raise step.reason
        return step.allocation

    @property
    def last_possible(self) -> Allocation:
        """The split of the last problem that had one: figure and table show it faded where this one has none.

        That problem may have a larger total than the sliders say. Raises as `allocation` does where no
        problem had a split so far: what is shown then is the even one.
        """
        step = self._current()
        if self._possible is None:
            raise step.reason
        return self._possible

    @property
    def why(self) -> BudgetOptError | None:
        """Why the sliders have no split, None where they have one."""
        step = self._current()
        return None if step.allocation is not None else step.reason

    @property
    def code(self) -> str:
        """Python that makes the current problem and solves it; raises `ProblemError` as `problem` does."""
        return page.python_text(self.problem.to_dict())

    @property
    def status(self) -> str:
        """What is proved, or why the wishes cannot be met: HTML."""
        self._later.flush()
        return str(self._status.value)

    @property
    def table(self) -> str:
        """Every moment with its retention and expected standard error: HTML."""
        self._later.flush()
        return str(self._table.value)

    @property
    def figure(self) -> bytes:
        """The image below the sliders: PNG."""
        self._later.flush()
        return bytes(self._image.value)

    def row(self, *attributes: str) -> controls.Row:
        """The sliders `weight` and `floor` of the moment of these attributes, brought into view."""
        for k, moment in enumerate(self._first.moments):
            if set(moment.attributes) == set(attributes):
                if k not in self._rows:
                    self._put_in_view([*list(self._rows)[-controls.MOST_ROWS + 1 :], k])
                return self._rows[k]
        raise InputError(
            f"moment {' x '.join(attributes)!r} is not in the problem. Name the attributes of one."
        )

    def prove(self, time_limit: float = PROVE_SECONDS) -> Allocation:
        """Solve the current problem to the default gap, in `time_limit` seconds; what the button does.

        Raises what `why` says where it is known that the sliders have no split; `NotSolvedError` where none
        was found in that time, and where a slider was moved meanwhile. A split that was there stays.
        """
        step = self._current()
        if step.problem is None or isinstance(step.why, InfeasibleError):
            raise step.reason
        self._status.value = page.working(f"up to {time_limit:g} seconds …")
        try:
            proved = proved_for(step.problem, time_limit, self._tell)
            if self._current() is not step:
                raise NotSolvedError("a slider was moved while its problem was proved. Press prove again.")
            self._keep(proved)
        finally:
            self._draw()
        return self.allocation

    def reset(self) -> None:
        """Put every slider back to where it was at the start."""
        self._rows = {}
        self.records.value = self._n
        if self.total is not None:
            self.total.value = self._first.total_epsilon
        self._wish(Wishes())
        self._later.flush()
        self._put_in_view(controls.first_moments(self._first))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.widget._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        return f"Explorer of {self._first.name or 'a problem'}: the last line of a notebook's cell shows it"

    def _current(self) -> Step:
        """What the sliders have now, computed if it was still to be."""
        self._later.flush()
        return self._step

    def _follow(self) -> None:
        """The split of what the sliders stand at; none, and not the one before, where this is cut short."""
        self._step = Step(None)
        try:
            problem = self._wishes.of(self._first)
            self._step = Step(problem)
            self._keep(split_for(problem, self._possible))
        except BudgetOptError as failure:
            self._step = Step(None, why=failure)
        finally:
            self._draw()

    def _keep(self, step: Step) -> None:
        self._step = step
        self._possible = step.allocation or self._possible

    def _draw(self) -> None:
        step, shown = self._step, self._shown
        if step.allocation is None:
            self._status.value = page.impossible(step.reason, self._nearest(), self._possible is not None)
        else:
            self._status.value = page.status_of(shown)
        self._image.value = self._picture.png(shown, faded=step.allocation is None)
        self._write_table()
        if self._code.layout.display != "none":
            self._write_code()

    @property
    def _shown(self) -> Allocation:
        return self._possible or self._start

    def _nearest(self) -> tuple[str, float] | None:
        """The moment whose floor was moved last, and the largest floor that it can have."""
        problem = self._step.problem
        if problem is None or self._moved is None or not isinstance(self._step.why, InfeasibleError):
            return None
        floor = largest_floor(problem, self._moved)
        return None if floor is None else (problem.moments[self._moved].label, floor)

    def _write_table(self) -> None:
        self._table.value = page.moments_table(self._shown, self._start, round(self.records.value))

    def _put_in_view(self, moments: list[int]) -> None:
        """Rows of sliders for these moments, at what they stand at, and a figure that shows them."""
        for k in moments:
            if k not in self._rows:
                self._rows[k] = self._row_of(k)
        self._rows = {k: self._rows[k] for k in moments}
        self._box.children = [row.box for row in self._rows.values()]
        self._picture = Picture(self._start, moments)
        self._draw()

    def _row_of(self, k: int) -> controls.Row:
        moment, wishes = self._first.moments[k], self._wishes
        weight, floor = wishes.weights.get(k, moment.weight), wishes.floors.get(k, moment.floor or 0.0)
        row = controls.moment_row(self._first, k, weight, floor)
        row.weight.observe(lambda change: self._wish(self._wishes.with_weight(k, change["new"])), "value")
        row.floor.observe(lambda change: self._wish(self._wishes.with_floor(k, change["new"]), k), "value")
        return row

    def _observe(self) -> None:
        if self.total is not None:
            self.total.observe(lambda change: self._wish(self._wishes.with_total(change["new"])), "value")
        self.records.observe(lambda _: self._write_table(), "value")
        self.moment.observe(self._choose, "value")

    def _wish(self, wishes: Wishes, moved: int | None = None) -> None:
        self._wishes, self._moved = wishes, moved
        self._later.request()

    def _choose(self, change: dict[str, Any]) -> None:
        if change["new"] >= 0:
            self.row(*self._first.moments[change["new"]].attributes)
            self.moment.value = -1

    def _tell(self, report: Report) -> None:
        gap = f"gap {report.relative_gap:.1e}" if report.bound is not None else "no bound yet"
        self._status.value = page.working(f"{report.seconds:.1f} s, {gap}")

    def _show_code(self) -> None:
        hidden = self._code.layout.display == "none"
        self._code.layout.display = None if hidden else "none"
        self._later.flush()
        self._write_code()

    def _write_code(self) -> None:
        problem = self._step.problem
        self._code.value = "" if problem is None else page.python_text(problem.to_dict())

    def _press_prove(self) -> None:
        """`prove`, for a button: the status says what failed."""
        try:
            self.prove()
        except BudgetOptError as failure:
            if self._step.allocation is not None:
                self._status.value += page.failed(failure)

    def _laid_out(self) -> Any:
        widgets = controls.ipywidgets()
        buttons = [
            controls.button("prove", "Solve to the default gap, with a bound", self._press_prove),
            controls.button("copy as Python", "Python that makes this problem", self._show_code),
            controls.button("start again", "All sliders back to the start", self.reset),
        ]
        above = [slider for slider in (self.total, self.records) if slider is not None]
        many = [self.moment] if len(self._first.moments) > controls.MOST_ROWS else []
        parts = [widgets.HBox(above), self._box, *many, widgets.HBox(buttons), self._code]
        return widgets.VBox([*parts, self._status, self._image, self._table])


def _without_solve(problem: Problem, step: Step) -> Allocation:
    """The even split, for a first picture of a problem that cannot be met."""
    try:
        return uniform(problem)
    except BudgetOptError as failure:
        raise step.why or failure from None
