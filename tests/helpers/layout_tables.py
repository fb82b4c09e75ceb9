"""Small random tables of every layout, as lines of text; the answers of some rows are blank."""

OPTIONS = ("tea", "milk", "rum", "gin")


def pairs(rng, rows, blank):
    for row in range(rows):
        a, b = rng.choice(OPTIONS, 2, replace=False)
        yield a, b, rng.choice([a, b]), row in blank


def trials(rng, rows, blank):
    yield "left,right,chosen"
    for a, b, chosen, empty in pairs(rng, rows, blank):
        yield f"{a},{b},{'' if empty else chosen}"


def games(rng, rows, blank):
    yield "home,away,result"
    for a, b, chosen, empty in pairs(rng, rows, blank):
        yield f"{a},{b},{'' if empty else 'H' if chosen == a else 'A'}"


def counted(rng, rows, blank):
    yield "left,right,wins_left,wins_right"
    for a, b, _, empty in pairs(rng, rows, blank):
        yield f"{a},{b}," + ("," if empty else f"{rng.integers(1, 5)},{rng.integers(5)}")


def a_column_a_pair(rng, rows, blank):
    yield "tea > milk,tea > rum,milk > rum"
    for row in range(rows):
        yield ",," if row in blank else ",".join(map(str, rng.integers(1, 3, 3)))


def rankings(rng, rows, blank):
    yield "rank1,rank2,rank3,rank4"
    for row in range(rows):
        yield ",,," if row in blank else ",".join(rng.permutation(OPTIONS))


def best_worst(rng, rows, blank):
    yield "item1,item2,item3,best,worst"
    for row in range(rows):
        items = rng.permutation(OPTIONS)[:3]
        yield ",".join(items) + ("," if row in blank else f",{items[0]}") + f",{items[2]}"


def best(rng, rows, blank):
    yield "item1,item2,item3,best"
    for row in range(rows):
        items = rng.permutation(OPTIONS)[:3]
        yield ",".join(items) + ("," if row in blank else f",{items[0]}")


def triplets(rng, rows, blank):
    yield "object1,object2,object3,odd"
    for row in range(rows):
        items = rng.permutation(OPTIONS)[:3]
        yield ",".join(items) + ("," if row in blank else f",{items[0]}")


def similarities(rng, rows, blank):
    yield "object1,object2,similarity"
    for a, b, _, empty in pairs(rng, rows, blank):
        yield f"{a},{b},{'' if empty else rng.integers(1, 9) / 2}"


def choices(rng, rows, blank):
    yield "id,task,alternative,chosen"
    for row in range(rows):  # a task of three
        best = rng.integers(3)
        for k in range(3):
            yield f"{row // 4},{row},{OPTIONS[k]}," + ("" if row in blank else str(int(k == best)))


def experiment(rng, rows, blank):
    yield "id,task,alternative,price,av,chosen"
    for row in range(rows):
        best = rng.integers(2)
        for k in range(3):
            chosen = "" if row in blank else str(int(k == best))
            yield f"{row // 4},{row},{k + 1},{rng.integers(1, 9)},{int(k < 2 or rng.random() < 0.5)},{chosen}"


def wide(rng, rows, blank):
    yield "id,price_1,price_2,choice"
    for row in range(rows):
        one, other = rng.choice(9, 2, replace=False)
        yield f"{row // 4},{one},{other}," + ("" if row in blank else str(rng.integers(1, 3)))


def ranks_of_options(rng, rows, blank):
    yield ",".join(OPTIONS)
    for row in range(rows):
        yield ",,," if row in blank else ",".join(map(str, rng.permutation(4) + 1))


def rankings_in_words(rng, rows, blank):
    yield "person,ranking"
    for row in range(rows):
        order = " > ".join(rng.permutation(OPTIONS))
        yield f"p{row}," + ("" if row in blank else order)


def ranks_by_row(rng, rows, blank):
    yield "respondent,item,rank"
    for row in range(rows):
        for rank, option in enumerate(rng.permutation(OPTIONS), 1):
            yield f"p{row},{option}," + ("" if row in blank else str(rank))


def marks(rng, rows, blank):
    """Best (1) and worst (-1) of each set, one row per option."""
    yield "respondent,set,item,mark"
    for row in range(rows):
        for place, option in enumerate(rng.permutation(OPTIONS)[:3]):
            yield f"p{row // 4},{row},{option}," + ("" if row in blank else str(1 - place))


def piles(rng, rows, blank):
    """Cards in piles; nothing is blank."""
    yield "subject,card,group"
    for row in range(rows):
        for option in OPTIONS:
            yield f"p{row},{option},{rng.integers(1, 3)}"


def ratings(rng, rows, blank):
    yield "judge,object1,object2,similarity"
    for row in range(rows):
        for i, j in ((0, 1), (0, 2), (1, 2), (2, 3)):
            value = "" if row in blank else str(rng.integers(1, 8))
            yield f"p{row},{OPTIONS[i]},{OPTIONS[j]},{value}"


def square(rng, rows, blank):
    """Counts of every pair; nothing is blank."""
    yield "," + ",".join(OPTIONS)
    counts = rng.integers(1, 9, (4, 4))
    for i, option in enumerate(OPTIONS):
        yield f"{option}," + ",".join("0" if i == j else str(counts[i, j]) for j in range(4))


def square_of_similarities(rng, rows, blank):
    """Similarities of every pair; nothing is blank."""
    yield "," + ",".join(OPTIONS)
    values = rng.integers(1, 9, (4, 4)) / 10
    for i, option in enumerate(OPTIONS):
        yield f"{option}," + ",".join(
            "1" if i == j else str(values[min(i, j), max(i, j)]) for j in range(4)
        )
