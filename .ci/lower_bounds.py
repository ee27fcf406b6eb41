"""Print pip constraints that pin each run-time dependency, of extras too, to the lower bound in pyproject.toml."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
of_users = [extra for name, extra in extras.items() if name not in ("test", "lint", "dev", "bench", "docs", "release")]
for requirement in sum(of_users, project["dependencies"]):
    name, bound = requirement.split(">=")
    print(f"{name.split('[')[0]}=={bound}")
