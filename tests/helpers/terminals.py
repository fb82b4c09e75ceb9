"""Tables as a terminal shows them."""

import pandas as pd
import pytest


def narrow(table):
    """What an interactive terminal of 80 columns shows of a table."""
    with (
        pd.option_context("display.max_columns", 0, "display.width", 80),
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("COLUMNS", "80")
        return repr(table)
