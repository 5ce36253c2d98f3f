"""What a verification report says, and in which order."""

from __future__ import annotations

import pytest

from budget_opt.errors import VerificationError
from budget_opt.verifier.report import Check, VerificationReport


def test_a_report_of_the_originals_begins_with_its_notice() -> None:
    check = Check("claim", 1, 2, True, "source", kind="tested")
    report = VerificationReport("x", (check,), false_alarm=1e-9, notice="do not pass on", releasable=False)
    assert str(report).startswith("do not pass on")
    assert next(iter(report.to_dict())) == "notice"
    assert "false-alarm rate 1e-09" in str(report)


def test_a_report_holds_where_every_check_does_and_requires_no_less() -> None:
    good, bad = Check("one", 1, 2, True, "source"), Check("two", 3, 2, False, "source")
    assert VerificationReport("x", (good,)).require().holds
    report = VerificationReport("x", (good, bad))
    assert report.failed == (bad,)
    with pytest.raises(VerificationError, match="1 of 2 checks fail") as caught:
        report.require()
    assert caught.value.failed == ("two",)
    assert report.to_dict()["holds"] is False
