"""Fail for files that are too long, data files in the wrong place, and circles of imports.

    python .ci/check_house.py [ROOT]

Docstrings, comments and blank lines do not count: a file is to be explained as far as its reader needs it. Every
complaint says what to do instead. Exceptions are listed below, each with its reason.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from measure_code import measure

CODE_LINES = 800
PACKAGE = "src/rocscope"
SOURCE = {".py", ".pyi", ".ts", ".css"}
DATA = re.compile(r"\.(arrow|csv|db|duckdb|feather|gz|json|npy|npz|parquet|pickle|pkl|png|tsv|xlsx|zip)$")
HOLD_DATA = ("tests/", "examples/", "docs/")
EXCEPTED = {
    "src/rocscope/report/bundles/": "built from client/, and travels in the wheel so that users need no Node",
    "client/package.json": "npm reads it",
    "client/package-lock.json": "npm writes it",
    "client/tsconfig.json": "the compiler reads it",
    "client/src/constants.json": "client/constants.py writes it, from the modules of Python",
}


def excepted(name: str) -> bool:
    """Whether a name is one, or lies in a folder, that the rules of files leave out."""
    return name.startswith(tuple(EXCEPTED))


def long_files(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Complain of source and test files with more lines of code than one reader holds in mind."""
    for name in names:
        if Path(name).suffix in SOURCE and not excepted(name) and (size := code_lines(root / name)) > CODE_LINES:
            yield f"{name}: {size} lines of code, more than {CODE_LINES}; split it along the concepts that it holds"


def stray_data(names: Iterable[str]) -> Iterator[str]:
    """Complain of data files where nobody looks for data."""
    for name in names:
        if DATA.search(name) and not name.startswith(HOLD_DATA) and not excepted(name):
            yield f"{name}: a data file outside {', '.join(HOLD_DATA)}; move it there or leave it out"


def import_circles(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Complain of the first circle of imports, those inside functions and under `if TYPE_CHECKING` included."""
    inside = [name for name in names if name.startswith(f"{PACKAGE}/")]
    modules = {module_of(name): name for name in inside if name.endswith(".py")}
    lazy = {name: module for stub in inside if stub.endswith(".pyi") for name, module in lazy_names(root, stub)}
    graph = {}
    for module, name in modules.items():
        imported = (lazy.get(each, each) for each in imports(parsed(root / name), module, name))
        graph[module] = {each if each in modules else each.rpartition(".")[0] for each in imported} & modules.keys()
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"import circle: {' ← '.join(error.args[1])}; move what both need below them"


def module_of(name: str) -> str:
    """Return the module that a file is, such as `rocscope.core` of its __init__.py."""
    parts = Path(name).relative_to(Path(PACKAGE).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def lazy_names(root: Path, stub: str) -> Iterator[tuple[str, str]]:
    """Yield the public names of a topic, `rocscope.auc`, and what they load when they are first used."""
    for target in imports(parsed(root / stub), module_of(stub), stub):
        yield f"{module_of(stub)}.{target.rpartition('.')[2]}", target


def imports(tree: ast.AST, module: str, name: str) -> Iterator[str]:
    """Yield what a module imports, `rocscope.core.counts` or `rocscope.core.counts.ThresholdCounts`."""
    package = module if Path(name).stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: 1 - node.level or None] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (each.value for each in node.args[:1] if isinstance(each, ast.Constant))


def code_lines(path: Path) -> int:
    """Return how many lines of code a file has; of other languages than Python, those that are not blank."""
    if path.suffix == ".py":
        return measure(path).code
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())


def complaints(root: Path, names: list[str]) -> list[str]:
    """Return what is wrong with the files of such names below a folder."""
    return [
        *long_files(root, names),
        *stray_data(names),
        *import_circles(root, names),
    ]


def main() -> None:
    """Check what git tracks."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True)
    names = [name for name in sorted(set(listing.stdout.splitlines())) if (root / name).is_file()]
    found = complaints(root, names)
    print("\n".join([*found, f"{len(names)} files, {len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
