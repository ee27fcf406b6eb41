"""Print pip constraints that pin each run-time dependency to the lower bound in pyproject.toml."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
for requirement in project["dependencies"] + extras["pandas"] + extras["polars"] + extras["spark"]:
    print(requirement.replace(">=", "=="))
