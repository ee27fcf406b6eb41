"""Print how the code is written: lines, imports, comments and vague names, by package.

    python .ci/measure_code.py [FOLDER]     (src/rocscope by default)

Code lines hold a token of code: blank lines, comments and docstrings do not count.
"""

import ast
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

VAGUE_NAMES = ("found", "each")
"""Names that say that something is, and not what it is."""


@dataclass
class Measure:
    """Numbers of lines of one module, or of several together."""

    files: int = 0
    code: int = 0
    characters: int = 0
    imports: int = 0
    comments: int = 0
    vague_names: int = 0

    def __add__(self, other: "Measure") -> "Measure":
        names = vars(self)
        return Measure(**{name: getattr(self, name) + getattr(other, name) for name in names})


def measure(path: Path) -> Measure:
    """Count the lines of a module."""
    text = path.read_text(encoding="utf-8")
    docstrings, imports = docstring_and_import_lines(ast.parse(text))
    code: set[int] = set()
    comments = 0
    names: Counter[str] = Counter()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                comments += token.line.strip().startswith("#")
            elif token.type not in _LAYOUT:
                code.update(range(token.start[0], token.end[0] + 1))
                names[token.string] += token.type == tokenize.NAME
    code -= docstrings
    lines = text.splitlines()
    return Measure(
        files=1,
        code=len(code),
        characters=sum(len(lines[number - 1].strip()) for number in code),
        imports=len(imports),
        comments=comments,
        vague_names=sum(names[name] for name in VAGUE_NAMES),
    )


_LAYOUT = {
    tokenize.ENCODING,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def docstring_and_import_lines(tree: ast.AST) -> tuple[set[int], set[int]]:
    """Return the line numbers of strings that stand alone (docstrings, also those of attributes), and of imports."""
    docstrings: set[int] = set()
    imports: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return docstrings, imports


def by_package(folder: Path) -> dict[str, Measure]:
    """Return the measures of each package below a folder; modules beside the packages are one, named '.'."""
    packages: dict[str, Measure] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        package = parts[0] if len(parts) > 1 else "."
        packages[package] = packages.get(package, Measure()) + measure(path)
    return packages


def main() -> None:
    """Print the table."""
    packages = by_package(Path(sys.argv[1] if len(sys.argv) > 1 else "src/rocscope"))
    packages["all"] = sum(packages.values(), Measure())
    print(f"{'':12} files   code  characters  imports  comments: 1 per  found, each")
    for name, own in packages.items():
        per_comment = f"{own.code / own.comments:.0f}" if own.comments else "none"
        print(
            f"{name:12} {own.files:5} {own.code:6} {own.characters / max(own.code, 1):11.1f} "
            f"{own.imports / max(own.code, 1):8.1%} {per_comment:>16} {own.vague_names:12}"
        )


if __name__ == "__main__":
    main()
