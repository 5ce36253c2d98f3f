"""A file is read where only numpy and cryptography are, and refused for all that the guarantee rests on."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budget_opt.allocation import Allocation, allocation_from
from budget_opt.allocation.document import allocation_of
from budget_opt.allocation.schema import FORMAT, VERSION, AllocationDocument, AttributeResults, ClusterResults
from budget_opt.errors import AllocationError, InputError
from budget_opt.model.declared import Declared
from budget_opt.randomizer.local import document as module
from budget_opt.randomizer.local.document import terms_of_document
from budget_opt.randomizer.local.sources import terms_from
from tests.allocation.sample_allocation import OBJECTS, WHOLE, at, changed

Run = Callable[..., subprocess.CompletedProcess[str]]

ALONE = """
import json, sys

class OnlyNumpyAndCryptography:
    allowed = {"budget_opt", "numpy", "cryptography", "_cffi_backend"}

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in self.allowed and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in list(sys.modules):  # what the interpreter's own start loads from its site folder
    if name.partition(".")[0] not in OnlyNumpyAndCryptography.allowed | set(sys.stdlib_module_names):
        del sys.modules[name]
sys.meta_path.insert(0, OnlyNumpyAndCryptography())

import budget_opt as bo
"""

REPORTS = """
path, record = sys.argv[1], json.loads(sys.argv[2])
try:
    local = bo.LocalRandomizer(path)
    again = bo.LocalRandomizer(json.load(open(path))) if path.endswith("json") else local
    print(json.dumps([local.loss, again.loss, *(local.report(record) for _ in range(200))]))
except bo.BudgetOptError as error:
    print(type(error).__name__, error)
try:
    bo.LocalRandomizer(3)
except bo.InputError:
    pass
try:
    import pydantic
except ModuleNotFoundError:
    sys.exit(0)
sys.exit("pydantic is there")
"""

THE_REST = """
for name in ("randomize", "Allocation", "Problem", "solve"):
    try:
        getattr(bo, name)
    except ImportError as error:
        print(error.name, error)
try:
    from budget_opt import verify
except ImportError as error:
    print(error.name, error)
print(hasattr(bo, "nothing"), "randomize" in dir(bo))
"""


def test_reports_are_made_where_only_numpy_and_cryptography_are_installed(
    run_module: Run, tmp_path: Path, allocation: Allocation
) -> None:
    path = tmp_path / "a.json"
    allocation.write(path)
    record = {"city": "york", "size": None, "owns": True, "age": 41.5, "wave": "w1"}
    done = run_module("-c", ALONE + REPORTS, str(path), json.dumps(record))
    assert done.returncode == 0, done.stderr
    loss, again, *reports = json.loads(done.stdout)
    assert loss == again == allocation.loss
    assert {report["city"] for report in reports} == {"york", "leeds", 'hull, "the" port'}
    assert {report["size"] for report in reports} == {4, 1, 2, None}
    assert {report["owns"] for report in reports} == {True, False}
    assert {report["age"] for report in reports} == {"[18, 30)", "[30, 65)", "[65, inf)", None}
    assert {report["wave"] for report in reports} == {"w1"}


REFUSALS = """
for path in sys.argv[1:]:
    try:
        bo.LocalRandomizer(path)
    except bo.AllocationError as error:
        print("refused", str(error).replace("\\n", " "))
"""


def test_broken_files_are_refused_there_too(run_module: Run, tmp_path: Path) -> None:
    broken = [
        ("a.json", '{"format": "budget-opt/allocation", "version": 1, "version": 1}', "appears twice"),
        ("b.json", '{"format": "budget-opt/problem", "version": 1}', "another file of ours"),
        ("c.json", "[]", "holds no object"),
        ("d.json", "{", "is not JSON"),
        ("e.yaml", "format: budget-opt/allocation", "needs the package pyyaml"),
        ("f.json", "", "is not JSON"),
    ]
    for name, text, _ in broken:
        (tmp_path / name).write_text(text)
    done = run_module("-c", ALONE + REFUSALS, *(str(tmp_path / name) for name, _, _ in broken))
    assert done.returncode == 0, done.stderr
    for (_, _, told), line in zip(broken, done.stdout.splitlines(), strict=True):
        assert line.startswith("refused")
        assert told in line


def test_what_needs_the_whole_installation_says_so_there(run_module: Run) -> None:
    done = run_module("-c", ALONE + THE_REST)
    assert done.returncode == 0, done.stderr
    *told, names = done.stdout.splitlines()
    assert names == "False True"
    for name, line in zip(("randomize", "Allocation", "Problem", "solve", "verify"), told, strict=True):
        missing = line.partition(" ")[0]
        assert line.startswith(f"{missing} budget_opt.{name} needs the whole installation, and {missing} is")
        assert line.endswith("python -m pip install budget-opt")


def test_both_readers_understand_the_same(allocation: Allocation) -> None:
    for document in (WHOLE, allocation.to_dict()):
        assert terms_of_document(document) == terms_from(allocation_of(document))


def test_the_fields_that_are_known_are_those_of_the_format() -> None:
    assert (module.FORMAT, module.VERSION) == (FORMAT, VERSION)
    assert set(AllocationDocument.model_fields) == module.DOCUMENT_FIELDS | module.STATED_FIELDS
    listed = {*Declared.model_fields, *AttributeResults.model_fields}
    assert listed == (
        module.RESULT_FIELDS | module.DECLARED_FIELDS | module.MEMBER_FIELDS | module.SOURCE_FIELDS
    )
    assert set(ClusterResults.model_fields) == module.CLUSTER_FIELDS
    required = {
        name
        for kind in (Declared, AttributeResults)
        for name, f in kind.model_fields.items()
        if f.is_required()
    }
    assert required <= module.RESULT_FIELDS
    assert set(WHOLE) == module.DOCUMENT_FIELDS | module.STATED_FIELDS
    assert not any(AllocationDocument.model_fields[name].is_required() for name in module.STATED_FIELDS)


NAN = float("nan")
FIRST = ("attributes", 0)
RESTS_ON = [
    *((("total_epsilon",), value) for value in (NAN, -1, "3", True, 1e5, [3])),
    *((("spent_epsilon",), value) for value in (NAN, 0, 10**400, WHOLE["spent_epsilon"] + 1e-9, None, True)),
    *((("privacy", "loss"), value) for value in (NAN, 0, WHOLE["privacy"]["loss"] * 0.999)),
    *((("privacy", "unit"), value) for value in ("record", "household", None)),
    *((("privacy", "id"), value) for value in ("somebody", "smoker", "", None, 7)),
    *((("privacy", "max_rows"), value) for value in (0, 2, 4, True, "3", None)),
    *((("privacy", "waves"), value) for value in (0, 1, 3, True, None)),
    *((("privacy", "planned_loss"), value) for value in (NAN, 0, WHOLE["privacy"]["loss"], None)),
    (("privacy", "neighbours"), "added or removed"),
    (("privacy", "composition"), "advanced"),
    (("privacy",), None),
    (("total_delta",), 1e-9),
    (("clusters",), [["smoker", "income"]]),
    (("attributes",), {}),
    (("dropped",), ["person_id", "person_id"]),
    (("dropped",), ["smoker"]),
    (("dropped",), "person_id"),
    (("public",), [{"name": "smoker", "why": "x"}]),
    (("public",), ["wave"]),
    (("groups", 0, "attributes"), ["nobody"]),
    (("groups", 0, "attributes"), []),
    (("groups", 0, "epsilon_max"), NAN),
    *(((*FIRST, "name"), value) for value in (" smoker", "", 3, "income")),
    *(
        ((*FIRST, "categories"), value)
        for value in (["no", "no"], ["no"], 2.0, ["no", 1], 3, [True, False, 1])
    ),
    *(((*FIRST, "background"), value) for value in ("marginal", [0.5, 0.5])),
    *(((*FIRST, "cardinality"), value) for value in (3, "2", True, 10**400)),
    *(((*FIRST, "epsilon"), value) for value in (NAN, "1", -0.5, True, 1e5, None)),
    ((*FIRST, "epsilon"), WHOLE["attributes"][0]["epsilon"] * 1.0001),
    *(((*FIRST, "loss"), value) for value in (NAN, 0, WHOLE["attributes"][0]["loss"] * 0.9999)),
    *(((*FIRST, "sampler"), value) for value in (None, {}, {"bits": 32}, [], "32")),
    *(((*FIRST, "sampler", "bits"), value) for value in (16, 64, "32", True, 33)),
    *(((*FIRST, "sampler", "q"), value) for value in ("1", "0", 7, "1e9", "-5", None)),
    *(((*FIRST, "missing"), value) for value in ("category", "drop", None)),
    *(((*FIRST, "other"), value) for value in ("maybe", True, 1)),
    (("attributes", 2, "bins"), [18, 45, 30, 65]),
    (("attributes", 2, "bins"), [18, None, 65]),
    (("attributes", 2, "bins"), None),
    (("attributes", 2, "other"), "[18, 30)"),
    (("attributes", 2, "categories"), ["a", "b", "c"]),
    (("attributes", 3, "sampler"), {"bits": 32, "q": "5"}),
    (("attributes", 3, "loss"), 0.1),
]


@pytest.mark.parametrize(("path", "value"), RESTS_ON)
def test_what_the_guarantee_rests_on_is_checked_by_both_readers(path: tuple[Any, ...], value: object) -> None:
    document = copy.deepcopy(WHOLE)
    at(path[:-1], document)[path[-1]] = value
    with pytest.raises(AllocationError) as caught:
        terms_of_document(document)
    assert path[0] in str(caught.value)
    with pytest.raises(InputError):
        allocation_of(document)


@pytest.mark.parametrize(
    "path",
    [path for path in OBJECTS if path[:1] in {(), ("attributes",), ("privacy",), ("groups",), ("public",)}],
)
def test_a_field_that_is_not_known_may_change_everything_and_is_refused(path: tuple[Any, ...]) -> None:
    with pytest.raises(AllocationError, match="sampler" if path[-1:] == ("sampler",) else "CANARY"):
        terms_of_document(changed((*path, "CANARY"), 1))


@pytest.mark.parametrize("name", sorted(module.DOCUMENT_FIELDS))
def test_a_field_that_is_absent_is_refused_by_name(name: str) -> None:
    with pytest.raises(AllocationError, match=name):
        terms_of_document({field: value for field, value in WHOLE.items() if field != name})


@pytest.mark.parametrize("name", sorted(module.RESULT_FIELDS))
def test_a_field_of_an_attribute_that_is_absent_is_refused_by_name(name: str) -> None:
    document = copy.deepcopy(WHOLE)
    del document["attributes"][1][name]
    with pytest.raises(AllocationError, match=rf"attributes\[1\]\.{name}"):
        terms_of_document(document)


def test_an_overspent_file_agrees_with_itself_and_makes_no_reports(tmp_path: Path) -> None:
    from budget_opt.errors import VerificationError
    from tests.allocation.sample_allocation import PROBLEM

    split = {"smoker": 1.5, "income": 1.0, "age": 1.0, "region": 0.5}
    document = json.loads(json.dumps(allocation_from(PROBLEM, split).to_dict()))
    terms = terms_of_document(document)
    assert terms == terms_from(allocation_of(document))
    with pytest.raises(VerificationError, match=r"of a record: is 4\.0, must be at most 3\.5"):
        terms.require_kept()
