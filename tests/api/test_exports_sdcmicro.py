"""Export to sdcMicro: what R makes of the script, to the last digit and the last letter.

sdcMicro itself is on CRAN only, so these tests run the script's own part; what `pram` asks of a matrix is
checked as its source states it.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.api.exports.sdcmicro import r_number, r_text
from tests.api.exported import HOSTILE, NAMES, entries, hostile, single, wide

PRINT = r"""
source("script.R", encoding = "UTF-8")
points <- function(text) paste(utf8ToInt(enc2utf8(text)), collapse = ",")
for (name in names(budget_opt_matrices)) {
  P <- budget_opt_matrices[[name]]
  labels <- vapply(rownames(P), points, "")
  stopifnot(identical(rownames(P), colnames(P)))
  worst <- max(abs(c(rowSums(P), colSums(P)) - 1))
  entries <- sprintf("%.17g", c(P[1, 1], P[1, 2], P[2, 1], P[nrow(P), ncol(P)]))
  labels <- paste(labels, collapse = ";")
  cat(points(name), labels, sprintf("%.17g", worst), entries, length(unique(c(P))), "\n")
}
"""


@pytest.fixture(scope="session")
def rscript() -> str:
    """The path of Rscript; without it the test is skipped, in CI it fails."""
    found = shutil.which("Rscript")
    if found is None:
        message = "Rscript is not installed; apt-get install r-base-core brings it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def run(rscript: str, folder: Path, code: str, locale: str = "C") -> list[str]:
    (folder / "run.R").write_text(code, encoding="ascii")
    done = subprocess.run(
        [rscript, "--vanilla", "run.R"],
        cwd=folder,
        env={**os.environ, "LC_ALL": locale},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def letters(points: str) -> str:
    return "".join(chr(int(point)) for point in points.split(","))


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_r_reads_names_categories_and_probabilities_as_they_are(
    rscript: str, tmp_path: Path, locale: str
) -> None:
    allocation = hostile()
    bo.export(allocation, "sdcmicro", tmp_path / "script.R")
    lines = run(rscript, tmp_path, PRINT, locale)
    assert len(lines) == len(NAMES)
    for line, name in zip(lines, NAMES, strict=True):
        said_name, labels, worst, *probabilities, distinct = line.split()
        assert letters(said_name) == name
        assert [letters(label) for label in labels.split(";")] == expected_labels(allocation, name)
        assert (float(worst), distinct) == (0.0, "2")
        first, right, below, last = (Fraction(float(text)) for text in probabilities)
        truth, other = entries(allocation[name])
        assert first == last
        assert right == below
        assert 0 <= right - other < Fraction(1, 2**53)
        assert 0 <= truth - first < Fraction(allocation[name].cardinality, 2**53)


def expected_labels(allocation: bo.Allocation, name: str) -> list[str]:
    special = {
        NAMES[1]: [*HOSTILE, "(missing)_"],  # "(missing)" is a declared label there
        "children": ["0", "1", "100000", "(missing)"],
        "works": ["false", "true"],
    }
    return special.get(name, [str(label) for label in allocation[name].domain.labels])


@pytest.mark.parametrize(
    ("epsilon", "r"), [(1e-6, 2), (0.1, 1000), (1 / 3, 7), (9.7, 3), (36.9, 2), (60.0, 50)]
)
def test_rows_sum_to_exactly_one_in_r(rscript: str, tmp_path: Path, epsilon: float, r: int) -> None:
    """`pram` asks for |rowSums - 1| <= .Machine$double.eps."""
    bo.export(wide(single(epsilon, r)), "sdcmicro", tmp_path / "script.R")
    code = 'source("script.R"); P <- budget_opt_matrices$a\n'
    code += "cat(max(abs(rowSums(P) - 1)), sum(P[1, ]), min(P) > 0)"
    assert run(rscript, tmp_path, code) == ["0 1 TRUE"]


def test_cells_become_the_declared_levels_or_stop(rscript: str, tmp_path: Path) -> None:
    """R10, R11: never another level, never NA, and never a cell's value in the message."""
    bo.export(hostile(), "sdcmicro", tmp_path / "script.R")
    code = r"""
source("script.R", encoding = "UTF-8")
named <- setNames(budget_opt_attributes, vapply(budget_opt_attributes, function(one) one$name, ""))
show <- function(name, column) {
  made <- tryCatch(budget_opt_factor(column, named[[name]]), error = conditionMessage)
  if (is.factor(made)) stopifnot(identical(levels(made), rownames(budget_opt_matrices[[name]])))
  cat(paste(as.character(made), collapse = "|"), "\n", sep = "")
}
show("age", c(0, 18, 18.1, 39.9, 40, 1e9))
show("age", c("[0, 18.1)", "[40, inf)"))
show("age", c(-1, 40, Inf))
show("age", c("0", "18.1", "1e9"))
show("age", c("-1", "40", NA))
show("age", c("40", "secret"))
show("children", c(1, 100000, NA, 0))
show("children", c(1L, 100000L))
show("children", c(1.5, 0))
show("works", c(TRUE, FALSE))
show("works", c(TRUE, NA))
show("smoker", factor(c("yes", "no")))
show("smoker", c("secret", "yes", NA))
cat(as.integer(budget_opt_factor(c("e\u0301", "\u00e9", "secret"), named[["letter"]])), "\n")
refused <- tryCatch(budget_opt_pram(data.frame(smoker = "yes", wave = 1)), error = conditionMessage)
cat(startsWith(refused, "columns are absent: "), endsWith(refused, "works, letter"), "\n")
"""
    assert [line.strip() for line in run(rscript, tmp_path, code)] == [
        "[0, 18.1)|[0, 18.1)|[18.1, 40)|[18.1, 40)|[40, inf)|[40, inf)",
        "[0, 18.1)|[40, inf)",
        "age: 2 cells are none of the declared categories",
        "[0, 18.1)|[18.1, 40)|[40, inf)",
        "age: 2 cells are none of the declared categories",
        "age: some cells are numbers, and some are not",
        "1|100000|(missing)|0",
        "1|100000",
        "children: 1 cells are none of the declared categories",
        "true|false",
        "works: 1 cells are none of the declared categories",
        "yes|no",
        "smoker: 2 cells are none of the declared categories",
        "2 1 2",
        "TRUE TRUE",
    ]


def test_r10_what_r_makes_of_text_is_never_taken_for_a_category_nor_for_an_unseen_one(
    rscript: str, tmp_path: Path
) -> None:
    """Read as the script says, "01" and "T" are the categories; as R guesses, they are 1 and TRUE."""
    allocation = bo.uniform(
        bo.Problem(
            attributes=[
                bo.Attribute("code", categories=["01", "02", "09"], other="09"),
                bo.Attribute("answer", categories=["T", "F"], missing="category"),
                bo.Attribute("count", categories=[1, 2], other=2),
            ],
            moments=[bo.CrossMoment("code")],
            total_epsilon=6.0,
        )
    )
    (tmp_path / "data.csv").write_text("code,answer,count\n01,T,2\n02,F,1\n77,,1\n", encoding="utf-8")
    bo.export(allocation, "sdcmicro", tmp_path / "script.R")
    code = r"""
source("script.R")
show <- function(data) for (one in budget_opt_attributes) {
  made <- tryCatch(budget_opt_factor(data[[one$name]], one), error = conditionMessage)
  cat(paste(as.character(made), collapse = "|"), "\n", sep = "")
}
show(read.csv("data.csv", na.strings = "", colClasses = "character"))
show(read.csv("data.csv", na.strings = ""))
show(data.frame(code = NA, answer = NA, count = TRUE))
"""
    way_out = ': read the table with colClasses = "character"'
    assert run(rscript, tmp_path, code) == [
        "01|02|09",
        "T|F|(missing)",
        "2|1|1",
        f"code: holds numbers, and its categories are text{way_out}",
        f"answer: holds truth values, and its categories are text{way_out}",
        "2|1|1",
        "code: 1 cells are none of the declared categories",
        "(missing)",
        f"count: holds truth values, and its categories are numbers{way_out}",
    ]


ROWS = 1500
DRAW = r"""
drawn <- function(obj, pd) {
  stopifnot(is.factor(obj), identical(rownames(pd), levels(obj)))
  report <- obj
  for (truth in levels(obj)) {
    rows <- which(obj == truth)
    report[rows] <- sample(levels(obj), length(rows), prob = pd[truth, ], replace = TRUE)
  }
  list(x = obj, x_pram = report)
}
"""
"""Draws by the rows of a matrix with R's `sample`, as pram does, and in pram's place."""


def test_a_release_made_in_r_by_the_scripts_own_recipe_goes_through_verify(
    rscript: str, tmp_path: Path
) -> None:
    """Everything but sdcMicro's own draw, with names and labels that R would mangle; false alarm 1e-9."""
    allocation = hostile(total=12.0)
    columns = {one.name: one.domain.labels for one in allocation.attributes}
    cells = {name: [labels[i * i % 7 % len(labels)] for i in range(ROWS)] for name, labels in columns.items()}
    cells |= {"age": [(5 * i) % 61 for i in range(ROWS)], "id": list(range(ROWS)), "wave": [2026] * ROWS}
    _write_csv(tmp_path / "data.csv", cells)
    bo.export(allocation, "sdcmicro", tmp_path / "script.R")
    text = (tmp_path / "script.R").read_text(encoding="ascii")
    read, read_on, release, write = (
        next(line.removeprefix("#").strip() for line in text.splitlines() if start in line)
        for start in (
            "data <- read.csv",
            'fileEncoding = "UTF-8")  ',
            "released <- budget_opt_pram",
            "write.csv",
        )
    )
    release = release.split("  ")[0].replace("(data)", "(data, pram = drawn)")
    code = "\n".join(
        ['source("script.R", encoding = "UTF-8")', DRAW, read + read_on.split("  ")[0], release, write]
    )
    run(rscript, tmp_path, code, "C.UTF-8")
    judged = bo.verify_release(allocation, tmp_path / "data.csv", tmp_path / "released.csv", false_alarm=1e-9)
    assert judged.holds, str(judged)
    assert {one.name for one in judged.transitions} == set(NAMES)
    assert max(one.smallest_fault for one in judged.transitions) < 0.1


def _write_csv(path: Path, cells: dict[str, list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(cells)
        for row in zip(*cells.values(), strict=True):
            writer.writerow([str(cell).lower() if isinstance(cell, bool) else cell for cell in row])


def test_the_script_is_ascii_and_says_what_it_does_not_promise(tmp_path: Path) -> None:
    written = bo.export(hostile(), "sdcmicro", tmp_path / "script.R")
    text = (tmp_path / "script.R").read_bytes().decode("ascii")
    assert "It reproduces the matrices, NOT the guarantee" in text
    assert "function(data, pram = sdcMicro::pram)" in text
    assert "pram(truth, pd = budget_opt_matrices[[variable$name]])" in text
    assert any("not cryptographic" in note for note in written.notes)
    assert any("CRAN" in note for note in written.notes)


def test_text_is_escaped_so_that_nothing_ends_a_string() -> None:
    assert r_text('a"b\\c') == r'"a\"b\\c"'
    assert r_text("é\n\u2028😀") == r'"\u00e9\u000a\u2028\U0001f600"'
    assert r_number(18.1) == "0x1.219999999999ap+4"
    assert (r_number(float("-inf")), r_number(float("inf"))) == ("-Inf", "Inf")


def test_a_matrix_too_large_or_too_flat_for_r_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bo.InputError, match="a: has 2,049 categories; whole matrices are made up to 2,048"):
        bo.export(single(1.0, 2049), "sdcmicro", tmp_path / "script.R")
    with pytest.raises(bo.InputError, match="a: epsilon 1e-17 is too small for R's doubles"):
        bo.export(single(1e-17, 2), "sdcmicro", tmp_path / "script.R")
    assert list(tmp_path.iterdir()) == []
