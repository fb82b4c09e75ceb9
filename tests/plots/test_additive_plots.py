"""The pictures of any latent-feature model, of similarities: what they leave out, mark and add."""

from helpers.additive_fits import made_up

from thali import plots

SPLIT = {0: (1, 2, 3)}  # a feature that one chain always has and the others never


def test_the_matrix_omits_single_owners_and_marks_disagreement():
    model = made_up(4, common=((0, 1), (2,)), beside=0.0, kept_by=SPLIT)
    table = model.features()
    assert [(0, 1), (1, 2, 3)] == sorted((tuple(map(int, m)) for m in table["members"]), key=len)
    ax = plots.features(table)
    expected = [
        f"{p:.2f}" + "*" * (not converged)
        for p, converged in table[["probability", "converged"]].values
    ]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == expected
    assert sum(name.endswith("*") for name in expected) == 1
    assert ax.get_xlabel() == "probability of the feature\n(*: chains disagree)"
    converged = plots.features(made_up(4, beside=0.0).features())
    assert converged.get_xlabel() == "probability of the feature"
    assert (
        plots.features(made_up(3, common=((0,), (1,)), beside=0.0).features()).get_xlabel()
        == "no probable feature is shared"
    )
