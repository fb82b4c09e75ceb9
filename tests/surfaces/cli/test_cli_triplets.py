"""`thali fit` and `thali compare` of triplets, from words on the command line to files."""

import pandas as pd
import pytest
from helpers.sentences import says

ODD = (
    "object1,object2,object3,odd\ntea,coffee,brick,brick\nbrick,wall,tea,tea\ntea,coffee,wall,3\n"
    "coffee,wall,brick,1\n"
)
RUN = ("--draws", 12, "--tune", 4, "--chains", 2, "--thin", 1, "--seed", 1)
EVERYTHING = ["check.csv", "check.png", "features.csv", "features.png"]
EVERYTHING += "n_features.csv pairs.csv posterior.nc summary.csv".split()
FILES = {
    "odd.csv": ODD.replace(",3\n", ",wall\n").replace(",1\n", ",coffee\n"),
}


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.parametrize("link", ["exp", "ratio"])
def test_a_fit_prints_and_writes_its_answer(done, folder, uncompiled, link):
    result = done(
        *"fit odd.csv --link".split(),
        link,
        "--lapse",
        0.05,
        *RUN,
        *"--out found --report report.html --print all".split(),
    )
    for sentence in (
        "Number of features that affect the answers",
        f"(--link {link}).\nLapse rate (probability of a random choice): 0.05, fixed.",
        "Pairs, from most to least similar",
    ):
        assert sentence in result.out
    says(result.err, "'odd'", "4 objects", "4 sets", "3 pairs", "4 answers")
    assert (
        sorted(path.name for path in (folder / "found").iterdir() if path.is_file()) == EVERYTHING
    )
    pairs = pd.read_csv(folder / "found" / "pairs.csv")
    assert list(pairs)[:3] == ["a", "b", "similarity"] and len(pairs) == 6
    assert (pd.read_csv(folder / "found" / "check.csv")["sets"] == 2).all()
    text = (folder / "report.html").read_text()
    assert "The similarity of two objects was modelled by additive clustering" in text
    says(text, "a pair was chosen as the most similar")
    assert ("Zheng, C. Y." in text) == (link == "exp")


def test_another_estimate_is_refused(run, folder):
    for method in ("mcmc", "map"):
        found = run(
            "fit", "odd.csv", "--method", method, "--estimate", "joint-map", "--out", "found"
        )
        why = (
            "requires similarities; these data are triplets"
            if method == "mcmc"
            else "applies to --method mcmc"
        )
        assert (
            found.code == 2 and f"--estimate {why}" in found.err and not (folder / "found").exists()
        )


@pytest.mark.fit
def test_a_comparison_leaves_sets_out(done, uncompiled):
    result = done("compare", "odd.csv", "--models", "ibp,1", "--folds", 2, *RUN, "--print", "all")
    says(result.out, "4 answers")
    assert "answer (guessing: -1.099)" in result.out
