"""The reproductions of Görür, Jäkel & Rasmussen (2006) in miniature."""

import warnings

import pytest

import thali as th
from papers import Settings
from papers import elimination_2006 as paper
from thali.errors import ThaliWarning


@pytest.mark.usefixtures("pictures")
def test_paris_rome():
    found = paper.paris_rome(Settings("small", 1, progressbar=False))
    choices, inferred = found.tables.values()
    choices = choices.set_index("choice")
    assert choices.loc["P+ over R", "exact"] == pytest.approx(1.01 / 2.01)
    reference = {
        "P+ over P": 0.9848,
        "P+ over R": 0.5603,
        "P+ over R+": 0.5,
        "P over R+": 0.4397,
        "R over R+": 0.0151,
    }
    for choice, value in reference.items():
        row = choices.loc[choice]
        assert abs(row["posterior mean"] - value) < 4.5 * row["error"] + 5e-5
    inferred = inferred.set_index("quantity")
    for name, value in {"alpha": 1.387, "aspects shared by P+ and P alone": 1.150}.items():
        assert abs(inferred.loc[name, "mean"] - value) < 4.5 * inferred.loc[name, "error"] + 1e-3
    assert all(draw() is not None for draw in found.pictures.values())


@pytest.mark.long
@pytest.mark.usefixtures("pictures")
def test_celebrities_in_miniature(monkeypatch, tmp_path):
    """All of it but the length: three options of the nine, so that three pairs are left out."""
    few = th.datasets.celebrities().subset(["LBJ", "JU", "BB"])
    monkeypatch.setattr(paper.datasets, "celebrities", lambda: few)
    trio = {"LBJ": ["politician"], "JU": ["athlete"], "BB": ["star"]}
    monkeypatch.setattr(paper, "professions", lambda: trio)
    monkeypatch.setattr(paper, "PROFESSIONS", {"politician": ["LBJ"], "others": ["JU", "BB"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        found = paper.celebrities(Settings("small", 1, 1, False, tmp_path))
    (table,) = found.tables.values()
    assert list(table["model"]) == [
        "BASE",
        "BTL",
        "EBA12",
        "EBA15",
        "tEBA",
        "iEBA",
        "tree .1",
        "tree .5",
        "EMP",
    ]
    assert table["NLL, paper"].dropna().tolist() == [17.57, 4.66, 4.50, 4.31, 3.95, 3.92, 2.89]
    assert {each.name for each in tmp_path.iterdir()} >= {"compare", "iEBA", "tEBA"}
    assert any(remark.startswith("Fig. 4: tEBA predicts") for remark in found.remarks)
    assert set(found.pictures) == {"figure-3", "figure-4", "aspects-inferred"}
    assert all(draw() is not None for draw in found.pictures.values())


@pytest.mark.long
def test_scan_order():
    found = paper.scan_order(Settings("small", 1, progressbar=False))
    (table,) = found.tables.values()
    recommended, published, printed = table["mean"][3:]
    assert abs(recommended - 10.74) < 4.5 * table["error"][3]
    assert published < recommended < printed - 10
    assert abs(table["mean"][0] - 2.5) < 4.5 * table["error"][0]
