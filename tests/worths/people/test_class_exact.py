"""Draws of latent classes against enumeration of all memberships."""

import numpy as np
import pytest
from class_chains import enumerate_classes, run_class_chains
from people_problems import Study
from scipy.special import expit

from thali._posterior.summary_table import compute_mean_mcse

pytestmark = pytest.mark.fit

LIMIT = 4.8  # of 14 scores: a false alarm in 40,000 runs
COUNTS = [(6, 1), (1, 5), (3, 2)]


@pytest.mark.parametrize(
    ("is_similar", "are_known"),
    [(False, False), (True, False), (False, True)],
    ids=["free", "similar", "groups"],
)
def test_three_respondents_in_two_classes(is_similar, are_known):
    """Draws have the means that enumeration and integrals have."""
    expected = enumerate_classes(COUNTS, is_similar, are_known)
    orders = [row for won, lost in COUNTS for row in [(0, 1)] * won + [(1, 0)] * lost]
    person = np.repeat([0, 1, 2], np.sum(COUNTS, axis=1))
    study = Study("order", 2, person, np.array(orders), np.zeros((3, 0)))
    draws = run_class_chains(study, 1, is_similar, 10_000, 300, are_known)
    z, worths = draws.class_of, draws.of_people[:, :, 0]
    found = {
        "same 1, 2": z[..., 0] == z[..., 1],
        "same 1, 3": z[..., 0] == z[..., 2],
        "same 2, 3": z[..., 1] == z[..., 2],
        "one class": z.max(axis=-1) == z.min(axis=-1),
        "log sd": draws.log_sigma,
        "log s": draws.log_s,
        "person": expit(worths[..., 0] - worths[..., 1]),
    }
    scores = {
        name: float(
            (values.mean() - expected[name]) / compute_mean_mcse(values[None].astype(float))[0]
        )
        for name, values in found.items()
        if values.std() > 0.0
    }
    assert max(map(abs, scores.values())) < LIMIT, scores
