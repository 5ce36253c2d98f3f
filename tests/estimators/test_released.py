"""A released table as every estimator sees it: the same from any kind of table, refused where it is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.errors import DataError, InputError
from budget_opt.estimators.releases import reading
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.releases.released import Released, open_released
from budget_opt.tables import frames
from tests.estimators.survey_release import (
    KINDS,
    NAMES,
    N,
    allocation,
    by_hand,
    changed,
    frame,
    originals,
    problem,
    refused,
)

# What is read


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", ["rows", "counted on the way", "counted at the end"])
def test_any_kind_of_table_gives_the_same_counts(
    kind: str, held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of any size, rows that are held or counted."""
    monkeypatch.setattr(frames, "BATCH_ROWS", 700)
    if held == "rows":
        monkeypatch.setattr(reading, "LARGEST_JOINT", 17)
    elif held == "counted on the way":
        monkeypatch.setattr(reading, "_HELD_ROWS", 2_500)
    weight = frame()["share"].to_numpy()
    found = open_released(KINDS[kind](tmp_path), allocation(), NAMES)
    assert (found.rows is None) == (held == "rows")
    assert found.n == N
    for names in (NAMES, NAMES[::-1], NAMES[:1]):
        table = found.counts(*names)
        assert np.array_equal(table.rows, by_hand(names))
        assert table.first == pytest.approx(by_hand(names, weight))
        assert table.second == pytest.approx(by_hand(names, weight**2))
    assert [one.cardinality for one in found.channels_of("smoker", "age")] == [2, 3]
    assert found.channels["income"].retention == float(allocation()["income"].exact_retention)
    assert found.labels == {
        "age": ("[18, 30)", "[30, 65]", None),
        "smoker": ("no", "yes"),
        "income": (0, 1, 2),
    }


def test_counting_is_the_same_from_the_table_from_its_parts_and_from_counts_of_more(tmp_path: Path) -> None:
    whole = bo.estimate.count(frame(), allocation(), *NAMES)
    parts = [
        bo.estimate.count(frame()[part], allocation(), *NAMES) for part in (slice(900), slice(900, None))
    ]
    kept = [Counts.from_dict(part.to_dict()) for part in parts]
    assert np.array_equal((kept[0] + kept[1]).rows, whole.rows)
    assert (kept[0] + kept[1]).second == pytest.approx(whole.second)
    fewer = bo.estimate.count(whole, allocation(), "income", "age")
    assert fewer.attributes == ("income", "age")
    assert np.array_equal(fewer.rows, by_hand(("income", "age")))
    assert fewer.randomized_as == (whole.randomized_as[2], whole.randomized_as[0])
    opened = open_released(whole, allocation(), ["income", "age"])
    assert opened.counts("age") == whole.marginal("age")


def test_a_table_that_is_counted_on_the_way_takes_no_more_room_for_more_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows are held up to the limit and no further."""
    held: list[int] = []
    take = reading._Rows.add

    def watched(self: Any, columns: Any, weights: Any) -> None:
        take(self, columns, weights)
        held.append(self._held)

    monkeypatch.setattr(frames, "BATCH_ROWS", 100)
    monkeypatch.setattr(reading, "_HELD_ROWS", 500)
    monkeypatch.setattr(reading._Rows, "add", watched)
    found = open_released(pa.Table.from_pandas(frame(), preserve_index=False), allocation(), NAMES)
    assert found.n == N
    assert max(held) < 500


# What is no release


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_the_originals_are_refused_even_without_the_dropped_column(kind: str, tmp_path: Path) -> None:
    def kept(table: pd.DataFrame) -> Any:
        if kind == "csv":
            table.to_csv(tmp_path / "t.csv", index=False)
            return tmp_path / "t.csv"
        if kind == "parquet":
            table.to_parquet(tmp_path / "t.parquet", index=False)
            return tmp_path / "t.parquet"
        return table

    refused(kept(originals()), "has the columns 'id', which the allocation drops", "not the original?")
    table = originals().drop(columns="id")
    for name in ("smoker", "income"):
        error = refused(
            kept(table), f"column '{name}': the shares of its categories are impossible", names=(name,)
        )
        assert error.column == name
        assert "is this its allocation?" in str(error)
        assert not any(character.isdigit() for character in str(error).replace("1e-09", ""))


def test_a_release_under_more_noise_than_its_allocation_says_nothing_of_is_told() -> None:
    """Shares far above what a true report gives are as impossible as shares below what a wrong one gives."""
    refused(changed(smoker="no"), "column 'smoker': the shares", names=("income", "smoker"))
    assert open_released(changed(smoker="no"), allocation(), ["income"]).n == N
    # of many categories each may well be missing from a small table, and all but one may not
    many = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute("x", categories=20)], moments=[bo.CrossMoment("x")], total_epsilon=3.0
        )
    )
    with pytest.raises(InputError, match="'x': the shares of its categories are impossible"):
        open_released(Counts(("x",), [200] + 19 * [0]), many, ["x"])
    assert open_released(Counts(("x",), [100] + 5 * [20] + 14 * [0]), many, ["x"]).n == N // 20


def test_sound_releases_pass_even_where_every_original_is_the_same() -> None:
    """The hardest case: every category but one has the least share; 200 releases of 3 columns."""
    rng = np.random.default_rng(5)
    one = allocation()
    kept = {name: float(one[name].exact_retention) for name in ("smoker", "income", "age")}
    for _ in range(200):
        columns = {
            name: np.bincount(
                np.where(rng.random(N) < kept[name], 0, rng.integers(0, one[name].cardinality, N)),
                minlength=one[name].cardinality,
            )
            for name in kept
        }
        for name, counts in columns.items():
            assert open_released(Counts((name,), counts), one, [name], weight=False).n == N


def test_a_joint_table_that_no_originals_lead_to_is_refused_whatever_is_estimated() -> None:
    """Each column by itself may well be released."""
    two = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=3, ordered=True)],
            moments=[bo.CrossMoment("a", "b")],
            total_epsilon=2.0,
        )
    )
    table = np.array([[3, 2, 1], [1, 1, 2]])
    scores = {"a": [0, 1]}
    for estimate in (
        lambda counts: bo.estimate.cramers_v(counts, two, "a", "b", noise_limit=np.inf),
        lambda counts: bo.estimate.moment(counts, two, "a", "b", scores=scores, noise_limit=np.inf),
        lambda counts: open_released(counts, two, ["b", "a"]).counts("a", "b"),
    ):
        with pytest.raises(DataError, match=r"the joint table of . x .: is impossible after this") as caught:
            estimate(Counts(("a", "b"), table * 10**17))
        assert caught.value.column in ("a", "b")
        assert estimate(Counts(("a", "b"), table * 10)) is not None
    assert open_released(Counts(("a", "b"), table * 10**17), two, ["a"]).n == 10**18


def test_columns_of_another_table_are_named_with_the_way_out() -> None:
    table = frame()
    refused(table.drop(columns=["age"]), "has no column 'age', which a release under this allocation has")
    refused(table.drop(columns=["size"]), "has no column 'size'")
    told = str(
        refused(table.assign(log_income=1.0), "has the columns 'log_income', which are not of the release")
    )
    assert "table[list(allocation.released)]" in told
    assert open_released(table.assign(more=1)[list(allocation().released)], allocation(), NAMES).n == N
    # what is not asked for may be there or not: a column of pure noise is released only on request
    assert "silent" not in table.columns
    assert open_released(table.assign(silent=1), allocation(), NAMES).n == N


def test_r10_a_file_without_a_header_line_is_refused_and_its_first_record_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    distinct = frame().assign(wave="CANARY", share=2.5, size=77, age="[18, 30)", income=1, smoker="no")
    distinct.head(3).to_csv(path, index=False, header=False)
    told = str(refused(path, "Has the file a header line?"))
    assert "CANARY" not in told
    named = refused(frame().drop(columns="age").assign(CANARY=1), "has no column 'age'")
    assert "CANARY" not in str(named)


def test_cells_outside_the_domains_are_told_with_column_count_and_rows() -> None:
    column = frame()["income"].astype("int64").copy()
    column[[3, 8]] = 7
    error = refused(changed(income=column), "column 'income': not a label of the released column: 2 cells")
    assert (error.column, error.count, error.rows) == ("income", 2, (3, 8))
    refused(frame().head(0), "has no rows")
    refused([1, 2, 3], "must be a pandas or polars DataFrame")
    refused("nowhere.parquet", "there is no such file")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "none is named"),
        (["smoker", "smoker"], "'smoker' is named 2 times"),
        (
            ["smokr"],
            "'smokr' is not an attribute or a public column of the allocation. Did you mean 'smoker'?",
        ),
        (["zzz"], "Known are 'smoker', 'income', 'age', 'silent', 'share', 'wave', 'size'"),
        (["silent"], "'silent': epsilon is 0.0, so nothing about it was released"),
        (["id"], "'id' is not an attribute or a public column"),
    ],
)
@pytest.mark.parametrize("of", ["table", "counts"])
def test_names_that_nothing_can_be_estimated_for_are_refused(names: list[str], said: str, of: str) -> None:
    given = frame() if of == "table" else bo.estimate.count(frame(), allocation(), *NAMES)
    with pytest.raises(InputError) as caught:
        open_released(given, allocation(), names)
    assert said in str(caught.value)


# Counts


def counted(**changes: Any) -> Counts:
    fields: dict[str, Any] = {"attributes": ("income", "age"), "rows": by_hand(("income", "age"))}
    return Counts(**(fields | changes))


@pytest.mark.parametrize(
    ("counts", "weight", "said"),
    [
        (counted, None, "have no survey weights, and the allocation states some. Count with weight='share'"),
        (counted, "size", "have no survey weights. Count with weight='size'"),
        (
            lambda: counted(weights=np.zeros((3, 3)), squares=np.zeros((3, 3))),
            None,
            "no cell has a sum of survey",
        ),
        (
            lambda: counted(attributes=("income", "height")),
            False,
            "'height' is not an attribute of the allocation",
        ),
        (
            lambda: counted(attributes=("income", "wave")),
            False,
            "'wave' is not an attribute of the allocation",
        ),
        (
            lambda: counted(attributes=("income", "smoker")),
            False,
            r"has shape (3, 3), the allocation's domains",
        ),
        (lambda: counted(randomized_as=("x", "y")), False, "were made under another allocation"),
        (lambda: counted(rows=np.zeros((3, 3), dtype=int)), False, "have no rows"),
        (lambda: counted(rows=np.diag([N, 0, 0])), False, "the shares of its categories are impossible"),
    ],
)
def test_counts_that_do_not_fit_are_refused(counts: Callable[[], Counts], weight: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        open_released(counts(), allocation(), ["income"], weight)
    assert said in str(caught.value)


def test_counts_know_what_they_were_made_under(tmp_path: Path) -> None:
    counts = bo.estimate.count(frame(), allocation(), "income", "age")
    other = bo.uniform(problem(total_epsilon=4.0))
    with pytest.raises(InputError, match="categories or epsilons of the attributes differ"):
        open_released(counts, other, ["income"])
    relabelled = [
        one.with_fields(categories=[2, 1, 0]) if one.name == "income" else one for one in problem().attributes
    ]
    with pytest.raises(InputError, match="categories or epsilons"):
        open_released(counts, bo.uniform(problem(attributes=relabelled)), ["age"])
    with pytest.raises(InputError, match="no numbers of single rows"):
        open_released(counts, allocation(), ["income"], numbers=["size"])
    with pytest.raises(InputError, match="'smoker' is not counted"):
        open_released(counts, allocation(), ["smoker"])
    for weight in (None, "share"):
        assert open_released(counts, allocation(), ["age"], weight).counts("age").weighted_by == "share"
    by_size = bo.estimate.count(frame(), allocation(), "age", weight="size")
    assert open_released(by_size, allocation(), ["age"], "size").counts("age") == by_size
    for weight in (None, "share"):
        with pytest.raises(InputError, match="have the weights 'size', and 'share' are asked for"):
            open_released(by_size, allocation(), ["age"], weight)
    assert open_released(counts, allocation(), ["age"], False).weights is None
    # an allocation that was written and read is the same one
    allocation().write(tmp_path / "allocation.json")
    assert open_released(counts, bo.Allocation.read(tmp_path / "allocation.json"), ["age"]).n == N


def test_the_size_of_a_table_is_judged_before_anything_is_read() -> None:
    wide = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(f"a{m}", categories=1000) for m in range(3)],
            moments=[bo.CrossMoment("a0", "a1")],
            total_epsilon=3.0,
        )
    )
    with pytest.raises(
        InputError, match="a0 x a1 x a2 has 1,000,000,000 cells and takes 8,000,000,000 bytes"
    ):
        bo.estimate.count("nowhere.parquet", wide, "a0", "a1", "a2")


def test_what_a_file_of_another_schema_says_is_refused(tmp_path: Path) -> None:
    """Other domains: the labels of another allocation."""
    path = tmp_path / "t.parquet"
    other = changed(smoker=np.where(frame()["smoker"] == "no", "never", "often"))
    parquet.write_table(pa.Table.from_pandas(other, preserve_index=False), path)
    refused(path, "column 'smoker': not a label of the released column", "no; yes")


def test_a_release_is_what_an_estimator_takes() -> None:
    found = open_released(frame(), allocation(), NAMES)
    assert isinstance(found, Released)
    assert found.cells("age", "smoker").effective == pytest.approx(found.counts("smoker").effective)
    assert found.notes == found.counts("smoker").notes == ("survey weights: share",)
    assert open_released(frame(), allocation(), NAMES, False).notes == ()
