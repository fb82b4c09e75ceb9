"""The data sets: those that come with thali, and simulated ones, as JSON holds them.

Each function of `SETS` returns a data set of its name. The first line of its docstring is the
title, the others say what the fields hold.
"""

import numpy as np

import thali as th

PROFESSIONS = {
    "politician": ("LBJ", "HW", "CDG"),
    "athlete": ("JU", "CY", "AJF"),
    "star": ("BB", "ET", "SL"),
}
# Table 1 of Navarro and Griffiths (2007).
FEATURES_OF_NUMBERS = ("248", "012", "369", "6789", "23456", "13579", "123", "45678")


def celebrities():
    """Choices of 234 people among nine celebrities (Rumelhart and Greeno 1971).

    counts[i][j]: how often i was chosen over j; aspects: what is known of each; tree: the
    professions, in Newick.
    """
    data = th.datasets.celebrities()
    tree = th.Tree.from_groups(
        {name: list(members) for name, members in PROFESSIONS.items()}, leaf_length=0.1
    )
    aspects = {
        label: [name for name, members in PROFESSIONS.items() if label in members]
        for label in data.labels
    }
    return _pairs(data) | {"aspects": aspects, "tree": tree.to_newick()}


def paris_rome():
    """Trips to Paris and Rome, with and without a bonus: expected choices (Görür, Jäkel and
    Rasmussen 2006).

    counts[i][j]: how often i was chosen over j.
    """
    return _pairs(th.datasets.paris_rome(expected=True))


def two_options():
    """Two options, each chosen 30 times.

    counts[i][j]: how often i was chosen over j. The posterior is known exactly.
    """
    return {"labels": ["a", "b"], "counts": [[0, 30], [30, 0]]}


def blocks():
    """Simulated choices between options in three groups, whose aspects follow a tree.

    counts[i][j]: how often i was chosen over j; tree: that of the groups, in Newick.
    """
    made = th.datasets.block_choices(groups=3, per_group=2, comparisons=20, random_seed=1)
    return _pairs(made.data) | {"tree": made.tree.to_newick()}


def games():
    """Simulated games of five players, a quarter of which end in a tie.

    counts[i][j]: how often i beat j; ties[i][j]: how often neither did.
    """
    rng = np.random.default_rng(11)
    worth = np.array([3.0, 2.0, 1.5, 1.0, 0.5])
    counts, ties = np.zeros((2, 5, 5), int)
    for i in range(5):
        for j in range(i + 1, 5):
            p = worth[i] / (worth[i] + worth[j])
            r = 0.7 * np.sqrt(p * (1.0 - p))
            counts[i, j], counts[j, i], ties[i, j] = rng.multinomial(
                20, np.array([p, 1.0 - p, r]) / (1.0 + r)
            )
            ties[j, i] = ties[i, j]
    return {"labels": list("ABCDE"), "counts": counts.tolist(), "ties": ties.tolist()}


def sets():
    """Simulated choices out of sets of two to five options, two of which share an aspect.

    rows: one option of one set each.
    """
    rng = np.random.default_rng(13)
    aspects = {"a": ["A", "sweet"], "b": ["B", "sweet"], "c": ["C"], "d": ["D"], "e": ["E"]}
    weights = {"A": 0.5, "B": 0.4, "C": 1.0, "D": 0.8, "E": 0.6, "sweet": 2.0}
    rows, number = {"set": [], "option": [], "chosen": [], "times": []}, 0
    for offered in ("abcde", "abc", "bcd", "ade", "ab", "ce"):
        p = th.likelihoods.elimination_probabilities(list(offered), aspects, weights)
        for best, times in enumerate(rng.multinomial(25, p)):
            if times:
                number += 1
                for place, option in enumerate(offered):
                    _add(rows, (number, option, int(place == best), int(times)))
    return {"rows": rows}


def two_judges():
    """Two options, of which one judge chose one 9 times out of 10, and the other 5 times.

    rows: one choice each: who judged, the two options, and the chosen one. The posterior is known
    exactly.
    """
    return {"rows": _repeated("judge", {"p": (9, 1), "q": (5, 5)})}


def judges():
    """Simulated choices of six judges, who see the worths of five options more and more sharply.

    rows: one choice each: who judged, the two options, and the chosen one.
    """
    rng = np.random.default_rng(22)
    log_worth, sharpness = np.array([1.2, 0.6, 0.0, -0.6, -1.2]), np.exp(np.linspace(-1.0, 1.0, 6))
    rows = {name: [] for name in ("judge", "first", "second", "chosen")}
    for judge, d in enumerate(sharpness):
        for _ in range(30):
            i, j = rng.permutation(5)[:2]
            first = rng.random() < 1.0 / (1.0 + np.exp(-d * (log_worth[i] - log_worth[j])))
            _add(rows, (f"j{judge}", "abcde"[i], "abcde"[j], "abcde"[i if first else j]))
    return {"rows": rows}


def three_seasons():
    """Two options in three seasons, in which one was chosen 8 times, 5 times and once out of 10.

    rows: one choice each: the season, the two options, and the chosen one. The posterior is known
    exactly.
    """
    return {"rows": _repeated("season", {1: (8, 2), 2: (5, 5), 3: (1, 9)})}


def seasons():
    """Simulated games of four players in four seasons, one of whom becomes better from each to the
    next.

    rows: one game each: the season, the two players, and the winner.
    """
    rng = np.random.default_rng(23)
    rows = {name: [] for name in ("season", "first", "second", "chosen")}
    for season in range(4):
        log_worth = np.array([0.8, 0.0, -0.5, -1.2 + 0.7 * season])
        for _ in range(25):
            i, j = rng.permutation(4)[:2]
            first = rng.random() < 1.0 / (1.0 + np.exp(log_worth[j] - log_worth[i]))
            _add(rows, (season + 1, "wxyz"[i], "wxyz"[j], "wxyz"[i if first else j]))
    return {"rows": rows}


def trials():
    """Simulated trials of four options, in which the first and the louder one is favoured.

    rows: one trial each: the first and the second option, the chosen one, and by how much the first
    is louder.
    """
    rng = np.random.default_rng(19)
    worth = np.array([3.0, 2.0, 1.0, 0.5])
    rows = {name: [] for name in ("first", "second", "chosen", "louder")}
    for _ in range(120):
        i, j = rng.permutation(4)[:2]
        louder = round(rng.normal(), 2)
        odds = worth[i] / worth[j] * np.exp(0.4 + 0.6 * louder)
        chosen = i if rng.random() < odds / (1.0 + odds) else j
        _add(rows, ("abcd"[i], "abcd"[j], "abcd"[chosen], louder))
    return {"rows": rows}


def numbers():
    """Similarities of the numbers 0 to 9 (Shepard, Kilpatric and Cunningham 1975).

    similarity[i][j]: on a scale of 0 to 1, null on the diagonal; sigma: standard deviation, where
    it is taken as known; features: those that Navarro and Griffiths (2007) name, where they are
    taken as known.
    """
    features = {str(i): [name for name in FEATURES_OF_NUMBERS if str(i) in name] for i in range(10)}
    return _similarities(th.datasets.numbers()) | {"features": features}


def objects():
    """Simulated similarities of eight objects with six features.

    similarity[i][j]: null on the diagonal; sigma: standard deviation, known.
    """
    made = th.datasets.additive(8, random_seed=1).data
    scaled = (made.matrix / np.nanmax(made.matrix)).round(6)
    return _similarities(th.Similarities(scaled, made.labels, sigma=0.05))


def odd_ones():
    """Simulated odd ones out of three of six objects, by three features.

    triplets: rows of three objects, numbered from 0 in the order of the labels, the odd one last.
    """
    made = th.datasets.triplets(6, 90, random_seed=5, n_features=3, share_of_owners=0.4).data
    rows = []
    for number in range(made.n_sets):
        pairs = made.pairs_of(number)
        objects = {side for pair in pairs for side in pair}
        counts = made.counts[made.start[number] : made.start[number + 1]].astype(int)
        for pair, times in zip(pairs, counts.tolist(), strict=True):
            rows += [[*map(int, pair), *(int(each) for each in objects - set(pair))]] * times
    return {"labels": list("abcdef"), "triplets": rows}


def words():
    """Simulated answers of forty people: which of six words go together?

    yes[i][j]: how many of the people asked say so; leak: share of yes about words that have nothing
    in common.
    """
    rng = np.random.default_rng(15)
    features = np.array([[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 0, 0, 0, 1, 1]]).T
    no = 0.95 * np.exp(-(features * [1.5, 1.0, 2.0]) @ features.T)
    yes = np.triu(rng.binomial(40, 1.0 - no), 1)
    labels = ["bank", "money", "loan", "river", "water", "boat"]
    return {"labels": labels, "yes": (yes + yes.T).tolist(), "asked": 40, "leak": 0.05}


def messages():
    """Simulated numbers of messages between seven people, who meet in three circles.

    messages[i][j]: of the pair; days: how long was counted; rate: messages a day of people with no
    circle in common.
    """
    rng = np.random.default_rng(16)
    circles = np.array([[1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1]]).T
    mean = 7.0 * (0.3 + (circles * [1.0, 2.0, 1.5]) @ circles.T)
    counts = np.triu(rng.poisson(mean), 1)
    labels = ["Ada", "Ben", "Cem", "Dora", "Eva", "Finn", "Gil"]
    return {"labels": labels, "messages": (counts + counts.T).tolist(), "days": 7.0, "rate": 0.3}


def three_classes():
    """Simulated rows of three classes with three covariates, one of which says nothing.

    X[i]: covariates of a row; y[i]: its class.
    """
    rng = np.random.default_rng(17)
    X = rng.normal(size=(40, 3)).round(3)
    scores = np.column_stack([np.zeros(40), 2.0 * X[:, 0], X[:, 1] - X[:, 0]]) + rng.gumbel(
        size=(40, 3)
    )
    return {"X": X.tolist(), "y": ["abc"[k] for k in scores.argmax(axis=1)]}


def products():
    """A simulated choice experiment of ten people with six tasks of three products each.

    rows: one product of one task each; levels: of every attribute, in order; monotone: in which
    direction preferences rise, where it is known.
    """
    made = th.datasets.product_choices(10, 6, random_seed=1)
    frame = made.data.to_frame()
    levels = {name: list(map(str, found)) for name, found in made.data.levels.items()}
    rows = {str(name): [_plain(value) for value in column] for name, column in frame.items()}
    return {"rows": rows, "levels": levels, "monotone": made.monotone}


SETS = {
    made.__name__: made
    for made in (
        celebrities,
        paris_rome,
        two_options,
        blocks,
        games,
        two_judges,
        judges,
        three_seasons,
        seasons,
        trials,
        sets,
        numbers,
        objects,
        odd_ones,
        words,
        messages,
        three_classes,
        products,
    )
}


def _pairs(data):
    """Paired comparisons as JSON holds them."""
    return {"labels": list(data.labels), "counts": data.counts.tolist()}


def _repeated(column, counts):
    """Choices between a and b as rows, so often of either under each value of a column."""
    rows = {name: [] for name in (column, "first", "second", "chosen")}
    for value, of_either in counts.items():
        for option, times in zip("ab", of_either, strict=True):
            for _ in range(times):
                _add(rows, (value, "a", "b", option))
    return rows


def _add(rows, row):
    """Append a row to columns."""
    for name, value in zip(rows, row, strict=True):
        rows[name].append(value)


def _similarities(data):
    """Similarities as JSON holds them."""
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in data.matrix]
    return {"labels": list(data.labels), "similarity": rows, "sigma": data.sigma}


def _plain(value):
    """A cell as JSON holds it."""
    return value.item() if isinstance(value, np.generic) else value
