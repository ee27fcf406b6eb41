"""Sphinx's settings: the pages of docs/, the scripts of examples/gallery, and one page for each public name."""

import sys
import tomllib
from pathlib import Path

import rocscope as rs

HERE = Path(__file__).parent
project = "rocscope"
author = "The rocscope developers"
version = release = rs.__version__
html_title = "rocscope"
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["site", "images/*.py", "gallery/**.ipynb", "gallery/**/*.py"]
templates_path = ["site/templates"]
html_static_path = ["site/static", "images"]
html_css_files = ["rocscope.css"]
html_js_files = ["rocscope.js"]
html_extra_path = ["../build/try"]

myst_heading_anchors = 3
myst_enable_extensions = ["substitution"]
project_file = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
repository = project_file.get("urls", {}).get("Repository", "")
source = f"[Repository]({repository})" if repository else "The repository is the clone that this site was built from"
myst_substitutions = {"release": f"Version {rs.__version__} · {source} · {project_file['license'].split()[0]}"}
nitpicky = False
default_role = "py:obj"  # names in single backticks are links where they have a page
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameters say them, in words that a reader knows
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "rocscope", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "alt_text": ""},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"**": ["sidebar-nav-bs"]} | {
    page: [] for page in ("index", "install", "try-it", "how-it-works", "search")
}
copyright = "The rocscope developers, BSD-3-Clause"

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "plot_gallery": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": [
        f"../examples/gallery/{name}" for name in ("curves", "decisions", "sure", "calibration", "more")
    ],
}

sys.path.insert(0, str(HERE / "site"))
import pages  # noqa: E402 (found by the path above)

autosummary_filename_map = {name: pages.file_name(name) for name in pages.public_names()}
pages.write_pages(HERE / "api")


SEARCHED = {
    "install": ["install", "installation", "pip"],
    "glossary": ["cutoff", "cut-off", "cutpoint", "sensitivity", "specificity", "recall"],
    "course/5-class-balance": ["undersampling", "imbalanced", "class imbalance"],
    "course/6-hull": ["iso-performance", "MetaCost"],
    "api/names/rocscope.net_benefit": ["dca", "decision curve", "decision curve analysis"],
    "api/names/rocscope.plotting.plot_isometrics": ["isometrics", "isometric"],
    "api/names/rocscope.multiclass.multiclass_auc": ["multiclass AUC", "micro average"],
}
"""Terms that people search for, by the page that the search shows first."""


def index_terms(_app, page, source):
    """Add the terms of a page to its source as index entries, which the search ranks above plain text."""
    for term in SEARCHED.get(page, []):
        if page.startswith("api/"):
            source[0] = f".. index:: ! single: {term}\n\n{source[0]}"
        else:
            source[0] += f"\n```{{index}} ! single: {term}\n```\n"


def not_ours(_app, _what, _name, each, *_):
    """Leave out what scikit-learn says of the methods that our classifiers have from it."""
    return str(getattr(each, "__module__", "")).startswith("sklearn") or None


LONG_NAMES = {name.rpartition(".")[2]: name for name in reversed([*pages.public_names()])}
"""The whole name of each public name, by its last part; of two with one last part, the first in the reference."""


def resolve_short_name(app, env, node, contnode):
    """Link a public name that a docstring writes without its topic, such as `Decision.interval`."""
    first, _, rest = node.get("reftarget", "").removeprefix("rocscope.").partition(".")
    name = ".".join(filter(None, (LONG_NAMES.get(first), rest)))
    if first not in LONG_NAMES or name == node["reftarget"]:
        return None
    document = node.get("refdoc", env.docname)
    return env.get_domain("py").resolve_xref(env, document, app.builder, "obj", name, node, contnode)


def setup(app):
    """Say so to Sphinx."""
    app.connect("missing-reference", resolve_short_name)
    app.connect("autodoc-skip-member", not_ours)
    app.connect("source-read", index_terms)
