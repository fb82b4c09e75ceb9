"""How Sphinx builds the site: every page is executed, and a warning is an error."""

import os
import sys
import warnings
from functools import partialmethod
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from nbclient import NotebookClient
from sphinx.util.docutils import SphinxDirective

import thali

sys.path.insert(0, str(Path(__file__).parent))
from command_line import listing  # noqa: E402 - it lies beside this file

project = "thali"
author = "The thali developers"
copyright = author
release = thali.__version__
version = release

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "jupyter_execute",
    "gallery",
    "pictures/*.ipynb",
    "pictures/*.py",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
default_role = "code"

# Pages are notebooks in MyST; an error in one of them is an error of the site.
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True  # what a page writes goes with it
nb_execution_excludepatterns = []
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

bibtex_bibfiles = ["../src/thali/_surfaces/references.bib"]
bibtex_reference_style = "author_year"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "pictures",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),  # pictures, and not what axes print of themselves
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "parallel": True,  # as many at a time as -j says
    "min_reported_time": 5,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
}

html_math_renderer = "mathml"  # browsers draw it themselves: nothing is loaded
html_theme = "pydata_sphinx_theme"
html_title = "thali"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# the runs of the gallery are short
warnings.filterwarnings("ignore", category=thali.errors.ConvergenceWarning)
os.environ.setdefault("COLUMNS", "100")  # tables of pages are this wide
# for pages that read what is no package
os.environ.setdefault("THALI_SOURCES", str(Path(__file__).parent.parent))


class CommandLine(SphinxDirective):
    """The directive `command-line`: every command and option."""

    def run(self):
        """Its nodes."""
        return self.parse_text_to_nodes(listing(), allow_section_headings=True)


def inline_equation(writer, node):
    """An equation in a line as MathML."""
    writer.body.append(convert(node.astext()))
    raise SkipNode


def equation(writer, node):
    """An equation on a line of its own as MathML."""
    writer.body.append(f'<div class="equation">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app):
    """Sphinx calls this."""
    # Commands of pages are those of the environment that builds the site. What they print arrives
    # in pieces, which are joined as they are.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    # Pages import simulated_tables and layers_picture.
    folders = (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    NotebookClient.__init__ = partialmethod(NotebookClient.__init__, coalesce_streams=True)
    # Executed pages are kept with the site: what lies in the folder of sources would be taken for
    # sources.
    app.config.nb_execution_cache_path = str(Path(app.outdir) / ".jupyter_cache")
    app.add_directive("command-line", CommandLine)
    app.add_html_math_renderer("mathml", (inline_equation, None), (equation, None))
