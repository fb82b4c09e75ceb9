"""What is said of a market, of people and of tasks is used or refused by every answer about a
study, never ignored."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.compiled_code import run_as_python
from helpers.experiment_data import of_segments
from helpers.sentences import warned

import thali as th
from thali.errors import DataWarning, ThaliError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.EstimateWarning")]

ATTRIBUTES = ["price", "brand", "zoom"]
MARKET = pd.DataFrame(
    {
        "product": ["A", "B", "C"],
        "price": [5.0, 15.0, 25.0],
        "brand": ["A", "B", "C"],
        "zoom": ["no", "yes", "yes"],
    }
)
# How each answer is asked; each takes the arguments that are tried below.
CALLS = {
    "market_shares": lambda model, products=MARKET, **how: model.market_shares(products, **how),
    "demand": lambda model, products=MARKET, attribute="price", product="A", values=(5.0, 15.0), **how: (
        model.demand(attribute, product, list(values), products, **how)
    ),
    "elasticities": lambda model, products=MARKET, attribute="price", **how: model.elasticities(
        products, attribute, **how
    ),
    "reach": lambda model, products=MARKET, size=1, **how: model.respondents.reach(
        products, size, **how
    ),
    "holdouts": lambda model, data=None: model.holdouts(read() if data is None else data),
    "willingness_to_pay": lambda model, price="price", **how: model.willingness_to_pay(
        price, **how
    ),
    "level_effects": lambda model, **how: model.level_effects(**how),
    "attribute_importance": lambda model, **how: model.attribute_importance(**how),
    "utilities": lambda model, **how: model.utilities(**how),
    "individuals": lambda model, **how: model.respondents.individuals(**how),
}
OF_MARKETS = (
    "market_shares",
    "demand",
    "elasticities",
    "reach",
)
# a median of two classes is that of one, whoever else is asked
ONE = [[f"p{number}"] for number in range(12)]
NO_DATA = {"self", "cores", "random_seed"}
# Of each property of a table of products, what is changed in it; None: columns that are no
# attribute, warned of.
TABLES = {
    "another level": MARKET.assign(brand=["B", "A", "C"]),
    "another number": MARKET.assign(price=[5.0, 9.0, 25.0]),
    "fewer products": MARKET.head(2),
    "an unknown level": MARKET.assign(brand=["A", "B", "Z"]),
    "a gap": MARKET.assign(zoom=["no", None, "yes"]),
    "a missing attribute": MARKET.drop(columns="zoom"),
    "scenarios": pd.concat(
        [MARKET.assign(scenario=1), MARKET.assign(scenario=2, price=[15.0, 15.0, 5.0])]
    ),
}
IDLE = {"a colour": MARKET.assign(colour="red"), "availability": MARKET.assign(available=[1, 0, 1])}


def table(none=False):
    """Choices of a dozen people, of whom an age and a weight are known."""
    frame, _ = of_segments(people=12, tasks=6, seed=3, none=none)
    number = frame["id"].str[1:].astype(int)
    return frame.assign(age=20 + 5 * (number % 3), heavy=1.0 + number)


def read(frame=None, **how):
    return th.ChoiceExperiment.from_frame(
        table() if frame is None else frame, attributes=ATTRIBUTES, **how
    )


# Of each argument other values, one of which changes the answers that take it; no data: cores,
# random_seed.
ARGUMENTS = {
    "ci": [0.5],
    "each_person": [True],
    "zero_centred": [True],
    "each_draw": [True],
    "change": [{"price": {"A": 25.0}}, 0.5],
    "rule": ["first-choice"],
    "scale": [0.5],
    "availability": [{"A": 0.5}],
    "actual": [{"A": 0.5, "B": 0.3, "C": 0.2}],
    "cost": [2.0],
    "new": ["B"],
    "size": [2],
    "data": [read(table().head(18))],
    "people": ["age == 20", *ONE],
    "respondent_weights": ["heavy", *np.eye(12)],
    "price": ["brand"],
    "top": [2],
    "attribute": ["zoom"],
    "product": ["B"],
    "values": [(5.0, 25.0)],
}
# As small as they may be; kernels run as Python.
FITS = {
    "multinomial": lambda data: th.MultinomialLogit("price").fit(data),
    "classes": lambda data: th.LatentClassLogit(2, linear="price", starts=2).fit(
        data, random_seed=1, progressbar=False
    ),
    "hierarchical": lambda data: th.HierarchicalLogit("price").fit(
        data, draws=4, tune=2, chains=2, thin=1, random_seed=1, progressbar=False
    ),
    "product classes": lambda data: th.ProductClasses().fit(
        data, draws=10, tune=2, thin=1, chains=2, random_seed=1, progressbar=False
    ),
}
SAME_TASTES = {"multinomial"}  # everybody has them
OF_RESPONDENTS = {"reach", "individuals"}
REFUSED = {(name, "multinomial") for name in OF_RESPONDENTS}  # whatever is asked
# slow where it runs as Python
MODELS = [*list(FITS)[:3], pytest.param("product classes", marks=pytest.mark.long)]


class Once(dict):
    """The models, each fitted when it is first asked for."""

    def __missing__(self, name):
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_as_python(patch)
            self[name] = FITS[name](read())
        return self[name]


@pytest.fixture(scope="module")
def fitted():
    return Once()


def answer(call, *arguments, **how):
    """What is answered, or that it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*arguments, **how).to_string()
        except ThaliError as refused:
            return f"refused: {refused}"


def methods_of(model):
    return {
        name
        for name, _ in inspect.getmembers(model, inspect.isfunction)
        if not name.startswith("_")
    }


def parameters_of(fitted, name):
    """The parameters of a method of models, or of their results about respondents."""
    owner = fitted["hierarchical"].respondents if name in OF_RESPONDENTS else th.MultinomialLogit
    parameters = inspect.signature(getattr(owner, name)).parameters
    return set(parameters)


@pytest.mark.usefixtures("uncompiled")
def test_every_answer_and_each_of_its_arguments_stands_in_the_tables(fitted):
    answers = methods_of(th.MultinomialLogit) & methods_of(th.ProductClasses) - methods_of(
        th.SparseMultinomialLogit
    )
    assert answers == set(CALLS) - OF_RESPONDENTS
    for name in CALLS:
        assert parameters_of(fitted, name) <= {*ARGUMENTS, *NO_DATA, "products"}, name


@pytest.mark.first(1, "attribute_importance-multinomial")
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", CALLS)
def test_every_argument_changes_the_answer_or_is_refused_or_warned_of(fitted, model, name):
    before = answer(CALLS[name], fitted[model])
    assert before.startswith("refused") == ((name, model) in REFUSED), before
    if (name, model) in REFUSED:
        return
    for argument in parameters_of(fitted, name).intersection(ARGUMENTS):
        if model in SAME_TASTES and argument in ("people", "respondent_weights"):
            for value in ARGUMENTS[argument]:
                with warned(DataWarning, "has no effect on these predictions, because", argument):
                    assert CALLS[name](fitted[model], **{argument: value}).to_string() == before
            continue
        asked = (
            answer(CALLS[name], fitted[model], **{argument: value}) for value in ARGUMENTS[argument]
        )
        assert any(after != before for after in asked), argument


def test_weights_count_in_the_spread_of_people(fitted):
    def ends(weights):
        table = fitted["hierarchical"].willingness_to_pay(
            "price", respondent_weights=weights, ci=0.5
        )
        return table[["respondents_low", "respondents_high"]].to_numpy()

    assert (ends(10.0 ** np.arange(12)) != ends(None)).any()
    assert (ends(np.ones(12)) == ends(None)).all()


@pytest.mark.first(9)
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", OF_MARKETS)
def test_what_a_table_of_products_says_is_used_refused_or_warned_of(fitted, model, name):
    if (name, model) in REFUSED:
        return
    before = answer(CALLS[name], fitted[model])
    for said, products in TABLES.items():
        assert answer(CALLS[name], fitted[model], products) != before, said
    for said, products in IDLE.items():
        with warned(DataWarning, "were ignored"):
            assert CALLS[name](fitted[model], products).to_string() == before, said


def exchanged(frame):
    """The same tasks, answered by others."""
    task, number = frame["task"], frame["id"].str[1:].astype(int)
    return frame.assign(
        task=frame["id"] + "/" + task.astype(str), id="p" + ((number + task) % 12).astype(str)
    )


def after(frame):
    """The alternative after the chosen one is chosen instead."""
    return frame.assign(
        choice=np.roll(frame["choice"].to_numpy().reshape(-1, 3), 1, axis=1).ravel()
    )


# What tasks say: data that differ from those of `table` in one property.
TASKS = {
    "who answered": lambda frame: read(exchanged(frame)),
    "what was chosen": lambda frame: read(after(frame)),
    "the levels": lambda frame: read(
        frame.assign(brand=frame["brand"].replace({"A": "B", "B": "A"}))
    ),
    "how many alternatives": lambda frame: read(
        frame[(frame["alt"] != 3) | (frame["choice"] == 1)]
    ),
    "what was not shown": lambda frame: read(
        frame.assign(zoom=frame["zoom"].where(frame["alt"] != 3, "-")), missing="-"
    ),
    "no choice": lambda frame: read(table(none=True), none={"brand": "none"}),
}


@pytest.mark.first(1)
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize("model", MODELS)
def test_every_property_of_tasks_changes_the_fit(fitted, model):
    before = fitted[model].summary().to_string()
    for name, read_otherwise in TASKS.items():
        changed = FITS[model](read_otherwise(table())).summary().to_string()
        assert changed != before, name
