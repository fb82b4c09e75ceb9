"""Trials of three varieties per farm (tricot), as ClimMob, gosset and R-Instat write them."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused
from scipy.stats import kendalltau

import thali as th
from thali.errors import DataError

VARIETIES = ("Altahir", "Hidase", "Huluka", "Kakaba", "Ogolcho")
ITEMS = tuple(f"package_item_{letter}" for letter in "ABC")
# best and worst answer, and the ranks of A, B and C that they mean
ANSWERS = {
    ("A", "C"): (1, 2, 3),
    ("B", "A"): (3, 1, 2),
    ("C", "B"): (2, 3, 1),
    ("Tie", "B"): (1, 2, 1),
    ("C", "Tie"): (2, 2, 1),
    ("Tie", "Tie"): (1, 1, 1),
    ("Not observed", "Not observed"): None,
    ("A", "Not observed"): None,
}


def draw_trial(n_farms=60, n_tied=9, traits=("overallperf",)):
    """Return a table of a trial and, by trait, the ranks of A, B and C on each farm."""
    generator = random.Random(20261129)
    weights = [6] * 3 + [n_tied / 3] * 3 + [n_tied / 2] * 2
    rows = []
    ranks_by_trait = {trait: [] for trait in traits}
    for farm in range(n_farms):
        row = {"id": farm + 1, "REG_gender": generator.choice(("Woman", "Man"))}
        row |= zip(ITEMS, generator.sample(VARIETIES, 3), strict=True)
        for trait in traits:
            (answer,) = generator.choices(list(ANSWERS), weights)
            row |= {f"{trait}_pos": answer[0], f"{trait}_neg": answer[1]}
            ranks_by_trait[trait].append(ANSWERS[answer])
        rows.append(row)
    return pd.DataFrame(rows), ranks_by_trait


def read_ranks(frame, ranks):
    """Read a long table of the ranks: the option and its rank in each row."""
    rows = [
        (row["id"], row[name], rank)
        for (_, row), farm_ranks in zip(frame.iterrows(), ranks, strict=True)
        for name, rank in zip(ITEMS, farm_ranks or (), strict=bool(farm_ranks))
    ]
    return th.read(pd.DataFrame(rows, columns=["id", "option", "rank"]))


def list_choices(data):
    """Return (respondent, set, chosen options) of each choice, sorted."""
    frame = data.to_frame()
    answers = frame.groupby(["respondent", "choice_id"])
    return sorted(
        (
            str(person),
            tuple(sorted(rows["alternative"])),
            tuple(sorted(rows["alternative"][rows["chosen"] > 0])),
        )
        for (person, _), rows in answers
    )


@pytest.mark.long
@pytest.mark.first(5)
@pytest.mark.parametrize(
    ("items", "answers"),
    [
        (ITEMS, ("overallperf_pos", "overallperf_neg")),
        (("variety_a", "variety_b", "variety_c"), ("overall_best", "overall_worst")),
        (("item_A", "item_B", "item_C"), ("best_overallperf", "worst_overallperf")),
        (("option_a", "option_b", "option_c"), ("char_Yield_pos", "char_Yield_neg")),
    ],
)
@pytest.mark.parametrize("words", [{}, {"Tie": "tie", "Not observed": None}], ids=["", "R"])
def test_ties_are_rankings_and_unobserved_answers_are_counted(items, answers, words):
    frame, ranks_by_trait = draw_trial()
    ranks = ranks_by_trait["overallperf"]
    expected = read_ranks(frame, ranks)
    named = dict(
        zip((*ITEMS, "overallperf_pos", "overallperf_neg"), (*items, *answers), strict=True)
    )
    data = th.read(frame.rename(columns=named).replace(words))
    assert list_choices(data) == list_choices(expected)
    n_tied = sum(len({*row}) < 3 for row in ranks if row)
    assert f"because {n_tied} answers have ties" in data.read_as
    n_dropped = ranks.count((1, 1, 1))
    assert f"{n_dropped} rows without an answer ('ties of all options') dropped" in data.read_as
    assert f"{ranks.count(None)} rows without an answer dropped" in data.read_as
    assert data.people["REG_gender"].isin(["Woman", "Man"]).all()


def test_answers_without_ties_are_best_and_worst():
    data = th.read(draw_trial(n_tied=0)[0])
    assert data.worst is not None and "rankings" not in data.read_as


def test_in_larger_sets_all_options_that_are_not_named_are_in_unknown_order():
    columns = ["item_a", "item_b", "item_c", "item_d", "best", "worst"]
    answers = [("A", "B"), ("Tie", "C"), ("B", "Tie"), ("Tie", "Tie")]
    frame = pd.DataFrame([(*"wxyz", *answer) for answer in answers], columns=columns)
    data = th.read(frame.assign(respondent=list("ijkl")))
    rankings = ["w > y = z > x", "w = x = z > y", "x > w = y = z"]
    expected = th.read(pd.DataFrame({"respondent": list("ijk"), "ranking": rankings}))
    assert list_choices(data) == list_choices(expected)
    assert "3 answers have ties; options between the best and the worst count as tied" in (
        data.read_as
    )


RANKED = pd.DataFrame(
    [("w", "x", "y", "z", 1, 1, 3, 4), ("z", "w", "x", None, 2, 3, 1, np.nan)],
    columns=[*(f"item_{letter}" for letter in "ABCD"), *(f"rank_{letter}" for letter in "ABCD")],
)


@pytest.mark.parametrize(
    ("item", "rank"),
    [
        ("item_{}", "rank_{}"),
        ("package_item_{}", "yield_PosItem{}"),
        ("variety_{}", "variety_{}_position"),
    ],
)
def test_ranks_of_the_items_of_a_package_are_those_of_the_items_in_its_cells(item, rank):
    names = {f"item_{letter}": item.format(letter) for letter in "ABCD"}
    names |= {f"rank_{letter}": rank.format(letter) for letter in "ABCD"}
    data = th.read(RANKED.assign(id=["i", "j"]).rename(columns=names))
    rankings = pd.DataFrame({"id": ["i", "j"], "ranking": ["w = x > y > z", "x > z > w"]})
    assert list_choices(data) == list_choices(th.read(rankings))


def test_positions_of_items_beside_their_choice_are_no_ranks():
    frame = pd.concat([RANKED] * 4, ignore_index=True).assign(id=range(8), chosen=list("xzyxwwxz"))
    data = th.read(frame.replace(dict(zip("wxyz", VARIETIES, strict=False))))
    assert "choice in 'chosen'" in data.read_as and data.n_ties == 0


def test_ranks_of_several_traits_are_refused():
    second = RANKED.filter(like="rank").add_prefix("taste_")
    with refused(DataError, "'rank_A'", "'taste_rank_A'", "without"):
        th.read(RANKED.join(second))
    data = th.read(RANKED.join(second), without=list(second))
    assert data.labels == ("w", "x", "y", "z")


def test_a_trait_is_chosen_by_its_name():
    traits = ("overallperf", "yield", "taste")
    frame, ranks_by_trait = draw_trial(n_farms=20, traits=traits)
    with refused(DataError, "'overallperf', 'yield' and 'taste'", "`trait`"):
        th.read(frame)
    with refused(DataError, "`trait`", "'yeild'", "Did you mean 'yield'"):
        th.read(frame, trait="yeild")
    for trait in traits:
        data = th.read(frame.assign(**{"yield": 3.5}), trait=trait.upper())
        assert list_choices(data) == list_choices(read_ranks(frame, ranks_by_trait[trait]))
        assert list(data.people) == ["REG_gender", "yield"] or trait != "taste"


def test_agreement_between_traits_is_kendalls_tau():
    frame, ranks_by_trait = draw_trial(traits=("overallperf", "yield"))
    taus = [
        kendalltau(first, second).statistic
        for first, second in zip(*ranks_by_trait.values(), strict=True)
        if first and second
    ]
    taus = [tau for tau in taus if not math.isnan(tau)]
    clause = f"Kendall's tau of yield with other traits: overallperf {np.mean(taus):.2f}"
    assert f"{clause} ({len(taus)} answers)" in th.read(frame, trait="yield").read_as


def test_farms_with_two_varieties_weigh_less_in_the_mean_tau():
    rows = [("A", "C", "A", "C"), ("A", "B", "B", "A")]
    columns = ["overall_pos", "overall_neg", "yield_pos", "yield_neg"]
    items = pd.DataFrame([VARIETIES[:3], (*VARIETIES[:2], None)], columns=ITEMS)
    data = th.read(items.join(pd.DataFrame(rows, columns=columns)), trait="overall")
    mean_tau = (3 * 1.0 - 1.0) / 4  # three pairs that agree, and one that does not
    assert f"yield {mean_tau:.2f} (2 answers)" in data.read_as


def test_a_long_table_of_several_traits_is_read_by_a_condition():
    rows = [
        (farm, variety, trait, rank)
        for farm, shown in enumerate((VARIETIES[:3], VARIETIES[1:4], VARIETIES[2:]))
        for trait in ("Vigor", "Yield")
        for rank, variety in enumerate(shown, start=1)
    ]
    frame = pd.DataFrame(rows, columns=["id", "item", "trait", "rank"])
    with refused(DataError, "listed twice", "'trait'", "Vigor"):
        th.read(frame)
    assert th.read(frame, where="trait == 'Vigor'").n_choices == 6
