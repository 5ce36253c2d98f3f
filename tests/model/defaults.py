"""Every field of DESIGN 3.1 that may be left out, with the value that says nothing."""

from __future__ import annotations

from tests.strategies import Document

DEFAULTS: Document = {
    "name": "",
    "objective": "weighted_sum",
    "groups": [],
    "public": [],
    "dropped": [],
    "row_order": "shuffle",
    "unit": {"of": "record", "id": None, "max_rows": 1},
    "waves": 1,
    "n": None,
    "total_delta": 0,
    "clusters": [],
    "max_cells": None,
    "moment_rules": [],
    "survey": None,
    "provenance": {"weights": "unstated"},
}
ATTRIBUTE_DEFAULTS: Document = {
    "bins": None,
    "categories": None,
    "scores": None,
    "ordered": False,
    "marginal": None,
    "missing": "error",
    "missing_score": None,
    "other": None,
    "background": "uniform",
    "grouping": None,
    "epsilon": None,
    "epsilon_min": None,
    "epsilon_max": None,
    "distortion_max": None,
    "groupings": None,
    "source": None,
}
MOMENT_DEFAULTS: Document = {
    "weight": 1,
    "floor": None,
    "ceiling": None,
    "target": 1,
    "variance": 1,
    "level": 1,
}
