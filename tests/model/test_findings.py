"""Findings: lazy, computed once, each with its key; settings that are checked; one that fails costs
itself alone."""

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.pages import notebook
from helpers.places import PROJECT
from helpers.sentences import refused, said
from helpers.short_comparisons import compare
from helpers.tiny_models import TINY, fitted, of_models

import thali as th
from thali._model.finding import (
    BRIEF,
    FILE,
    FILES,
    PAGE,
    SHOWN,
    TEXT,
    Finding,
    FindingMaker,
    Findings,
    Picture,
    finding,
)
from thali._model.registry import SPECS
from thali.errors import ArgumentError, DataError, DefectWarning, Setting

CELEBRITIES = th.datasets.celebrities


def by_likelihood():
    return th.EliminationByAspects("unique", method="maximum-likelihood").fit(CELEBRITIES())


# a sequence ---------------------------------------------------------------------------------------


def counted(calls):
    @finding("size", "How many?")
    def size(source, settings):
        calls.append("size")
        return Finding(f"There are {len(source)}.", table=pd.DataFrame({"n": [len(source)]}))

    @finding("nothing", "What else?", FILE)
    def nothing(source, settings):
        calls.append("nothing")

    return Findings([1, 2], (size, nothing))


def test_a_finding_is_computed_on_request_and_once():
    found = counted(calls := [])
    assert not calls
    assert (
        found["size"].sentence == "There are 2."
        and found["size"].key == "size"
        and calls == ["size"]
    )
    assert found["size"] is found[0] and found.keys() == ["size"] and len(found) == 1
    assert (
        calls == ["size", "nothing"]
        and "size" in found
        and "nothing" not in found
        and "other" not in found
    )


def test_a_surface_computes_what_it_shows():
    found = counted(calls := [])
    assert [each.key for each in found.select_surface(TEXT)] == ["size"] and calls == ["size"]
    assert [each.key for each in found.select_surface(FILES)] == ["size"] and calls == [
        "size",
        "nothing",
    ]


def test_an_unknown_key_names_those_known():
    found = counted([])
    with refused(ArgumentError, "'sise'", "'size'"):
        found["sise"]
    with refused(ArgumentError, "'nothing'"):
        found["nothing"]


def test_a_finding_that_fails_leaves_the_others():
    def fails(source, settings):
        raise ValueError("too many values")

    found = Findings(
        None,
        (
            FindingMaker("bad", "What?", BRIEF, fails),
            FindingMaker("good", "Who?", BRIEF, lambda *_: Finding("x")),
        ),
    )
    with pytest.warns(DefectWarning, match="'bad'.*ValueError") as caught:
        said(found["bad"].sentence, "ValueError")
    assert found["bad"].good is False and found["good"].sentence == "x"
    file = Path(str(caught[0].message).rpartition("the file '")[2].removesuffix("'."))
    assert "in fails\n    raise ValueError(" in file.read_text()
    file.unlink()
    stopped = Findings(
        None,
        (FindingMaker("bad", "What?", BRIEF, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)),),
    )
    with pytest.raises(KeyboardInterrupt):
        stopped["bad"]


def test_a_finding_that_fails_raises_in_tests():
    found = Findings(None, (FindingMaker("bad", "What?", BRIEF, lambda *_: 1 // 0),))
    with pytest.raises(DefectWarning, match="ZeroDivisionError"):
        found["bad"]


def test_a_finding_that_does_not_apply_says_why():
    def does_not_apply(source, settings):
        raise DataError("Set ", Setting("draws", 9), ".")

    found = Findings(None, (FindingMaker("bad", "What?", BRIEF, does_not_apply),))["bad"]
    assert found.format_sentences() == ["Set `draws=9`."] and found.good is False


def test_a_finding_is_frozen_and_json():
    table = pd.DataFrame(
        {"share": [0.25, np.nan], "who": [("a", "b"), ("c",)]},
        index=pd.Index(["x", "y"], name="option"),
    )
    made = Finding(
        "s",
        title="t",
        table=table,
        picture=Picture("ranks", "A picture.", (table,)),
        notes=("n",),
        key="k",
    )
    with pytest.raises(AttributeError):
        made.sentence = "other"
    held = json.loads(json.dumps(made.to_dict()))
    assert held["table"]["data"] == [[0.25, ["a", "b"]], [None, ["c"]]] and held["table"][
        "index"
    ] == ["x", "y"]
    assert held["picture"] == {"name": "ranks", "caption": "A picture."} and held["key"] == "k"
    assert "<strong>" in notebook(made) and "s\nn" in str(made)


# settings -----------------------------------------------------------------------------------------


def test_unknown_or_invalid_settings_of_findings_are_refused():
    model = by_likelihood()
    with refused(ArgumentError, "'seed'", "random_seed"):
        model.findings(seed=5)
    for wrong in (0, 1, 95):
        with refused(ArgumentError, "ci", "0", "1"):
            model.findings(ci=wrong)
    with refused(ArgumentError, "such as 'ci'"):
        th.findings(th.paired.transitivity(CELEBRITIES()), ci=0.5)
    with refused(ArgumentError, "findings"):
        th.findings([1, 2])


OF_FEW_PEOPLE = "segment_sizes"  # whose shares are as uncertain at any probability


def interval_columns_of(table):
    """The ends of every interval of a table, as pairs of columns."""
    for low in map(str, table.columns):
        stem, bracket, rest = low.partition("[")
        high = f"{stem[:-3]}high{bracket}{rest}"
        if (stem == "low" or stem.endswith("_low")) and high in table:
            yield table[low].to_numpy(float), table[high].to_numpy(float)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@of_models(TINY)
def test_every_interval_of_every_model_is_the_one_that_was_asked_for(name, few_replicates):
    wide, narrow = (fitted(name).findings(ci=ci, random_seed=1) for ci in (0.89, 0.5))
    for found in narrow:
        said = " ".join(
            [
                *found.format_sentences(),
                found.title,
                "" if found.picture is None else found.picture.caption,
            ]
        )
        assert "89 % interval" not in said and "89 % predictive" not in said
        if found.table is None or not (pairs := list(interval_columns_of(found.table))):
            continue
        assert found.table.attrs["interval"] == 0.5
        others = wide[found.key].table
        if set(others) < set(found.table):  # wide intervals of all amounts have no ends
            continue
        # whose rows are in the order of p-values, which replicates of one seed share
        if found.key == "check":
            names = [column for column in others if column not in ("low", "high", "missed")]
            pd.testing.assert_frame_equal(found.table[names], others[names])
        for (low, high), (lowest, highest) in zip(pairs, interval_columns_of(others), strict=True):
            known = ~np.isnan(low)
            assert (lowest[known] <= low[known]).all() and (high[known] <= highest[known]).all()
        width, before = (
            sum(np.nansum(high - low) for low, high in each)
            for each in (pairs, interval_columns_of(others))
        )
        assert found.key == OF_FEW_PEOPLE or width < before


def test_findings_are_the_same_ones_until_fit_or_settings_change():
    model = by_likelihood()
    first = model.findings()
    assert model.findings() is first and model.findings(ci=0.5) is not first
    model.fit(CELEBRITIES())
    assert model.findings() is not first


@pytest.mark.fit
def test_equal_settings_give_the_same_findings():
    model = fitted("hierarchical-logit")
    table = pd.DataFrame({"price": [5, 15], "brand": ["A", "B"], "zoom": ["no", "yes"]}, ["A", "B"])
    assert model.findings(ci=0.5) is model.findings(ci=0.5) is not model.findings()
    assert (
        model.findings(market=table)
        is model.findings(market=table)
        is not model.findings(market=table.copy())
    )
    for first, second in ((None, np.array([2, 3])), ([2, 3], None), ([2, 3], 2)):
        assert model.findings(segments=first) is not model.findings(segments=second)
    assert model.findings(market=table) is not model.findings() is not model.findings(market=table)


# tables and sentences -----------------------------------------------------------------------------


def test_intervals_are_low_and_high_and_columns_have_units(tmp_path):
    def described(table):
        result = th.paired.transitivity(CELEBRITIES())
        vars(result)["table"] = table
        return th.findings(result)["table"].table

    table = described(
        pd.DataFrame({"mean": [1.0], "low": [0.5], "high": [2.0], "mcse_mean": [0.1]})
    )
    assert list(table) == ["mean", "low", "high", "mcse_mean"]
    assert table.attrs["columns"]["mean"]["error"] == "mcse_mean"
    shares = described(
        pd.DataFrame(
            {"share": [0.5], "share_se": [0.1], "importance": [0.2], "importance_se": [0.1]}
        )
    )
    assert {name: each["error"] for name, each in shares.attrs["columns"].items()} == {
        "share": "share_se",
        "importance": "importance_se",
    }
    headed = printed(
        pd.DataFrame({"log_score_mcse": [0.1], "p_1": [0.5], "new_one": [1.0]}), tmp_path
    )
    assert headed[0] == ["MC error", "P(best)", "new one"]


def printed(table, folder):
    """The cells of a table on a page, row by row."""
    result = th.paired.transitivity(CELEBRITIES())
    vars(result)["table"] = table
    th.report.report(result, folder / "page.html")
    first = re.search(r"<table>.*?</table>", (folder / "page.html").read_text("utf-8"), re.DOTALL)[
        0
    ]
    return [
        re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)
        for row in re.findall(r"<tr>.*?</tr>", first)
    ]


def test_a_table_to_read_has_one_column_for_an_interval(tmp_path):
    table = pd.DataFrame(
        {"rank": [1.5, 2.0], "rank_low": [1.0, 1.0], "rank_high": [3.0, 2.0], "low": [0.1, 0.2]}
    )
    table = table.assign(high=[0.3, 0.4]).rename_axis("option")
    table.attrs["interval"] = 0.5
    shown = printed(table, tmp_path)
    assert shown[0] == ["option", "rank", "50 % interval", "50 % interval"]
    assert shown[1] == ["0", "1.500", "1 to 3", "0.100 to 0.300"]
    gap = pd.DataFrame({"wtp": [1.0, np.nan], "low": [0.5, np.nan], "high": [1.5, np.nan]})
    assert [row[-1] for row in printed(gap, tmp_path)[1:]] == ["0.500 to 1.500", "–"]
    votes = pd.DataFrame({"as_so_far": [0.5]}, index=pd.Index([1_500_000], name="more_votes"))
    assert printed(votes, tmp_path)[1:] == [["1,500,000", "0.500"]]
    assert printed(votes.rename_axis("period"), tmp_path)[1:] == [["1500000", "0.500"]]  # a name


def test_small_numbers_have_the_decimals_that_they_need(tmp_path):
    for name, values, wanted in (
        ("weight", [0.0004, 0.0008], ["0.00040", "0.00080"]),
        ("log_odds", [0.00087], ["0.00087"]),
        ("log_odds", [0.00087, 0.5, float("nan")], ["0.001", "0.500", "–"]),
        ("weight", [0.0004, 0.2], ["0.000", "0.200"]),
        ("rating", [1234.4, float("nan")], ["1,234", "–"]),
        ("n", [True, 3, "x"], ["yes", "3", "x"]),
    ):
        assert [row[-1] for row in printed(pd.DataFrame({name: values}), tmp_path)[1:]] == wanted


_SENTENCES = (
    "aspects.findings.english_sentences",
    "choice.reports.finding_sentences",
    "classify.classifier_findings",
)


@pytest.mark.parametrize("place", _SENTENCES)
def test_every_bracket_of_a_sentence_is_closed(place):
    sentences = import_module(f"thali._{place}").ENGLISH
    assert {
        key: text for key, text in sentences.items() if text.count("(") != text.count(")")
    } == {}


# every model --------------------------------------------------------------------------------------


# which are promised
COLUMNS = json.loads((PROJECT / "tests/cases/finding_columns.json").read_text("utf-8"))


def columns_of(table):
    """The names of a table's index, if it has any, and of its columns."""
    names = [
        *(str(name) for name in table.index.names if name is not None),
        # how often each chain found a feature, where chains disagree
        *(str(name) for name in table.columns if not re.fullmatch(r"chain \d", str(name))),
    ]
    # few draws tell how many
    return list(dict.fromkeys(re.sub(r"^(segment|dimension) \d$", r"\1 1", name) for name in names))


def documented():
    page = (PROJECT / "docs/how_to/findings.md").read_text("utf-8").partition("## Columns")[0]
    cells = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    return [key for cell in cells for key in re.findall(r"`(\w+)`", cell)]


def test_every_model_says_where_its_findings_are():
    for spec in SPECS:
        model = spec.load()
        for home in (
            model._FINDINGS,
            *(engine.findings for engine in model._ENGINES.values() if engine.findings),
        ):
            assert callable(import_module(home).list_makers)
            assert home != "thali._model.common_findings"


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@of_models(TINY)
def test_keys_are_documented_and_pictures_are_there(name):
    found = list(fitted(name).findings())
    keys = [each.key for each in found]
    tables, promised = (
        {each.key: each.table for each in found if each.table is not None},
        dict(COLUMNS[name]),
    )
    if "segment_numbers" not in tables:  # where several numbers cannot be told apart
        promised.pop("segment_numbers", None)
    found_columns = {key: columns_of(table) for key, table in tables.items()}
    for key, columns in promised.items():
        if key == "individual_willingness_to_pay" and "wtp_low" not in found_columns[key]:
            # no amount of anybody has an end
            promised[key] = [column for column in columns if column not in ("wtp_low", "wtp_high")]
    assert found_columns == promised
    assert len(set(keys)) == len(keys) and set(keys) <= set(documented())
    assert keys[-1] == "convergence" and keys[0] == "asked"
    for each in found:
        assert each.sentence or each.table is not None or each.notes or each.picture, each.key
        assert each.picture is None or each.picture.name in th.plots.__all__
        assert "could not be computed" not in str(each.sentence)
        json.dumps(each.to_dict())


@pytest.mark.fit  # ranks are drawn
def test_keys_of_comparisons_are_documented(few_draws):
    by_prediction, by_evidence = (
        compare(),
        compare(
            {"BTL": th.EliminationByAspects("unique")}, by="evidence", draws=10, sensitivity=True
        ),
    )
    keys = [*th.findings(by_prediction).keys(), *th.findings(by_evidence).keys()]
    assert {"chains", "scores", "sensitivity", "temperatures"} <= set(keys) <= set(documented())
    assert len(set(documented())) == len(documented())
    assert {PAGE} == set(SHOWN)
    board = th.findings(th.leaderboard(CELEBRITIES(), progressbar=False))
    keys = "leaderboard groups votes reliability order votes_by_pair check data methods".split()
    assert board.keys() == keys
    assert board["order"].table.shape == (36, 4) and set(board.keys()) <= set(documented())
    assert th.findings(th.paired.transitivity(CELEBRITIES())).keys()[0] == "table"


def test_a_small_number_among_large_ones_has_two_digits_of_how_sure_it_is(tmp_path):
    """A slope of a price by its interval or its standard error, and both of them; other rows as
    they were."""
    columns = ["mean", "sd", "low", "high", "mcse_mean", "ess_bulk"]
    drawn = [
        [3.531, 0.222, 3.183, 3.893, 0.0038, 3368.0],
        [-0.01072, 0.00049, -0.01149, -0.00994, 0.0000087, 3236.0],
    ]
    table = pd.DataFrame(drawn, ["inside", "price"], columns)
    slope = ["price", "-0.0107", "0.00049", "-0.0115 to -0.0099", "0.000009", "3,236"]
    assert printed(table, tmp_path)[1:] == [
        ["inside", "3.531", "0.222", "3.183 to 3.893", "0.0038", "3,368"],
        slope,
    ]
    table = pd.DataFrame(
        [[2.655, 0.163, 16.281], [-0.00892, 0.00047, -18.842]],
        ["inside", "price"],
        ["coef", "std_error", "z"],
    )
    assert printed(table, tmp_path)[1:] == [
        ["inside", "2.655", "0.163", "16.281"],
        ["price", "-0.0089", "0.00047", "-18.842"],
    ]
    table.attrs["monte_carlo"] = True  # which says nothing of how sure the data are
    assert printed(table, tmp_path)[2] == ["price", "-0.009", "0.000", "-18.842"]
    shares = pd.DataFrame(
        {"share": [0.3, 0.095], "share_low": [0.28, 0.089], "share_high": [0.32, 0.101]}, ["a", "b"]
    )
    assert printed(shares, tmp_path)[1:] == [
        ["a", "0.300", "0.280 to 0.320"],
        ["b", "0.095", "0.089 to 0.101"],
    ]
