"""The manifest says what DESIGN 3.3 lists and nothing that was computed from the originals (R35)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest

import budget_opt
from budget_opt.allocation import Allocation
from budget_opt.randomizer.manifest import manifest, manifest_schema
from budget_opt.randomizer.release import Release
from budget_opt.randomizer.table import randomize_table
from budget_opt.randomizer.words import SeededWords

HASH = "0123456789abcdef" * 4


def test_the_manifest_of_a_release(allocation: Allocation, survey: Callable[[int], pa.Table]) -> None:
    release = randomize_table(survey(20), allocation)
    made = manifest(release, HASH, number=2)
    assert made == {
        "format": "budget-opt/manifest",
        "version": 1,
        "allocation_sha256": HASH,
        "table": None,
        "columns": ["age", "owns", "wave", "city", "size"],
        "rows": 20,
        "row_order": "shuffle",
        "release": 2,
        "software": f"budget-opt {budget_opt.__version__}",
        "private": True,
    }
    jsonschema.Draft202012Validator(manifest_schema()).validate(made)


def test_the_manifest_names_the_file_without_its_folder() -> None:
    release = Release(Path("a folder/released.csv"), ("x",), 1, "public", private=False)
    made = manifest(release, HASH)
    assert (made["table"], made["private"], made["release"]) == ("released.csv", False, 1)


def test_r8_seeded_words_are_told(allocation: Allocation, survey: Callable[[int], pa.Table]) -> None:
    release = randomize_table(survey(20), allocation, words=SeededWords(1))
    assert manifest(release, HASH)["private"] is False


@pytest.mark.parametrize(
    ("digest", "number"), [("", 1), ("xyz", 1), (HASH[1:], 1), (HASH.upper(), 1), (HASH, 0)]
)
def test_a_manifest_that_says_nothing_is_refused(digest: str, number: int) -> None:
    release = Release(None, ("x",), 1, "public", private=True)
    with pytest.raises(ValueError, match=r"allocation_sha256|release"):
        manifest(release, digest, number=number)


def test_the_schema_is_a_schema_and_refuses_unknown_fields() -> None:
    schema = manifest_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
