"""Reports in Chromium: nothing is loaded, nothing runs, everybody can read them, on a phone as on a desk."""

from functools import cache

import pytest
from tiny_models import TINY

import thali as th
from thali.report import report

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

ATTACKS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 5000, "东京, ελιά\nand more")


@cache
def results():
    """A model of each kind, one whose labels attack, a comparison and a test."""
    found = {name: tiny.fitted() for name, tiny in TINY.items()}
    data = th.PairedComparisons([[0, 3, 1, 2], [2, 0, 4, 1], [1, 2, 0, 2], [1, 1, 3, 0]], labels=ATTACKS)
    ml = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data)
    run = {"draws": 20, "tune": 10, "chains": 2, "random_seed": 1, "progressbar": False}
    found["attacks"] = th.EliminationByAspects("unique").fit(data, **run)
    found["attacks by likelihood"] = ml
    found["comparison"] = th.compare({ATTACKS[0]: ml}, data, cores=1, progressbar=False)
    found["test"] = th.paired.transitivity(data)
    return found


@pytest.mark.parametrize("name", [*TINY, "attacks", "attacks by likelihood", "comparison", "test"])
@pytest.mark.parametrize("width", [1200, 820, 390])
def test_everybody_can_read_it(browser, tmp_path, name, width):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    file = tmp_path / "report.html"
    report(results()[name], file)
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        said, asked = [], []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("dialog", lambda dialog, said=said: said.append(dialog.message) or dialog.dismiss())
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(file.as_uri())
        assert said == []
        assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
        wide = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide[0] <= wide[1]
        assert [fault["id"] for fault in axe.run(page)["violations"]] == []
        page.close()
