"""The site: every page with code is executed, none is skipped, and every picture is in the gallery."""

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from places import PROJECT

import thali
from thali import plots

DOCS = PROJECT / "docs"
MADE = {"_build", "pictures", "generated", "jupyter_execute"}
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if not MADE & set(page.relative_to(DOCS).parts)]
EXECUTED = [page for page in PAGES if "{code-cell}" in page.read_text("utf-8")]


def test_pages_with_code_are_notebooks():
    assert len(EXECUTED) > 12
    for page in EXECUTED:
        assert page.read_text("utf-8").startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"), page


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in PAGES:
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            listed |= {(page.parent / name).resolve() for name in toctree.split("\n") if name and name[0] != ":"}
    missing = {page for page in PAGES if page.with_suffix("").resolve() not in listed and page.name != "index.md"}
    assert not missing


def test_every_picture_is_in_the_gallery():
    assert {file.stem.removeprefix("plot_") for file in (DOCS / "gallery").glob("plot_*.py")} == set(plots.__all__)


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api" / "index.md").read_text("utf-8")
    modules = {
        "datasets",
        "designs",
        "errors",
        "likelihoods",
        "paired",
        "plots",
        "priors",
        "report",
        "testing",
        "__version__",
    }
    missing = [name for name in thali.__all__ if name not in modules and f"   {name}\n" not in text]
    missing += [
        name for name in plots.__all__ + thali.paired.__all__ + thali.designs.__all__ if f"   {name}\n" not in text
    ]
    assert not missing


@pytest.mark.long
@pytest.mark.skipif(find_spec("sphinx") is None, reason="needs the extra docs")
def test_the_site_is_built_and_every_page_executed(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", str(DOCS), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    for page in EXECUTED:
        html = (tmp_path / "site" / page.relative_to(DOCS)).with_suffix(".html").read_text("utf-8")
        cells = page.read_text("utf-8").count("```{code-cell}")
        assert html.count('class="cell docutils container"') >= cells - html.count("tag_remove"), page
