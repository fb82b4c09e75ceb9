"""What every kind of judgement says of itself under one name."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned

import thali as th
import thali._data.kinds as kinds
from thali._data.base_classes import merge_new_data
from thali._model.model_files import decode_arrays, encode_arrays
from thali.errors import DataError, DataWarning

PAIRS = th.PairedComparisons([[0, 7, 0], [3, 0, 0], [0, 0, 0]], labels=["tea", "milk", "beer"])
TIED = th.PairedComparisons([[0, 7], [3, 0]], labels=["tea", "milk"], ties=[[0, 2], [2, 0]])
SETS = th.Choices.from_rankings([["tea", "milk", "beer"], ["milk", "tea", "beer"]])
BEST_WORST = th.Choices.from_best_worst(
    pd.DataFrame(dict(item1=["tea"], item2=["milk"], item3=["water"], best=["milk"], worst=["tea"]))
)
ALIKE = th.Similarities(
    [[1, 0.8, np.nan], [0.8, 1, np.nan], [np.nan, np.nan, 1]], labels=["tea", "milk", "wall"]
)
TRIPLETS = th.Triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1)], labels=["tea", "coffee", "brick", "wall"])


TRIALS = pd.DataFrame(
    {
        "left": ["tea", "milk"],
        "right": ["milk", "tea"],
        "winner": ["tea", "tie"],
        "judge": ["x", "y"],
    }
).assign(age=[30, 40], longer=[1.5, -1.0], day=["2024-01-30", "2024-02-01"])
JUDGED = dict.fromkeys("ab", [[1, 0.8, 0.3], [0.8, 1, 0.5], [0.3, 0.5, 1]])
TASKS = pd.DataFrame(
    {"id": list("aabb"), "task": 1, "choice": [1, 0] * 2, "price": [5, 9] * 2, "zoom": list("nyyn")}
)
EVERY = {
    "pairs": PAIRS,
    "ties": TIED,
    "trials": th.PairedComparisons.from_trials(
        TRIALS, respondent="judge", covariates=["longer"], date="day"
    ),
    "choices": SETS,
    "best and worst": BEST_WORST,
    "similarities": ALIKE,
    "judgements": th.Similarities.from_respondents(JUDGED),
    "triplets": TRIPLETS,
    "experiment": th.ChoiceExperiment.from_frame(TASKS, missing="?", bins={"price": 2}),
}
AGAIN = {
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda data: pickle.loads(pickle.dumps(data)),
}


@pytest.mark.parametrize("data", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)
def test_a_copy_is_equal_and_nothing_can_be_changed(data, again):
    twin = again(data)
    assert twin == data and repr(twin) == repr(data) and twin != "data"
    assert all(twin != other for other in EVERY.values() if other is not data)
    for name, value in vars(twin).items():
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(twin, name, value)
        with pytest.raises(AttributeError):
            delattr(twin, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name
    with pytest.raises(TypeError):
        hash(twin)
    assert decode_arrays(encode_arrays(data)) == data


@pytest.mark.parametrize(
    ("data", "kind", "answers", "never", "ties", "choices"),
    [
        (PAIRS, kinds.PAIRS, "10 comparisons", ["beer"], 0, True),
        (TIED, kinds.PAIRS, "12 comparisons", [], 2, True),
        (SETS, kinds.CHOICES, "4 choices", [], 0, True),
        (BEST_WORST, kinds.CHOICES, "1 choice", [], 0, True),
        (ALIKE, kinds.SIMILARITIES, "1 similarity", ["wall"], 0, False),
        (TRIPLETS, kinds.TRIPLETS, "3 answers", ["wall"], 0, False),
    ],
)
def test_every_kind_answers(data, kind, answers, never, ties, choices):
    assert (data.kind, data.answers_in_words, data.never_judged) == (kind, answers, never)
    assert (data.n_ties, data.are_choices, data.covariate_names) == (ties, choices, ())
    assert data.without_ties("drop").n_ties == 0 and data.with_covariates([]).labels == data.labels


@pytest.mark.parametrize(
    ("data", "sizes", "counts"),
    [
        (PAIRS, [2], [7, 3]),
        (TIED, [3], [7, 2, 3]),
        (SETS, [2, 2, 3], [1, 0, 1, 0, 1, 1, 0]),
        (TRIPLETS, [3], [2, 1, 0]),
    ],
)
def test_answers_are_counted_by_question(data, sizes, counts):
    asked = data.questions()
    assert asked.sizes.tolist() == sizes and asked.counts.tolist() == counts


def test_what_a_kind_lacks_is_nothing_or_refused():
    assert ALIKE.questions() is None and ALIKE.example() == ""
    for data in (ALIKE, TRIPLETS):
        with refused(DataError, "comparisons or choices"):
            data.with_covariates(["price"])
        with refused(DataError, "comparisons or choices"):
            data.with_option_covariates(pd.DataFrame({"price": [1.0, 2.0, 3.0]}))
    for data in (ALIKE, TRIPLETS):
        with refused(DataError, "identify respondents"):
            data.by_respondent()
        with refused(DataError, "This analysis requires PairedComparisons"):
            data.to_comparisons()


def test_a_refusal_of_groups_says_nothing_untrue():
    frame = pd.DataFrame(
        [("Anna", "f", "tea", "milk", 0.8), ("Ben", "m", "tea", "milk", 0.6)],
        columns=["judge", "sex", "first", "second", "similarity"],
    )
    judged = th.Similarities.from_frame(frame)
    # who answered is known
    assert judged.respondents == ("Anna", "Ben") and list(judged.people.columns) == ["sex"]
    for data in (judged, ALIKE):
        with pytest.raises(DataError, match="^Similarities cannot be divided into groups; read"):
            data.by_group("sex")
    with refused(DataError, "identify respondents"):
        TRIPLETS.by_group("sex")


def test_judges_whose_names_are_numbers_stay_the_same_people():
    frame = pd.DataFrame(
        {"judge": [1, 2, 3], "rank1": ["tea", "milk", "tea"], "rank2": ["milk", "tea", "beer"]}
    )
    data = th.Choices.from_rankings(frame)
    assert merge_new_data(data, data).respondents == data.respondents == ("1", "2", "3")


@pytest.mark.parametrize(
    ("data", "respondents"),
    [(TIED, TIED.respondents), (SETS, tuple(f"ranking {k}" for k in (1, 2, 3, 4)))],
)
def test_further_answers_join_and_who_is_known_stays_so(data, respondents):
    more = merge_new_data(data, data)  # of rankings nobody says who made them
    assert more.labels == data.labels and more.respondents == respondents
    assert more.questions().counts.tolist() == (2 * data.questions().counts).tolist()


def by_people(*rows):
    """Comparisons of people with an age in a week, and the same as choices."""
    frame = pd.DataFrame(rows, columns=["left", "right", "winner", "judge", "age", "week"])
    pairs = th.PairedComparisons.from_trials(frame, respondent="judge")
    return pairs, th.Choices.from_comparisons(pairs)


@pytest.mark.parametrize("kind", [0, 1])
def test_what_differs_within_a_person_describes_people_no_longer(kind):
    old = by_people(("tea", "milk", "tea", "Ann", 30, 1), ("tea", "milk", "milk", "Bo", 40, 1))[
        kind
    ]
    same, later, empty = (
        by_people(("tea", "milk", "tea", "Ann", age, 2), ("tea", "milk", "tea", "Cy", 50, 2))[kind]
        for age in (30, 31, None)
    )
    assert old.with_more(same).people.to_dict() == {"age": {"Ann": 30, "Bo": 40, "Cy": 50}}
    for new, value in ((later, "31"), (empty, "empty")):
        with warned(
            DataWarning,
            "'age' of respondent 'Ann'",
            "is 30 in some",
            f"{value} in others",
            "('age')",
        ):
            together = old.with_more(new)
        assert together.people is None and together.respondents == ("Ann", "Bo", "Cy")


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        (ALIKE, ALIKE, ("fitted to Similarities",)),
        (BEST_WORST, SETS, ("fitted to Choices",)),
        (SETS, None, ("NoneType",)),
        (PAIRS, SETS, ("PairedComparisons",)),
        (TIED, PAIRS, ("'beer'",)),
    ],
)
def test_data_that_cannot_be_merged_are_refused(old, new, facts):
    with refused(DataError, *facts):
        merge_new_data(old, new)
