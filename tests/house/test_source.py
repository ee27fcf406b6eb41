"""What the package's source says of itself, file by file: every file is parsed once for all of these."""

import ast
import gc
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import rocscope
from test_signatures import public, topics

ROOT = Path(rocscope.__file__).parent
ON_UNIX_ONLY = {
    "fcntl", "grp", "posix", "pwd", "resource", "termios", "tty",
    "os.fork", "os.geteuid", "os.getuid", "os.killpg", "os.mkfifo", "os.pread", "os.pwrite", "os.sched_getaffinity",
    "os.sysconf", "os.uname", "signal.SIGHUP", "signal.SIGKILL", "signal.SIGALRM", "signal.alarm",
}  # fmt: skip


@cache
def trees():
    """Return the syntax tree of every file, by its path below the package."""
    paths = sorted(ROOT.rglob("*.py"))
    gc.disable()  # which would look for garbage among half a million nodes, again and again
    try:
        return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    finally:
        gc.enable()


@cache
def nodes():
    """Return the nodes of every file, in the order of `ast.walk`."""
    return {name: list(ast.walk(tree)) for name, tree in trees().items()}


@cache
def named():
    """Return the modules that define each public class, and those that give the name to something else."""
    classes, aliases = defaultdict(list), defaultdict(list)
    for name in trees():
        for node in nodes()[name]:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
        for node in trees()[name].body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "cli" not in name:
                aliases[node.targets[0].id].append(name)
    return classes, aliases


def test_no_two_classes_share_a_name():
    """A name says which class is meant, in a traceback too."""
    assert {name: modules for name, modules in named()[0].items() if len(modules) > 1} == {}


def test_no_alias_has_the_name_of_a_class():
    classes, aliases = named()
    assert {name: (modules, aliases[name]) for name, modules in classes.items() if name in aliases} == {}


def test_no_list_of_names_stands_beside_a_stub():
    beside = []
    for name, tree in trees().items():
        lists = [node for node in tree.body if isinstance(node, ast.Assign) and "__all__" in ast.unparse(node.targets)]
        if any(isinstance(node.value, ast.List | ast.Tuple) for node in lists):
            has_stub = (ROOT / name).with_suffix(".pyi").exists() or Path(name).name != "__init__.py"
            beside += [name] * has_stub
    assert beside == []


def test_what_looks_public_has_a_door():
    """A function or class of a topic that has examples is given out, or returned, or some module uses it."""
    homes = tuple(topic.__name__ for topic in topics()[1:])
    doors = {(each.__module__, each.__name__) for each in public().values() if hasattr(each, "__name__")}
    returned = {word for each in nodes().values() for word in words_of_results(each)}
    known = doors.union(*map(uses, nodes().values()))
    without = [
        f"{module}.{node.name}"
        for module, tree in ((module_of(name), tree) for name, tree in trees().items())
        if module.startswith(homes)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
        if "Examples\n" in (ast.get_docstring(node) or "")
        if (module, node.name) not in known and not (isinstance(node, ast.ClassDef) and node.name in returned)
        if node.name not in used_in(tree)
    ]
    assert without == []


@cache
def used_in(tree):
    """Return the names that a module refers to, its own among them."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def module_of(name):
    return ".".join(["rocscope", *Path(name).with_suffix("").parts]).removesuffix(".__init__")


def words_of_results(each):
    """Return the words in the annotations of what functions return."""
    functions = [node for node in each if isinstance(node, ast.FunctionDef) and node.returns is not None]
    return [word for node in functions for word in re.findall(r"\w+", ast.unparse(node.returns))]


def uses(each):
    """Yield what a module takes from others: by name, or as attributes of them."""
    imported = {}
    for node in each:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.module, alias.name
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in each:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            yield imported[node.value.id], node.attr


def test_nothing_is_asked_of_unix_alone():
    found = set()
    for name, each in nodes().items():
        for node in each:
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            of_name = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            used = [f"{node.value.id}.{node.attr}"] if of_name else []
            found |= {(name, asked) for asked in (*imported, *used) if asked in ON_UNIX_ONLY}
    # Windows locks by msvcrt instead; the amount of memory has an answer where it is not known.
    assert found == {("_base/atomic_write.py", "fcntl"), ("engines/row_buffers.py", "os.sysconf")}


def test_text_is_read_in_an_encoding_that_is_named():
    """Without one it would be that of the country."""
    found = set()
    for name, each in nodes().items():
        for node in each:
            method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            if method in ("read_text", "write_text") and not any(key.arg == "encoding" for key in node.keywords):
                found.add((name, ast.unparse(node.func.value)))
    system = {"facts", "Path('/sys/fs/cgroup/memory.max')", "Path('/sys/fs/cgroup/memory.current')"}
    assert found == {("engines/row_buffers.py", place) for place in system}  # which is ASCII, and on Linux
