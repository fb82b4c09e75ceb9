"""No answer is lost, and no warning of NumPy is shown, though choices leave estimates unbounded."""

import warnings

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.errors import ArgumentError, DataError, DefectWarning, ThaliWarning

SHORT = {"draws": 20, "tune": 20, "chains": 2, "random_seed": 1, "progressbar": False}
MONEY = {"linear": ["price"], "space": "willingness-to-pay"}
MODELS = {
    "utilities": (lambda: th.MultinomialLogit(linear=["price"]), {}),
    "parts": (th.MultinomialLogit, {}),
    "amounts": (lambda: th.MultinomialLogit(**MONEY), {}),
    "classes": (
        lambda: th.LatentClassLogit(2, linear=["price"], starts=1),
        {"random_seed": 1, "progressbar": False},
    ),
    "individuals": (lambda: th.HierarchicalLogit(linear=["price"]), SHORT),
    "individual amounts": (lambda: th.HierarchicalLogit(**MONEY), SHORT),
    "product classes": (lambda: th.ProductClasses(monotone={"price": "decreasing"}), SHORT),
}
QUICK = ("utilities", "parts", "amounts", "classes")
RULES = {
    "cheapest": lambda price, brand, person: np.argmin(price),
    "dearest": lambda price, brand, person: np.argmax(price),
    "brand": lambda price, brand, person: brand.index("A"),
    "first": lambda price, brand, person: 0,
    "two rules": lambda price, brand, person: brand.index("A") if person % 2 else np.argmin(price),
}


def chosen_by(rule, people, tasks):
    rng, rows = np.random.default_rng(0), []
    for person in range(people):
        for task in range(tasks):
            price, brand = rng.permutation([5.0, 10.0, 15.0]), list(rng.permutation(list("ABC")))
            chosen = RULES[rule](price, brand, person)
            rows += [
                (f"p{person}", task, f"{k + 1}", int(k == chosen), price[k], brand[k])
                for k in range(3)
            ]
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "price", "brand"])
    names = {"respondent": "id", "task": "task", "alternative": "alt", "chosen": "choice"}
    return th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand"], **names)


@pytest.mark.first(1, "parts-dearest", "classes-two rules")
@pytest.mark.fit
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in MODELS],
)
def test_every_answer_is_given(name, rule):
    make, run = MODELS[name]
    for people, tasks in ((8, 6), (2, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ThaliWarning)
            warnings.simplefilter("error", DefectWarning)
            try:
                model = make().fit(chosen_by(rule, people, tasks), **run)
            except (ArgumentError, DataError):
                continue  # such as amounts, if demand rises with the price
            findings = [str(each) for each in model.findings()]
        assert findings and not any("bug in thali" in text for text in findings)
