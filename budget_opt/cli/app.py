"""The commands, one function each; what they do is in `budget_opt` itself."""

from __future__ import annotations

from functools import cache
from typing import Any

import typer
from typer.main import get_command

from budget_opt.cli import (
    commands_audit,
    commands_compare,
    commands_data,
    commands_design,
    commands_estimate,
    commands_export,
    commands_init,
    commands_ledger,
    commands_plan,
    commands_problem,
    commands_report,
    commands_show,
    commands_strengths,
    commands_whatif,
    demo,
)

app = typer.Typer(
    name="budget-opt",
    help="The best split of a privacy budget over the attributes of a table: proved, released, verified.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("demo")(demo.demo)
app.command("init")(commands_init.init)
app.command("check")(commands_problem.check)
app.command("strengths")(commands_strengths.strengths)
app.command("solve")(commands_problem.solve)
app.command("judge")(commands_problem.judge)
app.command("show")(commands_show.show)
app.command("randomize")(commands_data.randomize)
app.command("verify")(commands_data.verify)
app.command("audit")(commands_audit.audit)
app.command("estimate")(commands_estimate.estimate)
app.command("whatif")(commands_whatif.whatif)
app.command("compare")(commands_compare.compare)
app.command("plan")(commands_plan.plan)
app.command("least-total")(commands_plan.least_total)
app.command("design")(commands_design.design)
app.command("report")(commands_report.report)
app.command("export")(commands_export.export)
app.add_typer(commands_ledger.ledger_app, name="ledger")
app.command("schema")(commands_problem.schema)


@cache
def parser() -> Any:
    """The commands as typer parses them, made once a process: that takes as long as a short command."""
    return get_command(app)
