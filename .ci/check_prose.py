"""Fail where texts break the rules of style: banned phrases, sentences of more than 40 words, translated constructions.

python .ci/check_prose.py [file …]     (all pages and modules by default)
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_WORDS = 40
"""The longest sentence that a reader takes in at once; instructions should stay below 25."""

BANNED = {
    # "each of which" and "of which type" are plain
    r"(?<!each )(?<!all )(?<!one )(?<!steps )(?<!much )\bof which\b(?! (class|type))": "start a new sentence",
    r"\b(for|to) who\b": "name the reader: 'for users of …'",
    r"(^|[.:;] )(?-i:Who) \w+s\b": "address the reader: 'If you …'",
    r"\bhow sure\b|\bsureness\b": "say 'confidence interval', 'uncertainty' or 'probability'",
    r"\bsurely\b": "say 'guaranteed' or 'significantly'",
    r"\bhonest(ly)?\b": "say what is estimated and from which data",
    r"\bthin\b": "say 'small samples' or 'few rows'",
    r"\bby lots?\b|\bdraws? lots\b": "say 'randomised' or 'by hash'",
    r"\bwhere to cut\b|\bcuts? (at|there|from)\b": "say 'threshold'",
    r"\b(silently|in silence)\b(?! (converted|reversed|dropped))": "say 'without a warning'",
    r"\bto the last bit\b": "say 'exactly' or 'losslessly'",
    r"\b(says?|knows?) (itself|of itself|it in)\b": "results return, print, raise, contain or flag",
    r"\b(tells?) (it|that|what|how|which|whether|where|why)\b": "functions return, report or state",
    r"\bsays? (where|whether|which|why|yes|no)\b": "functions return, report or state",
    r"\bwhat (tells|says|is at|comes|there is)\b": "name the thing",
    r"\bis (refused|said) in words\b": "say 'raises an InputError'",
    r"\bnothing to be wished\b": "say 'close to the ideal value'",
    r"\bthe (world|house|judgement)\b": "use the technical term",
    r"\bin any form; see\b": "list the accepted types",
    r"\bwhoever\b|\bnowhere\b": "name the person or the place",
    r"\b(as|than) it stands\b": "say 'unchanged'",
    r"\b(dear|dearer|dearest)\b": "say 'more expensive'",
    r"\bbeyond (that|what|its)\b": "say 'more than' or 'outside'",
}

CONSTRUCTIONS = {
    "a clause as a label": r"^(?:What|How|Whether|Who|Which|Where|That)\b(?![^.?]*\?)",
    "'those that', 'that of'": r"\bthose (?:that|which|who\w*|of|from|with|in|at|for|by|on|given|where|to|named)\b"
    r"|\bthose \w+ed\b|\bthat of\b|\bof who(?:se|m)\b",
    "'anew', 'beside', 'alike', 'beyond', 'apart'": r"\b(?:anew|beside|alike|beyond|apart)\b",
    "a fragment that begins with 'Of'": r"^Of\b",
    "'left out', 'where there is none'": r"\bleft out\b|\bleaves? out\b|\b(?:where|if) there (?:is|are) no(?:ne)?\b",
    "'says so', 'knows', 'calls itself'": r"\bsays? so\b|\bknows?\b|\bcalls? (?:itself|themselves)\b",
    "'is no …'": r"\b(?:is|are|was) no\b(?! (?:longer|more)\b)",
    "'so many', 'as many as'": r"\b(?:so|as) many\b|\bso much\b|\bas much as\b",
    "'as it is'": r"\bas (?:it|they) (?:is|are|was|were|stands?|comes?)\b",
}
"""Constructions that make a sentence sound translated. Counted by these patterns, 100 sentences of scikit-learn's
docstrings have 2.1, most of them "Whether …" of a parameter."""

LIMITS = {"docstrings": 3.0, "pages": 2.0, "texts in code": 2.0, "texts of the page": 2.0}
"""The most constructions in 100 sentences."""

ALLOWED = {
    "README.md": {"silently": "the plain word: nothing is dropped or reversed silently"},
    "docs/glossary.md": {"silently": "as in README"},
    "src/rocscope/decisions/decision.py": {"by lot": "a value of the field `rule`"},
    "docs/guide/decisions/monitoring.md": {"honest": "customers who do not commit fraud"},
    "docs/guide/decisions/row-costs.md": {"honest": "a payment that is no fraud"},
}
"""Text that may stay, by file: what is allowed, and why."""

BLOCKS = re.compile(r"```.*?```|``[^`]*``|<!--.*?-->|^    .*$|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
END = re.compile(r"(?<=[.!?;])[*)\"']*\s+|\s*\n\s*\n\s*|\s*\n\s*(?=[-*|#] |\d\. )")
WORD = re.compile(r"[^\W\d_]{2,}")
"""What counts as a word: numbers and the symbols of formulas do not."""
SECTION = re.compile(
    r"^(Parameters|Attributes|Returns|Yields|Raises|Warns|Notes|Examples|References)\n-+$", re.MULTILINE
)
"""What begins a section of numpydoc."""


def page_text(text: str) -> str:
    """Return the prose of a page: without code, references and old changes. A cell of a table ends a sentence."""
    text = re.split(r"^## (?:References|0\.1\.0)", text, flags=re.MULTILINE)[0]
    return re.sub(r"\|", ".\n\n", BLOCKS.sub(lambda found: "C" if found[0].startswith("`") else "]", text))


def docstrings(text: str) -> Iterator[str]:
    """Yield the prose of each docstring of a module: without examples, references and literal blocks."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            parts = SECTION.split(ast.get_docstring(node) or "")
            yield parts[0]
            for name, body in zip(parts[1::2], parts[2::2], strict=True):
                if name not in ("Examples", "References"):
                    yield page_text(re.sub(r"^(\S.*) : .*$|^    ", r"", body, flags=re.MULTILINE))


def complaints(path: Path) -> Iterator[str]:
    """Yield what is wrong with the prose of a file."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    python = path.suffix == ".py"
    for prose in docstrings(text) if python else [page_text(text)]:
        for pattern, advice in BANNED.items():
            for found in re.finditer(pattern, prose, re.IGNORECASE | re.MULTILINE):
                if found[0] not in ALLOWED.get(name, {}):
                    line = " ".join(prose[max(0, found.start() - 30) : found.end() + 30].split())
                    yield f"{name}: '{found[0].strip()}' in '… {line} …': {advice}"
        for sentence in END.split(prose):
            if (size := len(WORD.findall(sentence))) > MOST_WORDS:
                yield f"{name}: a sentence of {size} words: '{' '.join(sentence.split()[:9])} …'; split it"


def texts_in_code(text: str) -> Iterator[str]:
    """Yield the string literals of a module that hold at least four words: errors, notes, help."""
    tree = ast.parse(text)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements
        if literal and len(WORD.findall(node.value)) >= 4:
            yield node.value


def texts_of_page(text: str) -> Iterator[str]:
    """Yield the string literals of a client module that hold at least four words."""
    for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`', text):
        prose = re.sub(r"\$\{[^}]*\}|<[^>]*>", "C", literal[1:-1])
        if len(WORD.findall(prose)) >= 4:
            yield prose


def prose_by_kind() -> dict[str, list[str]]:
    """Return all texts that reach a reader, by the names of `LIMITS`."""
    modules = [path.read_text(encoding="utf-8") for path in files() if path.suffix == ".py"]
    pages = [path.read_text(encoding="utf-8") for path in files() if path.suffix == ".md"]
    client = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("client/src/**/*.ts"))]
    return {
        "docstrings": [prose for text in modules for prose in docstrings(text)],
        "pages": [page_text(text) for text in pages],
        "texts in code": [literal for text in modules for literal in texts_in_code(text)],
        "texts of the page": [literal for text in client for literal in texts_of_page(text)],
    }


def constructions(texts: list[str]) -> tuple[int, dict[str, int]]:
    """Return the number of sentences, and how many have each construction."""
    counts = dict.fromkeys(CONSTRUCTIONS, 0)
    sentences = 0
    for text in texts:
        for sentence in END.split(text):
            plain = " ".join(sentence.split())
            if len(WORD.findall(plain)) < 2:
                continue
            sentences += 1
            for name, pattern in CONSTRUCTIONS.items():
                counts[name] += len(re.findall(pattern, plain))
    return sentences, counts


def too_many_constructions() -> Iterator[str]:
    """Yield the kinds of texts above their limit; print the counts of all."""
    for kind, texts in prose_by_kind().items():
        sentences, counts = constructions(texts)
        rate = 100 * sum(counts.values()) / sentences
        summary = f"{kind}: {rate:.1f} translated constructions in 100 of {sentences:,} sentences"
        print(f"{summary} (at most {LIMITS[kind]:g})")
        if rate > LIMITS[kind]:
            yield f"{summary}: {counts}"


def files() -> Iterator[Path]:
    """Yield the pages and modules that are checked."""
    yield from sorted(ROOT.glob("*.md"))
    yield from (path for path in sorted(ROOT.glob("docs/**/*.md")) if "gallery" not in path.parts)
    yield from sorted(ROOT.glob("src/**/*.py"))


def main() -> None:
    """Check the files given, or all."""
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or [*files()]
    found = [complaint for path in chosen for complaint in complaints(path)]
    if not sys.argv[1:]:
        found += too_many_constructions()
    print("\n".join([*found, f"{len(chosen)} files of prose, {len(found)} complaints"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
