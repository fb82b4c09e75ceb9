"""The simulated tables of the pages. The site executes pages anew only where their text changed:
after a change here, remove the folder .jupyter_cache of the site.
"""

import itertools

import numpy as np
import pandas as pd

import thali as th


def drinks() -> pd.DataFrame:
    """A hundred participants compare all pairs of eight drinks, hot and fizzy ones among them."""
    options = ["tea", "coffee", "cocoa", "cola", "tonic", "soda", "milk", "juice"]
    value = dict(zip(options, [0.2, 0.9, 0.4, 0.8, 0.1, 0.3, 1.5, 2.5], strict=True))
    shared = [({"tea", "coffee", "cocoa"}, 2.0), ({"cola", "tonic", "soda"}, 1.5)]
    rng, rows = np.random.default_rng(6), []
    for participant in range(1, 101):
        for left, right in itertools.combinations(rng.permutation(options), 2):
            weight = {left: value[left], right: value[right]}
            for owners, w in shared:
                if (left in owners) != (right in owners):
                    weight[left if left in owners else right] += w
            p = weight[left] / (weight[left] + weight[right])
            chosen = "left" if rng.random() < 0.99 * p + 0.005 else "right"
            rows.append((f"P{participant:03d}", left, right, chosen))
    return pd.DataFrame(rows, columns=["participant", "left", "right", "chosen"])


def best_and_worst() -> pd.DataFrame:
    """120 respondents answer eight sets of four items; every third has the opposite taste."""
    rng, rows = np.random.default_rng(1), []
    names = ["Price", "Taste", "Organic", "Brand", "Packaging", "Origin", "Calories", "Offer"]
    items = np.array(names)
    for respondent in range(1, 121):
        young = respondent % 3 == 0
        worth = np.linspace(1.4, -1.4, 8)[:: -1 if young else 1] + 0.6 * rng.normal(size=8)
        for task in range(1, 9):
            shown = rng.choice(8, 4, replace=False)
            order = shown[np.argsort(-(worth[shown] + rng.gumbel(size=4)))]
            age = "18-34" if young else "35+"
            rows.append([respondent, task, *items[shown], items[order[0]], items[order[-1]], age])
    sets = ["item1", "item2", "item3", "item4"]
    return pd.DataFrame(rows, columns=["respondent", "task", *sets, "best", "worst", "age"])


def cameras() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A design of ten tasks with three cameras or none, and the answers of 120 respondents."""
    attributes = {
        "brand": ["Aika", "Bora", "Cleo"],
        "price": [100, 150, 200, 250],
        "zoom": ["3x", "6x", "10x"],
        "wifi": ["no", "yes"],
    }
    design = th.designs.choice(
        attributes, tasks=10, alternatives=3, versions=4, none=True, random_seed=1
    )
    rng, rows = np.random.default_rng(1), []
    means, spreads = [0.5, -0.3, -1.0, 0.5, 1.0, 0.6], [0.8, 0.8, 0.6, 0.4, 0.7, 0.4]
    for respondent in range(1, 121):
        version, taste = respondent % 4 + 1, rng.normal(means, spreads)
        shown = design[(design["version"] == version) & (design["alternative"] != "none")]
        brand, price = shown["brand"], shown["price"].astype(float)
        columns = [brand == "Bora", brand == "Cleo", price / 50 - 3]
        columns += [shown["zoom"] == "6x", shown["zoom"] == "10x", shown["wifi"] == "yes"]
        utility = (np.column_stack(columns).astype(float) @ taste).reshape(10, 3)
        utility = np.column_stack([utility, np.full(10, -0.5)]) + rng.gumbel(size=(10, 4))
        region = rng.choice(["north", "south"])
        rows.append([respondent, version, region, *(utility.argmax(axis=1) + 1)])
    questions = [f"Q{k}" for k in range(1, 11)]
    return design, pd.DataFrame(rows, columns=["id", "version", "region", *questions])


def candidates() -> pd.DataFrame:
    """300 voters choose one of two candidates in five tasks; they prefer their own party."""
    levels = {
        "gender": ["man", "woman"],
        "age": ["35", "50", "68"],
        "profession": ["farmer", "lawyer", "nurse", "teacher"],
        "candidate_party": ["Left", "Right"],
    }
    value = {"woman": 0.2, "68": -0.5, "nurse": 0.4, "teacher": 0.3}
    rng, rows = np.random.default_rng(4), []
    for voter in range(1, 301):
        party, weight = rng.choice(["Left", "Right"]), round(rng.lognormal(0, 0.3), 2)
        for task in range(1, 6):
            shown = [[rng.choice(names) for names in levels.values()] for _ in range(2)]
            utility = [sum(map(value.get, each, [0] * 4)) + (each[3] == party) for each in shown]
            winner = np.argmax(utility + rng.gumbel(size=2))
            for k, each in enumerate(shown):
                rows.append([voter, task, k + 1, *each, int(k == winner), party, weight])
    names = ["voter_id", "contest", "profile", *levels, "chosen", "party", "weight"]
    return pd.DataFrame(rows, columns=names)


def battles() -> pd.DataFrame:
    """2,500 battles of ten models before 300 voters who prefer longer answers."""
    rng = np.random.default_rng(3)
    names = np.array([f"model-{k:02d}" for k in range(1, 11)])
    strength = np.linspace(0.9, -0.9, 10)
    popularity = rng.dirichlet(np.full(10, 2.0))
    draws = [rng.choice(10, size=2, replace=False, p=popularity) for _ in range(2_500)]
    a, b = np.array(draws).T
    length_a = rng.normal(3 + 0.1 * a, 0.7).round(1)  # weaker models write more
    length_b = rng.normal(3 + 0.1 * b, 0.7).round(1)
    p = 1 / (1 + np.exp(strength[b] - strength[a] - 0.5 * (length_a - length_b)))
    tie = rng.random(2_500) < 0.5 * np.sqrt(p * (1 - p))
    voter = rng.integers(0, 300, 2_500)
    winner = np.where(tie, "tie", np.where(rng.random(2_500) < p, "model_a", "model_b"))
    language = rng.choice(["de", "en", "fr"], 2_500, p=[0.15, 0.7, 0.15])
    days = pd.to_timedelta(np.arange(2_500) // 30, "D")
    table = {"voter": voter, "model_a": names[a], "model_b": names[b], "winner": winner}
    table |= {"length_a": length_a, "length_b": length_b, "language": language}
    return pd.DataFrame(table).assign(date=(pd.Timestamp("2025-01-01") + days).astype(str))


def odd_ones_out() -> pd.DataFrame:
    """Sixty participants name the odd one out of three objects, thirty times."""
    names = ["dog", "cat", "wolf", "bee", "car", "bus", "tram", "oak", "rose", "cactus"]
    objects = np.array(names)
    groups = ["dog cat wolf bee", "car bus tram", "oak rose cactus", "dog cat cactus"]
    similarity = np.zeros((10, 10))
    for members, weight in zip(groups, [2.0, 2.5, 2.0, 1.0], strict=True):
        has = np.isin(objects, members.split())
        similarity += weight * np.outer(has, has)
    rng, rows = np.random.default_rng(2), []
    for participant in range(60):
        for _ in range(30):
            i, j, k = rng.choice(10, 3, replace=False)
            pairs = np.array([similarity[j, k], similarity[i, k], similarity[i, j]])
            odd = np.argmax(pairs + rng.gumbel(size=3))
            rows.append((participant, *objects[[i, j, k]], objects[[i, j, k][odd]]))
    return pd.DataFrame(rows, columns=["participant", "object1", "object2", "object3", "odd"])


def coded_concepts() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sixty respondents choose eight times between two concepts and none; the labels of codes."""
    rng, rows = np.random.default_rng(1), []
    for respondent in range(1, 61):
        brand, price = rng.normal([0.0, 0.8, -0.4], 0.6), rng.normal(-1.0, 0.4)
        for task in range(1, 9):
            brands, prices = rng.permutation(3)[:2], rng.permutation(3)[:2]
            utility = np.append(brand[brands] + price * (prices - 1), -0.6) + rng.gumbel(size=3)
            for concept, chosen in enumerate(utility == utility.max(), start=1):
                codes = (0, 0)
                if concept < 3:
                    codes = (brands[concept - 1] + 1, prices[concept - 1] + 1)
                rows.append((respondent, task, concept, *codes, int(chosen)))
    columns = ["sys_RespNum", "Task", "Concept", "brand", "price", "Response"]
    labels = {"brand": ["Sony", "Canon", "Nikon"], "price": [99, 149, 199]}
    names = [
        (attribute, k, label)
        for attribute, labels_of_attribute in labels.items()
        for k, label in enumerate(labels_of_attribute, start=1)
    ]
    return (
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(names, columns=["attribute", "code", "label"]),
    )


def snacks() -> pd.DataFrame:
    """Thirty-six respondents compare five snacks, all pairs twice; every taste differs a little."""
    options = ["apple", "banana", "cake", "crisps", "nuts"]
    rng, rows = np.random.default_rng(1), []
    for person in range(36):
        worth = np.array([2, 1.5, 1.5, 1, 0.7]) * rng.gamma(2, 0.5, 5)
        for i, j in zip(*np.triu_indices(5, 1), strict=True):
            for _ in range(2):
                chosen = i if rng.random() < worth[i] / (worth[i] + worth[j]) else j
                rows.append((f"p{person}", options[i], options[j], options[chosen]))
    return pd.DataFrame(rows, columns=["person", "left", "right", "choice"])


def hot_or_sweet() -> pd.DataFrame:
    """Forty respondents make 20 choices of drinks; the young, every fourth, like what is sweet."""
    options = ["tea", "coffee", "cocoa", "cola", "juice", "punch", "water"]
    hot, sweet = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 0, 1, 1, 1, 0])
    unique = np.array([0.3, 0.2, 0.16, 0.1, 0.24, 0.2, 0.6])
    rng, rows = np.random.default_rng(1), []
    for person in range(40):
        is_young = person % 4 == 0
        age = "18-30" if is_young else "31+"
        worth = unique + (sweet if is_young else hot) * 1.5
        for i, j in (rng.choice(7, 2, replace=False) for _ in range(20)):
            chosen = i if rng.random() < worth[i] / (worth[i] + worth[j]) else j
            rows.append((f"p{person}", age, options[i], options[j], options[chosen]))
    return pd.DataFrame(rows, columns=["person", "age", "first", "second", "chosen"])


def rated_objects() -> dict[str, pd.DataFrame]:
    """Six respondents rate the similarity of eight objects; three look at the kind, three at the
    size."""
    animals, vehicles = ["dog", "cat", "horse", "cow"], ["bike", "moped", "bus", "lorry"]
    large = ["horse", "cow", "bus", "lorry"]
    objects = animals + vehicles
    owners = np.array([[name in part for part in (animals, vehicles, large)] for name in objects])
    rng, tables = np.random.default_rng(1), {}
    for person in range(6):
        weights = np.array([0.6, 0.5, 0.1] if person < 3 else [0.2, 0.1, 0.6])
        noise = np.triu(0.05 * rng.normal(size=(8, 8)), 1)
        similarity = 0.1 + (owners * weights) @ owners.T + noise + noise.T
        tables[f"p{person + 1}"] = pd.DataFrame(similarity.round(2), objects, objects)
    return tables


def texts() -> pd.DataFrame:
    """200 comparisons of four texts; the left one has an advantage, and so has the longer one."""
    rng, n = np.random.default_rng(1), 200
    names, worth = np.array(["A1", "A2", "A3", "A4"]), np.array([3.0, 2.0, 1.0, 0.5])
    i = rng.integers(0, 4, n)
    j = (i + rng.integers(1, 4, n)) % 4
    longer = rng.normal(0, 1, n).round(1)  # how many hundred words the left text has more
    log_odds = np.log(worth[i] / worth[j]) + 0.8 + 0.5 * longer
    chosen = np.where(rng.random(n) < 1 / (1 + np.exp(-log_odds)), "left", "right")
    return pd.DataFrame({"left": names[i], "right": names[j], "chosen": chosen, "longer": longer})


def foods() -> pd.DataFrame:
    """Twelve answers about pairs of six foods."""
    rng = np.random.default_rng(1)
    names = ("bread", "cheese", "grapes", "olives", "ham", "nuts")
    worth, rows = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 1.5]), []
    for _ in range(12):
        a, b = rng.choice(6, 2, replace=False)
        first_wins = rng.random() < worth[a] / (worth[a] + worth[b])
        rows.append((names[a], names[b]) if first_wins else (names[b], names[a]))
    return pd.DataFrame(rows, columns=["winner", "loser"])
