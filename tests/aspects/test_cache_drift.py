"""What a chain keeps of its likelihood is what a rebuild gives, at every draw of the problems with
known posteriors."""

import warnings

import pytest
from helpers.additive_cases import CASES as ADDITIVE
from helpers.cache_drift import watched
from helpers.elimination_cases import CASES as PAIRS
from helpers.set_problems import TRIPLE, choices_of

import thali as th
from thali.errors import ThaliWarning

pytestmark = pytest.mark.fit


def watch(model, data, draws=400, thin=25, tune=20):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return watched(model.prepare(data, draws, tune, thin).task)


def elimination(case):
    settings = dict(case["model"])
    if "tree" in settings:
        settings["aspects"] = th.Tree.from_newick(settings.pop("tree"))
    return th.EliminationByAspects(**settings)


@pytest.mark.first(4)
@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in PAIRS])
def test_caches_of_pairs_do_not_drift(case):
    watch(elimination(case), th.PairedComparisons(case["counts"]))


@pytest.mark.parametrize("unique", [True, pytest.param(False, marks=pytest.mark.long)])
def test_caches_of_ties_do_not_drift(unique):
    data = th.PairedComparisons(
        [[0, 6, 2], [1, 0, 3], [4, 1, 0]], ties=[[0, 3, 0], [3, 0, 9], [0, 9, 0]]
    )
    watch(th.EliminationByAspects(unique=unique, tempering=False, ties="davidson"), data, draws=200)


BARE = {
    "two options 20:0": ([[0, 20], [0, 0]], {"alpha": 1.0}),
    "two options 1:5": ([[0, 1], [5, 0]], {"alpha": 1.0}),
    "three options": ([[0, 6, 2], [1, 0, 3], [4, 1, 0]], {"alpha": 2.0}),
    "three options, alpha 20": ([[0, 6, 2], [1, 0, 3], [4, 1, 0]], {"alpha": 20.0}),
    "four free aspects": ([[0, 6, 2], [1, 0, 3], [4, 1, 0]], {"aspects": 4}),
}
RARE = {"four free aspects"}  # which need a kernel of their own
MANY = {"three options, alpha 20"}  # columns, so that it takes longest


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "counts, settings",
    [
        pytest.param(*BARE[name], id=name, marks=[pytest.mark.long] if name in RARE | MANY else [])
        for name in BARE
    ],
)
def test_pairs_without_unique_aspects(counts, settings):
    model = th.EliminationByAspects(unique=False, tempering=2, **settings)
    watch(model, th.PairedComparisons(counts), draws=1000)


# a minute to compile
@pytest.mark.parametrize("unique", [True, pytest.param(False, marks=pytest.mark.long)])
def test_caches_of_sets_do_not_drift(unique):
    data = choices_of(TRIPLE, list("123"))
    watch(th.EliminationByAspects(unique=unique, alpha=1.5, tempering=False), data, draws=100)


@pytest.mark.parametrize("case", [pytest.param(c, id=c["name"]) for c in ADDITIVE])
def test_caches_of_similarities_do_not_drift(case):
    model = th.AdditiveClustering(**case["model"], tempering=2)
    watch(model, th.Similarities(case["similarities"]), draws=100)
