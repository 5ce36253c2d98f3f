"""From a problem with a known source to corrected marginals: every way out, charged and judged."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.allocation.schema import allocation_schema
from budget_opt.api.checking.checking import check
from budget_opt.errors import AllocationError
from budget_opt.ledger.charge import Part
from budget_opt.mechanisms.exact import exact
from budget_opt.model.schema import problem_schema
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.keyed_release import KeyedRows
from budget_opt.randomizer.local.document import terms_of_document
from budget_opt.randomizer.table import randomize_table
from tests.randomizer.keyed_cells import release_under

BETWEEN = {"between": {"lower": [0.5, 0.1, 0.0], "upper": [0.7, 0.4, 0.1]}}
LABELS = ["low", "middle", "high"]
PROBLEM = bo.Problem(
    name="survey",
    attributes=[
        bo.Attribute("x", categories=4),
        bo.Attribute("y", categories=["a", "b"]),
        bo.Attribute(
            "s",
            categories=LABELS,
            ordered=True,
            source={"distributions": [[0.6, 0.3, 0.1]]},
            distortion_max=0.2,
        ),
        bo.Attribute("c", categories=3, source=BETWEEN, epsilon=1.0),
    ],
    moments=[bo.CrossMoment("x", "y")],
    total_epsilon=6.0,
    dropped=["id"],
)
MADE = bo.solve(PROBLEM)


def table(rows: int, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(rows).astype(str),
            "x": rng.integers(0, 4, rows),
            "y": rng.choice(["a", "b"], rows),
            "s": rng.choice(LABELS, rows, p=[0.6, 0.3, 0.1]),
            "c": rng.choice(3, rows, p=[0.6, 0.35, 0.05]),
        }
    )


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Ledger:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    return bo.Ledger.create(tmp_path / "ledger.db")


def test_problem_solve_file_release_verification_charge_and_corrected_marginal(
    tmp_path: Path, ledger: bo.Ledger
) -> None:
    PROBLEM.write(tmp_path / "problem.json")
    problem = bo.Problem.read(tmp_path / "problem.json")
    assert problem == PROBLEM
    bo.solve(problem).write(tmp_path / "allocation.json")
    made = bo.Allocation.read(tmp_path / "allocation.json")
    bo.verify(made, problem).require()
    original = table(30_000)
    original.to_csv(tmp_path / "data.csv", index=False)
    ledger.register("d", bo.Caps(total=6.0, attributes={"s": made["s"].epsilon}))
    payer = bo.Payer("d", ledger, tell=lambda line: None)
    bo.randomize_file(
        tmp_path / "data.csv",
        made,
        tmp_path / "out.csv",
        bo.FileOptions(row_order="public"),
        charge_to=payer,
    )
    assert ledger.left("d").total == 0
    assert ledger.left("d").attributes["s"] == 0
    released = pd.read_csv(tmp_path / "out.csv")
    bo.verify_release(made, original=original, released=tmp_path / "out.csv").require()
    bo.verify_release(made, released=tmp_path / "out.csv").require()
    found = bo.estimate.source_marginal(tmp_path / "out.csv", made, "s")
    low, high = found.interval(0.999999)
    assert (low < np.array([0.6, 0.3, 0.1])).all()
    assert (np.array([0.6, 0.3, 0.1]) < high).all()
    assert found.n == len(released) == 30_000
    # the columns of a release are the declared ones, and no censored category is among its cells
    assert list(released.columns) == ["x", "y", "s", "c"]
    assert set(released["c"]) == {0}.union(set(range(3)) - {int(one) for one in made["c"].censored})


def test_a_charge_has_a_part_for_each_attribute_with_its_epsilon() -> None:
    charge = bo.Charge.of(MADE)
    assert Part(("s",), Decimal(repr(MADE["s"].epsilon))) in charge.parts
    assert charge.epsilon == Decimal("6.0")


def test_r34_tables_files_and_batches_give_the_same_keyed_release(tmp_path: Path) -> None:
    original, release = (
        pa.Table.from_pandas(table(1000), preserve_index=False),
        release_under(bytes(range(32))),
    )
    whole = randomize_table(original, MADE, row_order="public", keyed=KeyedRows(release, "id")).table
    original.to_pandas().to_csv(tmp_path / "data.csv", index=False)
    bo.randomize_file(
        tmp_path / "data.csv",
        MADE,
        tmp_path / "out.csv",
        bo.FileOptions(row_order="public", release=release, row_id="id"),
    )
    there = pd.read_csv(tmp_path / "out.csv").astype(str)
    batches = BatchRandomizer(original.schema, MADE, release, row_id="id")
    parts = pa.Table.from_batches(
        [batches.with_order_keys(one) for one in original.to_batches(max_chunksize=49)]
    )
    for name in ("x", "y", "s", "c"):
        expected = [str(value) for value in whole.column(name).to_pylist()]
        assert there[name].tolist() == expected
        assert [str(value) for value in parts.column(name).to_pylist()] == expected


def test_the_shares_of_the_truths_are_covered_and_their_errors_are_those_of_the_draws() -> None:
    """400 releases of 2,000 rows: a ratio of deviations is off by 3.5 % (one standard error); 0.21 is six."""
    rng = np.random.default_rng(7)
    matrix = np.array([[float(share) for share in row] for row in MADE["s"].exact_matrix])
    shares, errors = [], []
    for _ in range(400):
        truth = rng.choice(3, 2000, p=[0.6, 0.3, 0.1])
        code = (matrix[truth].cumsum(axis=1) < rng.random(2000)[:, None]).sum(axis=1)
        released = pd.DataFrame({"x": 0, "y": "a", "s": np.array(LABELS)[code], "c": 0})
        released["x"], released["y"] = rng.integers(0, 4, 2000), rng.choice(["a", "b"], 2000)
        found = bo.estimate.source_marginal(released, MADE, "s")
        shares.append(found.shares)
        errors.append(found.standard_errors)
    deviations = np.std(shares, axis=0)
    assert np.mean(errors, axis=0) / deviations == pytest.approx(np.ones(3), abs=0.21)
    # the mean of 400 is within six of its standard errors
    assert (np.abs(np.mean(shares, axis=0) - [0.6, 0.3, 0.1]) < 6 * deviations / 20).all()


def test_other_estimates_refuse_it_by_name_and_defaults_leave_it_out() -> None:
    released = bo.randomize(table(5000), MADE)
    for ask in (
        lambda: bo.estimate.table(released, MADE, "x", "s"),
        lambda: bo.estimate.marginals(released, MADE, "s"),
        lambda: bo.estimate.moment(released, MADE, "x", "s"),
    ):
        with pytest.raises(bo.InputError, match=r"attribute 's': .*source_marginal"):
            ask()
    found = bo.estimate.marginals(released, MADE)
    assert found.attributes == ("x", "y")
    assert "left out: s, see source_marginal (--source-marginal)" in found.notes
    assert {"x", "y"} >= set(bo.estimate.covariance(released, MADE).attributes)
    with pytest.raises(bo.InputError, match="never reported"):
        bo.estimate.source_marginal(released, MADE, "c")
    with pytest.raises(bo.InputError, match="has no matrix that a known source chose"):
        bo.estimate.source_marginal(released, MADE, "x")


def test_a_table_that_cannot_be_a_release_is_refused() -> None:
    with pytest.raises(bo.DataError, match="impossible after this randomization"):
        bo.estimate.source_marginal(bo.randomize(table(5000), MADE).assign(s="high"), MADE, "s")


def test_matrices_are_exported_and_other_software_is_refused_by_name(tmp_path: Path) -> None:
    bo.export(MADE, "matrices", tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["attribute"] == "s"]
    stated = {(row["truth"], row["report"]): float(row["probability"]) for row in rows}
    for i, truth in enumerate(LABELS):
        for j, report in enumerate(LABELS):
            assert stated[truth, report] == float(MADE["s"].exact_matrix[i][j])
    bo.export(MADE, "matrices", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as arrays:
        assert arrays["s: matrix"].tolist() == [[float(p) for p in row] for row in MADE["s"].exact_matrix]
    for to, ending in (("opendp", "json"), ("sdcmicro", "R")):
        with pytest.raises(bo.InputError, match="s: its matrix was chosen for a known source"):
            bo.export(MADE, to, tmp_path / f"m.{ending}")


def test_one_record_at_a_time_is_randomized_too_and_a_file_is_read_without_packages() -> None:
    local = bo.LocalRandomizer(MADE)
    record = {"x": 1, "y": "a", "s": "low", "c": 0}
    reports = [local.report(record)["s"] for _ in range(300)]
    # 300 reports that are the truth with 0.87: fewer than 200 have a chance below 1e-15
    assert reports.count("low") > 200
    document = json.loads(json.dumps(MADE.to_dict()))
    terms = terms_of_document(document)
    assert [block.sampler for block in terms.blocks] == [block.sampler for block in MADE.blocks]
    rows = document["attributes"][2]["sampler"]["rows"]
    rows[0] = [str(int(rows[0][0]) + 2**58), str(int(rows[0][1]) - 2**58), rows[0][2]]
    with pytest.raises(AllocationError, match="must lose at most epsilon"):
        terms_of_document(document)


def test_the_schemas_admit_what_is_written() -> None:
    jsonschema.Draft202012Validator(allocation_schema()).validate(json.loads(json.dumps(MADE.to_dict())))
    jsonschema.Draft202012Validator(problem_schema()).validate(json.loads(json.dumps(PROBLEM.to_dict())))


def test_check_says_what_a_source_costs_and_when_it_is_worth_nothing() -> None:
    told = " ".join(check(PROBLEM).warnings)
    assert "s: its source is of class II" in " ".join(told.split())
    worthless = bo.Attribute("s", categories=3, source={"ordered": {"first_at_least": 0.0}}, epsilon=1.0)
    attributes = [*PROBLEM.attributes[:2], worthless]
    told = " ".join(check(PROBLEM.with_fields(attributes=attributes)).warnings)
    assert "remove the source" in " ".join(told.split())


def test_report_and_pictures_say_that_a_source_chose_the_matrix(tmp_path: Path) -> None:
    from budget_opt.plots import allocation_bars, retention_matrix, transition_plot

    bo.report(MADE, tmp_path / "report.html", problem=PROBLEM)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "by source" in page
    assert ">s is randomized by the best matrix for its source" in page
    for drawn in (
        transition_plot(MADE, "s"),
        retention_matrix(MADE),
        allocation_bars(MADE, problem=PROBLEM),
    ):
        assert drawn is not None


def test_source_aware_alone_keeps_the_same_limit_at_no_more_loss() -> None:
    """A pin has 12 digits, rounded up; alone the integers come as near to the least loss as they can."""
    alone = bo.source_aware(PROBLEM.attribute("s"), PROBLEM.attribute("s").known_source)
    assert exact(alone.distortion) <= Fraction(1, 5)
    assert MADE["s"].loss * (1 - 1e-8) <= alone.loss <= MADE["s"].loss


def test_what_dropping_its_pin_would_bring_is_that_of_any_pinned_attribute() -> None:
    def told(**fields: object) -> str:
        attributes = [*PROBLEM.attributes[:2], bo.Attribute("s", categories=3, **fields)]
        problem = PROBLEM.with_fields(attributes=attributes)
        return str(bo.explain(bo.solve(problem), problem))

    source = {"distributions": [[0.6, 0.3, 0.1]]}
    plain = told(epsilon=MADE["s"].epsilon)
    assert "Dropping the pin of s would raise the objective" in plain
    assert told(source=source, distortion_max=0.2) == told(source=source, epsilon=MADE["s"].epsilon) == plain
