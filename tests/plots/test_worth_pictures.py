"""The picture of worths: every option in its row, its interval, and what is left out."""

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_pictures import assert_readable
from helpers.tiny_models import fitted

from thali import plots


def build_table(n):
    """Worths of options with long names, the last one the largest."""
    names = [f"an option with quite a long name, number {k}" for k in range(n)]
    worths = np.linspace(-2.0, 2.0, n)
    columns = {"log_worth": worths, "low": worths - 0.4, "high": worths + 0.3}
    table = pd.DataFrame(columns, index=pd.Index(names, name="option"))
    table.attrs["interval"] = 0.95
    return table


def test_rows_are_the_worths_largest_first():
    model = fitted("bradley-terry-luce")
    ax = model.plot("worths")
    table = model.worths().sort_values("log_worth", ascending=False)
    lines, points = ax.collections
    assert [text.get_text() for text in ax.get_yticklabels()] == list(table.index)
    np.testing.assert_allclose(np.asarray(points.get_offsets())[:, 0], table["log_worth"])
    ends = np.array(lines.get_segments())[:, :, 0]
    np.testing.assert_allclose(ends, table[["low", "high"]])
    assert ax.get_xlabel() == "log worth (mean and 89 % interval)"
    assert any(list(line.get_xdata()) == [0.0, 0.0] for line in ax.lines)


@pytest.mark.rendered
def test_many_options_with_long_names_are_readable(monkeypatch):
    ax = plots.worths(build_table(70))
    assert len(ax.get_yticklabels()) == 60 and ax.get_title("left") == "top 60 of 70 options"
    assert "95 %" in ax.get_xlabel()
    assert_readable(ax, monkeypatch)
