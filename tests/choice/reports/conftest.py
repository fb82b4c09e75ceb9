"""The study that most tests of reports ask, fitted once."""

import pytest
from helpers import market_studies


@pytest.fixture(scope="session")
def data():
    return market_studies.study()


@pytest.fixture(scope="session")
def multinomial():
    return market_studies.fit_multinomial()


@pytest.fixture(scope="session")
def hierarchical():
    return market_studies.fit_hierarchical()
