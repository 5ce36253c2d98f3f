"""The text of a YAML file, read as JSON is: with the words of YAML 1.2, and without aliases."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from budget_opt.errors import MISSING, Fault, InputError


def parse_yaml(text: str, path: Path, error: type[InputError], faults: list[Fault]) -> Any:
    """The value in the text; `faults` takes repeated keys, `error` is raised where it is no YAML."""
    try:
        return yaml.load(text, Loader=_loader(faults))
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "some line"
        raise error(
            f"{path}: {where} is not YAML as it is read here, without aliases. Correct the syntax there."
        ) from None


_PLAIN = {
    "null": ("~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": ("true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": ("[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (
        r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        list("-+.0123456789"),
    ),
}
"""What a plain word of YAML 1.2 stands for; anything else is text."""


def _loader(faults: list[Fault]) -> type[yaml.SafeLoader]:
    """PyYAML's safe loader with the words of YAML 1.2 and repeated keys told as faults.

    In YAML 1.1 `no` is a boolean, `010` is eight, `1:30` is ninety and `1e-3` is text.
    """

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            # a few lines of aliases can stand for more than the memory holds
            if self.check_event(yaml.AliasEvent):
                raise yaml.MarkedYAMLError(problem_mark=self.get_mark())
            return super().compose_node(parent, index)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            twice = {str(key) for key in keys if keys.count(key) > 1}
            faults.extend(Fault(key, MISSING, "appears twice in one mapping", "Remove one.") for key in twice)
            return super().construct_mapping(node, deep)

    Loader.yaml_implicit_resolvers = {}
    for kind, (words, starts) in _PLAIN.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{words})$"), starts)
    return Loader
