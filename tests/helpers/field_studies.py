"""Small tables of choice studies, with the headers and codes of survey programs and packages."""

from helpers.field_shapes import FieldTable, Tables, register

TABLES: Tables = {}
table = register(TABLES)


def offer(r, people, tasks, size, levels):
    """Return (person, task, products, position of the chosen) of a study."""
    for person in range(1, people + 1):
        for task in range(1, tasks + 1):
            products = [{name: r.choice(cells) for name, cells in levels.items()}]
            while len(products) < size:
                product = {name: r.choice(cells) for name, cells in levels.items()}
                if product not in products:
                    products.append(product)
            yield person, task, products, r.randrange(size)


def sum_of(study, name):
    return sum(products[k][name] for _, _, products, k in study)


# Choice studies, a row an alternative


CANDIDATES = dict(job=["nurse", "judge", "farmer"], party=["left", "right"], years=[3, 8, 15, 21])


@table
def candidates_with_a_rating(r):
    study, rows = list(offer(r, 10, 3, 2, CANDIDATES)), []
    for person, contest, products, k in study:
        for place, product in enumerate(products):
            rating = 2 + (place == k) * r.randint(1, 4)
            rows.append([f"R{person}", contest, *product.values(), rating, int(place == k)])
    return FieldTable(
        ["resp_key", "contest_no", *CANDIDATES, "rating", "selected"],
        rows,
        "ChoiceExperiment",
        30,
        ("years", sum_of(study, "years")),
        ("selected",),
        2,
        attributes=tuple(CANDIDATES),
        asked=("'rating'", "second answer"),
        options=({"without": ["rating"]}, {"attributes": [*CANDIDATES, "rating"]}),
    )


@table
def candidates_of_a_survey_program(r):
    study, rows = list(offer(r, 10, 3, 2, CANDIDATES)), []
    for person, contest, products, k in study:
        for place, product in enumerate(products):
            rows.append(
                [
                    f"R_{person:02d}q",
                    f"10.1.{person}.9",
                    400 + 13 * person,
                    contest,
                    place + 1,
                    int(place == k),
                    *product.values(),
                    round(0.5 + person / 7, 2),
                    ["", "no comment", "took the younger one, mostly"][person % 3],
                ]
            )
    return FieldTable(
        [
            *("ResponseId", "IPAddress", "Duration (in seconds)", "round", "profile", "prefer"),
            *(*CANDIDATES, "weight", "comments"),
        ],
        rows,
        "ChoiceExperiment",
        30,
        ("years", sum_of(study, "years")),
        ("prefer",),
        2,
        attributes=tuple(CANDIDATES),
    )


@table
def trips_of_people_with_an_income(r):
    rows, total = [], 0
    for case in range(1, 31):
        chosen, income = r.randrange(3), r.choice([25, 40, 65])
        for place, mode in enumerate(("train", "bus", "car")):
            cost = r.choice([12, 19, 33, 48])
            total += cost * (place == chosen)
            rows.append([case, mode, int(place == chosen), cost, r.choice([40, 70, 95]), income])
    return FieldTable(
        ["case", "alt", "choice", "cost", "ivt", "income"],
        rows,
        "ChoiceExperiment",
        30,
        ("cost", total),
        ("choice",),
        3,
        attributes=("cost", "ivt"),
        free=("alt",),
    )


@table
def trips_in_three_waves(r):
    rows, total = [], 0
    for person in range(1, 11):
        for wave in (1, 2, 3):
            chosen = r.randrange(3)
            for place, mode in enumerate(("Car", "Public", "Bicycle")):
                cost = r.randint(1, 9) / 4
                total += cost * (place == chosen)
                rows.append([person, wave, mode, int(place == chosen), cost, 20 + person])
    return FieldTable(
        ["id", "t", "alt", "choice", "trcost", "age"],
        rows,
        "ChoiceExperiment",
        30,
        ("trcost", total),
        ("choice",),
        3,
        attributes=("trcost",),
        free=("alt",),
    )


@table
def food_with_an_opt_out(r):
    rows, total = [], 0
    for person in range(1, 11):
        for question in range(1, 4):
            chosen = r.randrange(3)
            for place in range(3):
                cells = [1, r.randint(0, 1), r.randint(0, 1), r.choice([2, 3, 5])]
                if place == 2:
                    cells = [0, 0, 0, 0]
                total += cells[-1] * (place == chosen)
                answer = "TRUE" if place == chosen else "FALSE"
                strata = 100 * person + question
                rows.append([person, question, place + 1, answer, *cells, strata])
    return FieldTable(
        "ID,QES,ALT,RES,ASC,Local,Organic,Price,STR".split(","),
        rows,
        "ChoiceExperiment",
        30,
        ("Price", total),
        ("RES",),
        3,
        attributes=("Local", "Organic", "Price"),
        free=("ASC", "ALT", "inside"),
    )


@table
def numbered_attributes_with_the_answer_in_the_first_row(r):
    levels = {"Attribute_1": [1, 2, 3], "Attribute_2": [1, 2], "Attribute_3": [10, 20, 40]}
    study, rows = list(offer(r, 10, 3, 3, levels)), []
    for person, task, products, k in study:
        for place, product in enumerate(products):
            rows.append([person, task, place + 1, *product.values(), (k + 1) * (place == 0)])
    return FieldTable(
        ["UnitID", "Set", "Alt", *levels, "y"],
        rows,
        "ChoiceExperiment",
        30,
        ("Attribute_3", sum_of(study, "Attribute_3")),
        ("y",),
        3,
        attributes=tuple(levels),
    )


@table
def hotels_clicked_and_booked(r):
    levels = {"prop_starrating": [2, 3, 4, 5], "price_usd": [55, 80, 120, 210]}
    rows, total = [], 0
    for search, (_, _, products, k) in enumerate(offer(r, 30, 1, 3, levels), 1):
        total += products[k]["price_usd"]
        for place, product in enumerate(products):
            clicked = int(place == k or (place == 0 and search % 5 == 0))
            cells = [100 + r.randint(0, 60), place + 1, *product.values()]
            rows.append([search, *cells, clicked, int(place == k)])
    return FieldTable(
        ["srch_id", "prop_id", "position", *levels, "click_bool", "booking_bool"],
        rows,
        "ChoiceExperiment",
        30,
        ("price_usd", total),
        ("booking_bool",),
        3,
        attributes=tuple(levels),
        free=("prop_id",),
    )


# Choice studies, a row a task


@table
def sauces_with_promotions(r):
    brands, levels = ["red", "hot", "mild"], {"price": [2, 3, 4], "disp": [0, 1], "feat": [0, 1]}
    study = list(offer(r, 12, 4, 3, levels))
    rows = [
        [person, *(product[name] for name in levels for product in products), brands[k]]
        for person, _, products, k in study
    ]
    return FieldTable(
        ["id", *(f"{name}.{brand}" for name in levels for brand in brands), "choice"],
        rows,
        "ChoiceExperiment",
        48,
        ("price", sum_of(study, "price")),
        ("choice",),
        attributes=tuple(levels),
        free=("alternative", "alt", "brand"),
    )


@table
def roads_of_which_one_has_a_toll(r):
    rows, total = [], 0
    for person in range(1, 11):
        for count in range(1, 6):
            times, chosen = [r.choice([15, 22, 30]), r.choice([6, 9, 13])], r.randrange(2)
            total += times[chosen]
            rows.append([person, count, *times, r.choice([1, 2, 4]), chosen + 1])
    return FieldTable(
        ["ID", "thecount", "tt1", "tt2", "toll2", "Choice"],
        rows,
        "ChoiceExperiment",
        50,
        ("tt", total),
        ("Choice",),
        attributes=("tt", "toll"),
        free=("alternative", "alt"),
    )


@table
def treatments_or_neither(r):
    levels, rows, total = {"effect": [50, 70, 90], "wait": [1, 4], "cost": [0, 20, 60]}, [], 0
    for person, task, products, k in offer(r, 12, 4, 2, levels):
        none = r.random() < 0.25
        total += 0 if none else products[k]["cost"]
        cells = [cell for product in products for cell in product.values()]
        rows.append([f"P{person}", task, *cells, "Neither" if none else "AB"[k], 30 + person])
    return FieldTable(
        ["pid", "q", *(f"{side}_{name}" for side in "AB" for name in levels), "choice", "age"],
        rows,
        "ChoiceExperiment",
        48,
        ("cost", total),
        ("choice",),
        attributes=tuple(levels),
        free=("none", "inside"),
    )


@table
def trains_and_cars_with_zeros(r):
    rows, total = [], 0
    for person in range(1, 13):
        for _ in range(4):
            times = [r.choice([90, 120, 160]), r.choice([50, 70]), r.choice([60, 110, 180])]
            chosen = r.choice([0, 1, 2, 2, 3])
            total += times[chosen - 1] if chosen else 0
            costs = [r.choice([20, 35, 50]) for _ in range(3)]
            rows.append([person, 1, person % 2, *times, *costs, 1, 1, 1, chosen])
    modes = ("TRAIN", "SM", "CAR")
    return FieldTable(
        [
            *("ID", "SURVEY", "MALE"),
            *(f"{mode}_{name}" for name in ("TT", "CO", "AV") for mode in modes),
            "CHOICE",
        ],
        rows,
        "ChoiceExperiment",
        sum(row[-1] > 0 for row in rows),
        ("TT", total),
        ("CHOICE",),
        attributes=("TT", "CO"),
        free=("alternative", "alt"),
        asked=("'CHOICE'", "'0'"),
        options=({"where": "'CHOICE' != 0"}, {"none": "0"}),
    )


@table
def plans_with_numbers_of_answers(r):
    rows, total = [], 0
    for scenario in range(1, 13):
        prices, speeds = [r.choice([4, 6, 9]) for _ in "12"], [r.choice([10, 50]) for _ in "12"]
        for chosen in (0, 1):
            total += prices[chosen]
            cells = [prices[0], speeds[0], prices[1], speeds[1]]
            rows.append([scenario, *cells, chosen + 1, r.randint(2, 30)])
    return FieldTable(
        ["scenario", "price_1", "speed_1", "price_2", "speed_2", "choice", "freq"],
        rows,
        "ChoiceExperiment",
        24,
        ("price", total),
        ("choice",),
        attributes=("price", "speed"),
    )
