"""What the sentence about aspects claims: nothing of what choices cannot tell, nothing that was
given, no certainty."""

import numpy as np
import pytest
from helpers.elimination_fits import FakeModel

import thali as th

SHORT = {"draws": 200, "tune": 200, "random_seed": 1, "progressbar": False}
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


def found_of(model):
    """The finding about aspects."""
    return next(each for each in model.findings() if each.key == "features")


def test_an_aspect_of_all_options_is_never_named_and_what_to_do_next_is_said():
    one = th.PairedComparisons([[0, 1], [0, 0]], ["tea", "milk"])
    found = found_of(th.EliminationByAspects().fit(one, **SHORT))
    assert ("tea", "milk") in list(found.table["members"].str.split("; ").map(tuple))
    assert "'tea'" not in str(found.sentence) and "No shared aspect" in str(found.sentence)
    assert "similar=0.8" in " ".join(map(str, found.notes))


def test_given_aspects_have_weights_and_no_probability():
    options = th.datasets.celebrities().labels
    given = {name: ["politician"] if name in ("LBJ", "HW", "CDG") else [] for name in options}
    sentence = str(
        found_of(th.EliminationByAspects(given).fit(th.datasets.celebrities(), **SHORT)).sentence
    )
    assert (
        "Specified shared" in sentence
        and "LBJ, HW and CDG (weight" in sentence
        and "probab" not in sentence
    )


@pytest.mark.parametrize(
    ("common", "words"),
    [(((0, 1),), "Most probable shared aspects"), ((), "No shared aspect has probability")],
)
def test_below_one_half_none_is_certain(common, words):
    model = FakeModel()
    model.common, model.beside = common, 3.0
    found = found_of(
        model.fit(th.PairedComparisons(np.ones((3, 3)) - np.eye(3), list("abc")), draws=200)
    )
    shared = found.table[found.table["members"].str.count(";") == 1]
    assert (shared["probability"].max() >= 0.5) == bool(common)
    assert str(found.sentence).startswith(words)
