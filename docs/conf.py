"""Sphinx's settings: the pages of docs/, the scripts of examples/gallery, and one page for each public name."""

import sys
import tomllib
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

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
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # of the words of a type, those are links that have a page here
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

sys.path.insert(0, str(HERE / "site"))
import pages  # noqa: E402 (found by the path above)
import thumbnails  # noqa: E402

sphinx_gallery_conf = {
    "image_scrapers": ("thumbnails.scraper",),
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


WITH_PAGE = [*pages.public_names(), *pages.result_classes().values()]
autosummary_filename_map = {name: pages.file_name(name) for name in WITH_PAGE}
pages.write_pages(HERE / "api")


def index_terms(_app, page, source):
    """Add the terms of a page to its source as index entries, which the search ranks above plain text."""
    for term in pages.SEARCHED.get(page, []):
        if page.startswith("api/"):
            source[0] = f".. index:: ! single: {term}\n\n{source[0]}"
        else:
            source[0] += f"\n```{{index}} ! single: {term}\n```\n"


def not_ours(_app, _what, _name, each, *_):
    """Leave out what scikit-learn says of the methods that our classifiers have from it."""
    return str(getattr(each, "__module__", "")).startswith("sklearn") or None


LONG_NAMES = pages.long_names()
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS}  # of Python: this site has no links to its documentation
numpydoc_xref_aliases |= {short: whole for short, whole in LONG_NAMES.items() if short[0].isupper()}


def resolve_short_name(app, env, node, contnode):
    """Link a name of ours that a docstring writes without its topic, such as `Decision.interval`.

    An attribute that has no entry of its own is a link to its class.
    """
    name = pages.long_name(node.get("reftarget", ""))
    if not name:
        return None
    document, domain = node.get("refdoc", env.docname), env.get_domain("py")
    for target in (name, name.rpartition(".")[0]):
        link = domain.resolve_xref(env, document, app.builder, "obj", target, node, contnode)
        if link is not None:
            return link
    return None


def setup(app):
    """Say so to Sphinx."""
    app.connect("missing-reference", resolve_short_name)
    app.connect("autodoc-skip-member", not_ours)
    app.connect("source-read", index_terms)
    app.connect("env-before-read-docs", thumbnails.replace_thumbnails)
