"""A notebook as a user runs it: what its cells show."""

import pytest
from helpers.pages import Page
from helpers.patience import PATIENCE

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

pytestmark = pytest.mark.fit

CELLS = {  # and a word that is shown
    "import thali as th\ndata = th.datasets.celebrities()\ndata": "9 options, 36 pairs, 8,424"
    " comparisons",
    "model = th.EliminationByAspects('unique')\nmodel": "Not fitted yet.",
    "model.fit(data, draws=50, tune=50, random_seed=1, progressbar=False)": "4 chains of 50 draws",
    "model.convergence()": "chains",
    "model.features(0.0)": "probability",
    "clusters = th.AdditiveClustering(2,"
    " tempering=False)\nclusters.fit(th.datasets.numbers(), draws=50, tune=50,"
    " random_seed=1, progressbar=False).estimate()": "WEIGHT",
    "th.paired.transitivity(data)": "strong",
    "th.Tree.from_groups({'hot': ['tea', 'coffee'], 'cold': ['milk', 'water']})": "4 leaves",
    "from sklearn.pipeline import"
    " make_pipeline\nmake_pipeline(th.SparseMultinomialLogit())": "SparseMultinomialLogit",
}


def test_every_cell_shows_html_and_text():
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=int(PATIENCE), kernel_name="python3").execute()
    for cell, word in zip(notebook.cells, CELLS.values(), strict=True):
        (shown,) = [
            output["data"] for output in cell.outputs if output.output_type == "execute_result"
        ]
        page = Page(shown["text/html"])
        assert word in page.text and shown["text/plain"]
        # scikit-learn's own diagram has links and scripts
        assert not page.faults or "make_pipeline" in cell.source
    printed = str(notebook.cells[2].outputs[-1]["data"]["text/plain"])
    assert printed == "EliminationByAspects(aspects='unique')"
