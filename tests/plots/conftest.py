"""Pictures of these tests are drawn without a screen, and closed when a test ends."""

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed(pictures):
    """The pictures of each test are closed at its end."""
