"""Factors of blocks along a line with a border against dense matrices."""

import numpy as np
import pytest

from thali._inference.numerics.bordered_block_matrix import BorderedBlocks, BorderedFactor


@pytest.mark.parametrize(("periods", "n", "further"), [(1, 4, 0), (1, 4, 3), (4, 3, 2), (3, 2, 0)])
def test_factors_solve_as_the_dense_matrix_does(periods, n, further):
    rng = np.random.default_rng(0)
    blocks = rng.normal(size=(periods, n, n))
    blocks = blocks @ blocks.swapaxes(1, 2) + 6.0 * np.eye(n)
    border = rng.normal(size=(periods * n, further))
    matrix = BorderedBlocks(blocks, rng.random((periods - 1, n)), border, 10.0 * np.eye(further))
    dense, factor = matrix.assemble_dense(), BorderedFactor(matrix)
    right = rng.normal(size=(len(dense), 2))
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(dense, right), atol=1e-13)
    np.testing.assert_allclose(
        factor.solve(right[:, 0]), np.linalg.solve(dense, right[:, 0]), atol=1e-13
    )
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-12)
    if periods == 1:
        np.testing.assert_allclose(factor.variances, np.diagonal(np.linalg.inv(dense)), atol=1e-13)
    root = factor.draw(np.eye(len(dense)))
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(dense), atol=1e-13)
    np.testing.assert_allclose(matrix.diagonal, np.diagonal(dense))
    more = rng.random(len(dense))
    np.testing.assert_allclose(matrix.add_diagonal(more).assemble_dense(), dense + np.diag(more))


def test_a_matrix_that_is_not_positive_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        BorderedFactor(
            BorderedBlocks(np.eye(2)[None], np.zeros((0, 2)), np.full((2, 1), 2.0), np.eye(1))
        )
