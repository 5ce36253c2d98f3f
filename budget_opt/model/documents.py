"""Strict JSON and YAML files: read with every fault named, written whole or not at all."""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from budget_opt.errors import MISSING, Fault, InputError
from budget_opt.model.arguments import require_path


def read_document(
    path: str | Path, format_name: str, version: int, error: type[InputError]
) -> dict[str, Any]:
    """The object in a file of our format; raises `error`. NaN and Infinity are left to the fields."""
    path = require_path(path, "path")
    return parse_document(_text(path, error), path, format_name, version, error)


def parse_document(
    text: str, path: Path, format_name: str, version: int, error: type[InputError]
) -> dict[str, Any]:
    """The object in the text of such a file; `path` says where it is from, its suffix in which syntax."""
    faults: list[Fault] = []
    document = _parse(text, path, error, faults)
    if not isinstance(document, dict):
        raise error(f"{path}: holds no object. A file of this format begins with {{ or a YAML mapping.")
    faults += format_faults(document, format_name, version)
    if faults:
        # another format would make every further fault a misunderstanding
        raise error.from_faults(faults, str(path))
    return document


def read_mapping(path: str | Path, error: type[InputError]) -> dict[str, Any]:
    """The object in a JSON or YAML file of any format; raises `error`."""
    path = require_path(path, "path")
    faults: list[Fault] = []
    document = _parse(_text(path, error), path, error, faults)
    if not isinstance(document, dict):
        raise error(f"{path}: holds no object. Begin it with {{, or write a YAML mapping.")
    if faults:
        raise error.from_faults(faults, str(path))
    return document


def _text(path: Path, error: type[InputError]) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as failure:
        raise error(f"{path}: cannot be read ({failure.strerror}). Check the path.") from None
    except UnicodeDecodeError as failure:
        raise error(
            f"{path}: byte {failure.start} is not UTF-8. Is it the right file? Else save it as UTF-8."
        ) from None
    except ValueError as failure:
        raise error(f"{str(path)!r}: cannot be read ({failure}). Check the path.") from None


def _parse(text: str, path: Path, error: type[InputError], faults: list[Fault]) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                faults.append(Fault(key, value, "appears twice in one object", "Remove one."))
            found[key] = value
        return found

    try:
        if path.suffix.lower() in (".yaml", ".yml"):
            return _parse_yaml(text, path, error, faults)
        return json.loads(text, object_pairs_hook=unique)
    except InputError:
        raise
    except json.JSONDecodeError as failure:
        raise error(
            f"{path}: line {failure.lineno}, column {failure.colno} is not JSON ({failure.msg}). "
            "Correct the syntax there."
        ) from None
    except RecursionError:
        raise error(f"{path}: is nested too deeply to be a file of this format.") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        # integers of more than 4300 digits, and YAML tags such as !!bool before another value
        raise error(
            f"{path}: holds a number of thousands of digits, or a tag that its value does not fit."
        ) from None


def _parse_yaml(text: str, path: Path, error: type[InputError], faults: list[Fault]) -> Any:
    try:
        from budget_opt.model.yaml_text import parse_yaml
    except ModuleNotFoundError:
        raise error(
            f"{path}: reading YAML needs the package pyyaml. Install it, or give a JSON file."
        ) from None
    return parse_yaml(text, path, error, faults)


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles, while a whole document is made into parts of which none is garbage.

    It would go through all that is there already each time that some thousands were added.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def format_faults(document: Mapping[str, Any], format_name: str, version: int) -> list[Fault]:
    """What is wrong with the format and version that a document names."""
    faults = []
    stated = document.get("format", MISSING)
    if stated != format_name:
        ours = isinstance(stated, str) and stated.startswith("budget-opt/")
        noun = format_name.removeprefix("budget-opt/")
        hint = f"This is another file of ours; give the {noun} here."
        if not ours:
            hint = f'Begin the file with "format": "{format_name}".'
        faults.append(Fault("format", stated, f'must be "{format_name}"', hint))
    stated = document.get("version", MISSING)
    if isinstance(stated, bool) or stated != version:
        faults.append(
            Fault(
                "version", stated, f"must be {version}", "Use a version of budget_opt that reads this file."
            )
        )
    return faults


def json_text(document: dict[str, Any]) -> str:
    """Strict JSON that people can read and edit: a field a line, a line for each object of a list."""
    fields = [f"  {_compact(name)}: {_field(value)}" for name, value in document.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _field(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(f"    {_compact(item)}" for item in value) + "\n  ]"
    return _compact(value)


def _compact(value: Any) -> str:
    """One line; numbers as shortest round-trip text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def write_document(document: dict[str, Any], path: str | Path, *, new: bool = False) -> None:
    """Write strict JSON to a temporary file beside `path` and rename it into place, as `write_text`."""
    write_text(json_text(document), path, new=new)


def write_text(text: str, path: str | Path, *, new: bool = False) -> None:
    """Write UTF-8 text as `write_bytes` does."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{path}: the text or its name is not Unicode. Correct the names.") from None
    write_bytes(content, path, new=new)


def write_bytes(content: bytes, path: str | Path, *, new: bool = False) -> None:
    """Write a file whole or not at all; raises `InputError` where the place cannot be written.

    A `new` file never takes the place of another, even of one that appears at the same moment. A
    device or another thing that is no plain file is never replaced.
    """
    path = require_path(path, "path")
    temporary = None
    try:
        if new and path.exists():
            raise _taken(path)
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: cannot be written (is not a plain file). Choose another place.")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        if new:
            # unlike a rename, a link never takes the place of a file that came in between
            os.link(temporary, path)
        else:
            temporary.replace(path)
    except FileExistsError:
        raise _taken(path) from None
    except UnicodeEncodeError:
        raise InputError(f"{path}: the text or its name is not Unicode. Correct the names.") from None
    except OSError as failure:
        raise InputError(f"{path}: cannot be written ({failure.strerror}). Choose another place.") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _taken(path: Path) -> InputError:
    return InputError(f"{path}: exists already. Choose another name.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
