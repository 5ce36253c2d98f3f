"""Prints the lowest version of every dependency that pyproject.toml admits, as a constraints file for pip.

Extras count as well, `==` and `>=` alike: `numpy>=2.0.0` becomes `numpy==2.0.0`.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
chosen = ("demo", "formulas", "codebooks", "opendp", "spark")
listed = dict.fromkeys([*project["dependencies"], *(one for extra in chosen for one in extras[extra])])
for requirement in listed:
    name, version = re.fullmatch(r"([A-Za-z0-9_-]+)>=([0-9.]+)", requirement).groups()
    print(f"{name}=={version}")
