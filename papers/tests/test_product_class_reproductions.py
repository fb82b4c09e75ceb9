"""The reproduction of Daviet & McCausland (2017) in miniature."""

import pytest

import papers


@pytest.mark.long
def test_the_reproduction_runs_small(pictures):
    found = papers.find("product-classes").run(papers.Settings("small", 1, 1, False))
    assert len(found.tables) == 2 and not found.interrupted
    assert all(draw() is not None for draw in found.pictures.values())
