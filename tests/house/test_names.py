"""Every class has a name of its own, so that a name says which one is meant, in a traceback too."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import rocscope

ROOT = Path(rocscope.__file__).parent


@cache
def public_names():
    """Return the modules that define each public class, and those that give the name to something else."""
    classes, aliases = defaultdict(list), defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        module, tree = str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(module)
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "cli" not in module:
                aliases[node.targets[0].id].append(module)
    return classes, aliases


def test_no_two_classes_share_a_name():
    assert {name: modules for name, modules in public_names()[0].items() if len(modules) > 1} == {}


def test_no_alias_has_the_name_of_a_class():
    classes, aliases = public_names()
    assert {name: (modules, aliases[name]) for name, modules in classes.items() if name in aliases} == {}
