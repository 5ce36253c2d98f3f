"""A result that is a table says the same in every form."""

import csv
import json

import pytest

from budget_opt.errors import InputError
from budget_opt.tables.rows import Rows


class Two(Rows):
    def rows(self):
        return [
            {"moment": 'a, "b"', "retention": 0.1, "floor": None},
            {"moment": "é", "retention": 1e-300, "floor": 0.5},
        ]


def test_the_rows_are_the_same_in_a_data_frame_and_in_arrow():
    assert Two().to_arrow().to_pylist() == Two().rows()
    assert Two().to_pandas()["retention"].tolist() == [0.1, 1e-300]


def test_a_file_holds_every_digit_and_nothing_is_lost_in_names(tmp_path):
    Two().write(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["moment"] for row in read] == [row["moment"] for row in Two().rows()]
    assert [float(row["retention"]) for row in read] == [0.1, 1e-300]
    assert [row["floor"] for row in read] == ["", "0.5"]
    Two().write(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8")) == Two().rows()


def test_another_ending_is_refused_with_nothing_written(tmp_path):
    with pytest.raises(InputError, match=r"\.csv or \.json"):
        Two().write(tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []
