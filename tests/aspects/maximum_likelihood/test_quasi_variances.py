"""Quasi-variances against R."""

import numpy as np
import pytest

from thali._aspects.maximum_likelihood.tables import quasi_variances

V = np.array([[0.10, 0.03, 0.02, 0.01], [0.03, 0.20, 0.05, 0.02], [0.02, 0.05, 0.15, 0.04], [0.01, 0.02, 0.04, 0.30]])


def test_r_finds_the_same():
    # library(qvcalc)  # 1.0-2; qvcalc(V)$qvframe$quasiVar; its glm stops at a relative change of 1e-8
    expected = [0.0997656289098, 0.1476049363282, 0.1040046025314, 0.2839719031205]
    np.testing.assert_allclose(quasi_variances(V), expected, rtol=1e-6)


def test_of_three_differences_they_are_exact():
    q, v = quasi_variances(V[:3, :3]), np.diag(V)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert q[i] + q[j] == pytest.approx(v[i] + v[j] - 2 * V[i, j], rel=1e-10)


def test_the_reference_does_not_matter():
    contrast = np.eye(4) - np.outer(np.ones(4), [0, 0, 1, 0])  # the third option is 0
    np.testing.assert_allclose(quasi_variances(contrast @ V @ contrast.T), quasi_variances(V), rtol=1e-8)


def test_independent_estimates_keep_their_variances():
    own = np.array([0.5, 2.0, 0.1, 1.0, 30.0])
    np.testing.assert_allclose(quasi_variances(np.diag(own)), own, rtol=1e-8)
    np.testing.assert_allclose(quasi_variances(np.diag([1.0, 3.0])), [2.0, 2.0])
    assert np.isnan(quasi_variances(np.zeros((3, 3)))).all()
    assert np.isnan(quasi_variances(np.ones((1, 1)))).all()
