"""Arguments of estimates that mean nothing are refused, with the argument, the value and the way out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import bootstrap_of
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.groups.means import means_by_group
from budget_opt.estimators.groups.result import GroupMeans, group_names
from budget_opt.estimators.intervals.noise_limit import require_noise_limit
from budget_opt.estimators.moments.moment import moment_from_counts
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.releases.released import open_released
from tests.estimators.release_model import design
from tests.estimators.survey_release import allocation


@pytest.mark.parametrize("level", ["a", None, True, math.nan, 0.0, 1.0, -1, 95, 10**400])
def test_what_is_no_level_is_refused(level: Any) -> None:
    estimate = moment_from_counts([500, 400, 300], [design("a", 0.5, [0, 1, 2])])
    replicates = Replicates(0.0, np.arange(20.0), "drawn")
    for interval in (estimate.interval, replicates.interval):
        with pytest.raises(InputError, match="level: is "):
            interval(level)


def test_a_noise_limit_beyond_all_doubles_is_refused() -> None:
    with pytest.raises(InputError, match=r"noise_limit: is beyond 1.8e308.*math\.inf refuses no error"):
        require_noise_limit(10**400)


@pytest.mark.parametrize("rng", [3, "seed", True, np.random.RandomState(1)])
def test_what_is_no_generator_is_refused(rng: Any) -> None:
    for times in (0, 100):
        with pytest.raises(InputError, match=r"rng: is a \w+, must be a Generator"):
            bootstrap_of(times, rng)


@pytest.mark.parametrize("times", [True, False, 1.5, 0.0, -1, 10**9, "100", None])
def test_what_is_no_number_of_replicates_is_refused(times: Any) -> None:
    with pytest.raises(InputError, match=r"bootstrap: is .*, must be a whole number of replicates"):
        bootstrap_of(times, None)


def test_weights_of_counts_have_the_name_that_is_asked_for() -> None:
    rows = [100, 80, 60]
    counts = Counts(("income",), rows, rows, rows)
    with pytest.raises(InputError, match="nope"):
        open_released(counts, allocation(), ["income"], "nope")
    with pytest.raises(InputError, match="do not say which column their weights are of, and 'share'"):
        open_released(counts, allocation(), ["income"], "share")
    named = Counts(("income",), rows, rows, rows, weighted_by="share")
    assert open_released(named, allocation(), ["income"], "share").n == 240
    assert open_released(counts, allocation(), ["income"]).n == 240


LABELS = (None, "missing", 1, "1", "one")


def of_labels() -> GroupMeans:
    from dataclasses import replace

    group, scored = Channel("g", 1.0, np.full(5, 0.2)), design("y", 1.0, [0, 1])
    rows = [[100, 20 * place] for place in range(1, 6)]
    names = group_names(LABELS)
    return replace(
        means_by_group(Counts(("g", "y"), rows), group, scored, names, "population"), labels=LABELS
    )


def test_groups_are_told_apart_by_label_and_type_and_none_is_the_missing_one() -> None:
    found = of_labels()
    assert found.groups == ("missing", "'missing'", "1", "'1'", "one")
    for place, label in enumerate(LABELS, start=1):
        assert found[label].value == pytest.approx(20 * place / (100 + 20 * place))
    assert found.difference(None, "missing").value < 0
    for printed, label in ((found.groups[3], "1"), ("one", "one")):
        assert found[printed].value == found[label].value
    with pytest.raises(InputError, match="is not a group of g"):
        found["two"]


def test_a_missing_category_alone_is_reached_by_its_text_too() -> None:
    assert group_names((None, "yes", 2)) == ("missing", "yes", "2")
