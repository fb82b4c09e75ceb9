"""Small tables of comparisons, rankings, sets and similar objects, as programs, platforms and leagues
write them."""

from collections import Counter

from helpers.field_shapes import FieldTable, Tables, register

TABLES: Tables = {}
DRINKS = ["tea", "milk", "water", "rum"]
MODELS = ["ada", "bert", "cleo", "dora", "emil"]
table = register(TABLES)


def duel(r, options, n, tie=0):
    """Return n comparisons (first, second, winner), each `tie`-th a tie (""), and all wins."""
    duels = []
    for k in range(n):
        first, second = r.sample(options, 2)
        better = min((first, second), key=lambda o: options.index(o) + 3 * r.random())
        duels.append((first, second, "" if tie and k % tie == 0 else better))
    return duels, Counter(winner for _, _, winner in duels)


def rank(r, options):
    return sorted(options, key=lambda option: options.index(option) + 3 * r.random())


def times_before_the_last(rankings, option):
    return sum(option in ranking[:-1] for ranking in rankings)


# Comparisons


def compared(header, rows, wins, option, marks, **more):
    return FieldTable(
        header, rows, "PairedComparisons", len(rows), (option, wins[option]), marks, **more
    )


@table
def pictures_of_a_quality_study(r):
    duels, wins = duel(r, ["drago", "mantiuk", "reinhard", "ward"], 60)
    rows = [
        [1 + k // 12, 1 + k % 2, f"scene{k % 3}", a, b, int(winner == a)]
        for k, (a, b, winner) in enumerate(duels)
    ]
    header = ["observer", "session", "scene", "condition_A", "condition_B", "is_A_selected"]
    return compared(header, rows, wins, "ward", ("is_A_selected",))


@table
def streets_with_coordinates(r):
    places = [f"50f{k}c0de" for k in range(10, 16)]
    duels, wins = duel(r, places, 60, tie=6)
    at = {place: (40 + k / 50, -73 - k / 70) for k, place in enumerate(places)}
    rows = [
        [a, b, {a: "left", b: "right", "": "equal"}[winner], *at[a], *at[b], "safety"]
        for a, b, winner in duels
    ]
    header = ["left_id", "right_id", "winner", "left_lat", "left_long", "right_lat"]
    return compared([*header, "right_long", "category"], rows, wins, places[0], ("winner",))


@table
def tennis_with_numbers_of_players(r):
    players = {"Ana Ito": (207, "R"), "Bo Lind": (106, "L"), "Cy Wolf": (126, "R")}
    duels, wins = duel(r, list(players), 45)
    rows = []
    for k, (a, b, winner) in enumerate(duels):
        loser = b if winner == a else a
        sides = [cell for name in (winner, loser) for cell in (players[name][0], name)]
        hands = [players[name][1] for name in (winner, loser)]
        rows.append([f"2023-{k // 9}", k, *sides, *hands, "6-4 7-5", 90 + k % 30, 4 + k, 9 + k])
    header = "tourney_id,match_num,winner_id,winner_name,loser_id,loser_name,winner_hand,loser_hand"
    return compared(
        [*header.split(","), "score", "minutes", "winner_rank", "loser_rank"],
        rows,
        wins,
        "Bo Lind",
        ("winner_name", "winner_id"),
    )


@table
def football_with_odds(r):
    duels, wins = duel(r, ["Hull", "Stoke", "Leeds", "Derby", "Luton"], 60, tie=4)
    rows = []
    for k, (a, b, winner) in enumerate(duels):
        goals = r.randint(0, 2)
        home, away = goals + (winner == a), goals + 2 * (winner == b)
        half = (min(home, 1), min(away, 1))
        result = {a: "H", b: "A", "": "D"}[winner]
        at_half = "D" if half[0] == half[1] else "HA"[half[1]]
        day = f"{1 + k % 28:02d}/08/2023"
        rows.append(["E0", day, a, b, home, away, result, *half, at_half, 9, 7, 1.5, 4.0, 6.5])
    header = "Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR,HTHG,HTAG,HTR,HS,AS,B365H,B365D,B365A"
    return compared(header.split(","), rows, wins, "Leeds", ("FTR", "FTHG", "FTAG"))


@table
def games_with_scores_and_ratings(r):
    duels, wins = duel(r, ["KC", "DET", "BUF", "NYJ"], 48, tie=16)
    rows = []
    for k, (a, b, winner) in enumerate(duels):
        score = r.randint(3, 30)
        scores = [score + 7 * (winner == a), score + 3 * (winner == b)]
        rows.append([f"2022-09-{1 + k % 28:02d}", 2022, a, b, 1624.1, 1545.2, 0.63, 0.37, *scores])
    header = "date,season,team1,team2,elo1_pre,elo2_pre,elo_prob1,elo_prob2,score1,score2"
    return compared(header.split(","), rows, wins, "DET", ("score1", "score2"))


@table
def preferences_between_two_and_a_half(r):
    duels, wins = duel(r, MODELS, 48, tie=12)
    rows = [
        [f"Write line {k}.", f"One {k}.", a, f"Two {k}.", b, {a: 1.0, b: 2.0, "": 1.5}[winner]]
        for k, (a, b, winner) in enumerate(duels)
    ]
    header = ["instruction", "output_1", "generator_1", "output_2", "generator_2", "preference"]
    return compared(header, rows, wins, "cleo", ("preference",), is_json=True)


@table
def pictures_with_labels_of_both(r):
    duels, wins = duel(r, ["sd1", "sd2", "sdxl", "dream"], 50, tie=10)
    rows = []
    for k, (a, b, winner) in enumerate(duels):
        labels = [float(winner == a), float(winner == b)] if winner else [0.5, 0.5]
        rows.append([k % 10, 1000 + k, f"a cat, number {k}", "True", a, b, *labels])
    header = "user_id,ranking_id,caption,has_label,model_0,model_1,label_0,label_1".split(",")
    return compared(header, rows, wins, "sdxl", ("label_0", "label_1"))


@table
def verdicts_of_a_judge(r):
    duels, wins = duel(r, MODELS, 48, tie=8)
    rows = []
    for k, (a, b, winner) in enumerate(duels):
        verdict = {a: ["A>B", "A>>B"], b: ["B>A", "B>>A"], "": ["A=B"] * 2}[winner][k % 2]
        rows.append([f"q{k}", a, b, f"judge{k % 2}", f"[[{verdict}]]"])
    header = ["question_id", "model_a", "model_b", "judge", "verdict"]
    return compared(header, rows, wins, "dora", ("verdict",))


# Rankings and best-worst choices


def ranked(header, rows, rankings, option, marks, **more):
    options = {label for ranking in rankings for label in ranking}
    choices = len(options) - 1
    count = times_before_the_last(rankings, option)
    return FieldTable(
        header,
        rows,
        "Choices",
        len(rankings) * choices,
        (option, count),
        marks,
        size=len(rows) // len(rankings),
        choices=choices,
        **more,
    )


@table
def platforms_ranked_and_owned(r):
    options = ["Xbox", "GameCube", "GameBoy", "PC"]
    rankings = [rank(r, options) for _ in range(24)]
    rows = [
        [*(ranking.index(o) + 1 for o in options), *(r.randint(0, 1) for _ in options), 18 + k]
        for k, ranking in enumerate(rankings)
    ]
    marks = tuple(f"ch.{o}" for o in options)
    header = [*marks, *(f"own.{o}" for o in options), "age"]
    named = [[f"ch.{o}" for o in ranking] for ranking in rankings]
    return ranked(header, rows, named, "ch.PC", marks)


@table
def a_form_with_two_header_lines(r):
    rankings = [rank(r, DRINKS) for _ in range(24)]
    rows = []
    for k, ranking in enumerate(rankings, 1):
        cells = [ranking.index(drink) + 1 for drink in DRINKS]
        rows.append([11400000000 + k, 413001, f"03/{k:02d}/2024 10:00 AM", *cells, 20 + k])
    header = ["Respondent ID", "Collector ID", "Start Date", "Please rank these drinks"]
    header += ["", "", "", "What is your age?"]
    marks = ("", "Please rank these drinks")
    second = ["", "", "", *DRINKS, "Open-Ended Response"]
    return ranked(header, rows, rankings, "milk", marks, second_header=second)


@table
def a_form_with_lists(r):
    rankings = [rank(r, DRINKS) for _ in range(24)]
    rows = [
        [k, f"3/{k}/24 10:00:00", "anonymous", ";".join(ranking) + ";", 20 + k]
        for k, ranking in enumerate(rankings, 1)
    ]
    header = ["ID", "Start time", "Email", "Please rank these drinks", "Your age"]
    return ranked(header, rows, rankings, "milk", (header[3],))


@table
def races_with_grid_and_laps(r):
    drivers, rankings, rows = ["1", "4", "20", "815", "830"], [], []
    for race in range(1053, 1065):
        ranking, grid, laps = rank(r, drivers), r.sample(drivers, 5), r.sample(drivers, 5)
        rankings.append(ranking)
        for place, driver in enumerate(ranking, 1):
            start, fastest = grid.index(driver) + 1, laps.index(driver) + 1
            cells = [start, place, str(place), place, 30 - 5 * place, 57, fastest]
            rows.append([24000 + len(rows), race, int(driver), *cells])
    header = "resultId,raceId,driverId,grid,position,positionText,positionOrder,points,laps,rank"
    return ranked(
        header.split(","), rows, rankings, "20", ("position", "positionText", "positionOrder")
    )


@table
def ballots_that_were_cast_by_many(r):
    rankings = [rank(r, DRINKS[:3]) for _ in range(8)]
    rows = [[r.randint(20, 90), *ranking] for ranking in rankings]
    chosen = sum(row[0] * ("milk" in row[1:3]) for row in rows)
    votes = 2 * sum(row[0] for row in rows)
    header = ["votes", "first choice", "second choice", "third choice"]
    return FieldTable(header, rows, "Choices", votes, ("milk", chosen), (), choices=0)


@table
def best_and_worst_before_the_set(r):
    rows, best = [], Counter()
    for _ in range(40):
        shown = r.sample(MODELS, 4)
        order = rank(r, [model for model in MODELS if model in shown])
        best[order[0]] += 1
        rows.append([order[0], order[-1], *shown])
    header = ["best", "worst", "option1", "option2", "option3", "option4"]
    return FieldTable(header, rows, "Choices", 40, ("ada", best["ada"]), ("best", "worst"))


@table
def best_and_worst_in_a_column(r):
    rows, best = [], Counter()
    for person in range(1, 9):
        for block in range(1, 5):
            shown = r.sample(MODELS, 3)
            order = rank(r, [model for model in MODELS if model in shown])
            best[order[0]] += 1
            marks = {order[0]: 1, order[-1]: -1}
            rows += [[f"p{person}", block, model, marks.get(model, 0)] for model in shown]
    header = ["pid", "block", "label", "value"]
    return FieldTable(header, rows, "Choices", 32, ("ada", best["ada"]), ("value",), size=3)


# Sets, in rows and in columns


@table
def answers_of_models_picked_from_four(r):
    rows, chosen = [], Counter()
    for prompt in range(1, 16):
        shown = r.sample(MODELS, 4)
        best = rank(r, [model for model in MODELS if model in shown])[0]
        chosen[best] += 1
        for place, model in enumerate(shown):
            cells = [place, model, r.randint(300, 2000), int(model == best)]
            rows.append([f"a{prompt % 3}", prompt, *cells])
    return FieldTable(
        ["annotator", "prompt_id", "slot", "model_name", "latency", "is_chosen"],
        rows,
        "Choices",
        15,
        ("ada", chosen["ada"]),
        ("is_chosen",),
        4,
    )


@table
def snacks_in_three_places(r):
    rows, chosen = [], Counter()
    for person in range(1, 9):
        for trial in range(1, 6):
            shown = r.sample(MODELS, 3)
            best = rank(r, [model for model in MODELS if model in shown])[0]
            chosen[best] += 1
            rows.append([f"sub{person}", trial, *shown, best, r.randint(400, 3000)])
    header = ["subject", "trial", "item_left", "item_middle", "item_right", "chosen_item", "rt"]
    return FieldTable(header, rows, "Choices", 40, ("ada", chosen["ada"]), ("chosen_item",))


@table
def menus_with_letters(r):
    rows, chosen = [], Counter()
    for diner in range(1, 9):
        for menu in range(1, 6):
            shown = r.sample(MODELS, 4 if menu % 3 else 3)
            place = r.randrange(len(shown))
            chosen[shown[place]] += 1
            cells = [*shown, *[""] * (4 - len(shown))]
            rows.append([diner, menu, *cells, "ABCD"[place], ["lunch", "dinner"][menu % 2]])
    header = ["diner", "menu_no", "alt_a", "alt_b", "alt_c", "alt_d", "pick", "meal"]
    return FieldTable(header, rows, "Choices", 40, ("bert", chosen["bert"]), ("pick",))


# Similar objects


def distance(a, b):
    return abs(MODELS.index(a) - MODELS.index(b))


PAIRS = [(a, b) for k, a in enumerate(MODELS) for b in MODELS[k + 1 :]]


@table
def pairs_of_cards_in_per_cent(r):
    rows = [[a, b, 100 - 20 * distance(a, b) - r.randint(0, 9)] for a, b in PAIRS]
    header = ["Card A", "Card B", "Similarity (%)"]
    return FieldTable(header, rows, "Similarities", 10, ("ada ~ bert", rows[0][-1]), (header[-1],))


@table
def ratings_of_pairs_by_subject(r):
    rows, total = [], 0
    for person in range(1, 6):
        for trial, (a, b) in enumerate(r.sample(PAIRS, len(PAIRS))):
            rating = 7 - distance(a, b) - r.randint(0, 2)
            total += rating * ({a, b} == {"ada", "bert"})
            rows.append([f"sub-{person}", trial, a, b, rating, r.randint(600, 4000)])
    header = ["subject", "trial_index", "stim_1", "stim_2", "similarity", "rt"]
    return FieldTable(header, rows, "Similarities", 50, ("ada ~ bert", total / 5), ("similarity",))


@table
def pairs_with_two_similarities(r):
    rows = [[a, b, 9 - distance(a, b), 5 - distance(a, b) + r.random()] for a, b in PAIRS]
    return FieldTable(
        ["word1", "word2", "sim_human", "sim_lsa"],
        rows,
        "Similarities",
        10,
        ("ada ~ bert", 8),
        ("sim_human",),
        asked=("'sim_human'", "'sim_lsa'"),
        options=({"similarity": "sim_human"}, {"similarity": "sim_lsa"}),
    )


@table
def beers_sorted_by_judges_in_columns(r):
    groups = {beer: [MODELS.index(beer) // 2 + 1, r.randint(1, 3), 2] for beer in MODELS}
    groups["emil"][2] = 1
    alike = sum(i == j for i, j in zip(groups["ada"], groups["bert"], strict=True))
    rows = [[beer, *groups[beer]] for beer in MODELS]
    return FieldTable(
        ["product", "J1", "J2", "J3"],
        rows,
        "Similarities",
        30,
        ("ada ~ bert", alike / 3),
        (),
        choices=0,
        asked=("'product'",),
        options=({"card": "product"},),
    )


def anchored(r, n):
    """Return n triplets (anchor, near, far), and how often ada and bert were near."""
    rows = []
    for _ in range(n):
        anchor, *others = r.sample(MODELS, 3)
        near = min(others, key=lambda o: distance(o, anchor) + r.random())
        rows.append((anchor, near, others[near == others[0]]))
    return rows, sum({a, b} == {"ada", "bert"} for a, b, _ in rows)


@table
def anchors_with_a_positive_and_a_negative(r):
    triplets, alike = anchored(r, 40)
    return FieldTable(
        ["anchor", "positive", "negative"],
        list(map(list, triplets)),
        "Triplets",
        40,
        ("ada ~ bert", alike),
        ("positive",),
    )


@table
def heads_with_a_winner_and_a_loser(r):
    triplets, alike = anchored(r, 40)
    rows = []
    for k, (anchor, near, far) in enumerate(triplets):
        sides = [near, far] if r.random() < 0.5 else [far, near]
        rows.append([f"p{k % 4}", anchor, *sides, near, far, "RandomSampling"])
    header = ["puid", "head", "left", "right", "winner", "loser", "sampler"]
    return FieldTable(header, rows, "Triplets", 40, ("ada ~ bert", alike), ("winner", "loser"))


@table
def two_pictures_beside_a_third(r):
    triplets, alike = anchored(r, 40)
    rows = []
    for anchor, near, far in triplets:
        sides = [near, far] if r.random() < 0.5 else [far, near]
        rows.append([anchor, *sides, "left" if sides[0] == near else "right"])
    return FieldTable(
        ["shown", "left", "right", "response"],
        rows,
        "Triplets",
        40,
        ("ada ~ bert", alike),
        ("response",),
        asked=("'shown'", "triplets"),
        options=({"anchor": "shown"}, {"without": ["shown"]}),
    )


@table
def odd_ones_out_in_words(r):
    rows, alike = [], 0
    for k in range(40):
        shown, odd = r.sample(MODELS, 3), r.randrange(3)
        alike += {"ada", "bert"} == set(shown) - {shown[odd]}
        rows.append([f"s{k // 8}", k % 8, *shown, ["left", "middle", "right"][odd]])
    header = ["subject_id", "trial", "left", "middle", "right", "oddball"]
    return FieldTable(header, rows, "Triplets", 40, ("ada ~ bert", alike), ("oddball",))
