"""Write the list of public names from the stubs, `__init__.pyi` of each topic.

    python .ci/public_names.py

The package reads the list alone: stubs are for type checkers, and packagers may leave them out. A test compares both.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src/rocscope"
LIST = PACKAGE / "_base/public_names.txt"


def lines() -> list[str]:
    """Return a line for each module: its package, the module ("." for modules themselves), and the names from it."""
    written = []
    for stub in sorted(PACKAGE.rglob("__init__.pyi")):
        package = ".".join(["rocscope", *stub.parent.relative_to(PACKAGE).parts])
        by_module: dict[str, list[str]] = {}
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                by_module.setdefault(node.module or ".", []).extend(alias.name for alias in node.names)
        written += [" ".join([package, module, *names]) for module, names in by_module.items()]
    return written


if __name__ == "__main__":
    LIST.write_text("\n".join(lines()) + "\n", encoding="utf-8")
