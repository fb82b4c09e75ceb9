"""The site: every page with code is executed, none is skipped, and every picture is in the
gallery."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
from helpers.patience import PATIENCE
from helpers.places import PROJECT
from helpers.sentences import says

import papers
import thali
from thali import plots

DOCS = PROJECT / "docs"
MADE = {"_build", "pictures", "generated", "jupyter_execute"}
PAGES = [
    page for page in sorted(DOCS.rglob("*.md")) if not MADE & set(page.relative_to(DOCS).parts)
]
EXECUTED = [page for page in PAGES if "{code-cell}" in page.read_text("utf-8")]


NOTEBOOK = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"


def test_pages_with_code_are_notebooks():
    assert len(EXECUTED) > 12
    for page in EXECUTED:
        assert page.read_text("utf-8").startswith(NOTEBOOK), page


# Blocks of Python that no cell runs: they need what the site does not install, and other tests run
# their calls.
UNEXECUTED = {
    "house/adding.md": 1,  # a finding inside the package
    "how_to/findings.md": 1,  # ArviZ 1
    "house/machines.md": 1,  # Dask
    "house/reference_posteriors.md": 1,  # posteriordb
    "start/index.md": 1,  # a file of the reader
}


def test_no_other_python_of_a_page_is_left_unexecuted():
    for page in PAGES:
        text = page.read_text("utf-8")
        blocks = re.findall(r"^```+ ?(?:python|py|pycon)\b", text, re.MULTILINE)
        assert len(blocks) == UNEXECUTED.get(page.relative_to(DOCS).as_posix(), 0), page
        assert "skip-execution" not in text and "raises-exception" not in text, page


def test_every_reproduction_is_printed_on_a_page():
    text = "".join(page.read_text("utf-8") for page in (DOCS / "papers").glob("*.md"))
    for entry in papers.catalogue():
        assert f"\npython -m papers {entry.name}" in text and f"results/{entry.name}.txt" in text, (
            entry.name
        )


def test_equations_have_single_backslashes():
    for page in PAGES:
        assert not re.search(r"\$[^$\n]*\\\\[a-z][^$\n]*\$", page.read_text("utf-8")), page


EXECUTION = (
    "nb_execution_mode",
    "nb_execution_raise_on_error",
    "nb_execution_excludepatterns",
    "nb_execution_in_temp",
    "exclude_patterns",
)


def test_nothing_is_left_out_of_execution():
    settings = {}
    for line in ast.parse((DOCS / "conf.py").read_text("utf-8")).body:
        # the rest needs what builds the site
        if isinstance(line, ast.Assign) and line.targets[0].id in EXECUTION:
            settings[line.targets[0].id] = ast.literal_eval(line.value)
    assert (
        settings["nb_execution_mode"] in ("cache", "force")
        and settings["nb_execution_raise_on_error"]
    )
    assert not settings.get("nb_execution_excludepatterns")
    assert settings["nb_execution_in_temp"]  # what a page writes stays out of the sources
    for pattern in settings["exclude_patterns"]:
        assert not [page for page in PAGES if page.relative_to(DOCS).match(pattern)], pattern


def test_links_to_other_sites_are_found_and_judged(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(DOCS))
    links = import_module("check_links")
    says(links.links(), "https://github.com/stan-dev/posteriordb")
    known = {"a": 200, "b": 404, "c": None, "d": 403}
    assert links.main(known, known.get) == 1
    assert "GONE  b" in capsys.readouterr().out
    assert links.main({"a": 200, "c": None}, {"a": 200}.get) == 0
    assert links.main(["a", "c"], {}.get) == 0
    assert "2 links were not checked" in capsys.readouterr().out


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in PAGES:
        for toctree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            listed |= {
                (page.parent / name).resolve()
                for name in toctree.split("\n")
                if name and name[0] != ":"
            }
    missing = {
        page
        for page in PAGES
        if page.with_suffix("").resolve() not in listed and page.name != "index.md"
    }
    assert not missing
    made = (DOCS / "pictures" / "index").resolve()
    assert not {page for page in listed - {made} if not page.with_suffix(".md").exists()}


def test_every_picture_is_in_the_gallery():
    names = {file.stem.removeprefix("plot_") for file in (DOCS / "gallery").glob("plot_*.py")}
    assert names >= set(plots.__all__)


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api" / "index.md").read_text("utf-8")
    modules = {
        "datasets",
        "designs",
        "errors",
        "likelihoods",
        "paired",
        "people",
        "plots",
        "priors",
        "report",
        "testing",
        "__version__",
    }
    missing = [name for name in thali.__all__ if name not in modules and f"   {name}\n" not in text]
    missing += [
        name
        for name in (
            *plots.__all__,
            *thali.paired.__all__,
            *thali.designs.__all__,
            *vars(thali.likelihoods),
            *vars(thali.priors),
        )
        if not name.startswith("_") and f"   {name}\n" not in text
    ]
    assert not missing


@pytest.mark.long
@pytest.mark.skipif(find_spec("sphinx") is None, reason="needs the extra docs")
def test_the_site_is_built_and_every_page_executed(tmp_path):
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-n",
        "-q",
        "-j",
        "auto",
        str(DOCS),
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    for page in EXECUTED:
        html = (tmp_path / "site" / page.relative_to(DOCS)).with_suffix(".html").read_text("utf-8")
        cells = page.read_text("utf-8").count("```{code-cell}")
        assert html.count('class="cell docutils container"') >= cells - html.count("tag_remove"), (
            page
        )
