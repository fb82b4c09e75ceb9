"""How often 89 % intervals of a multinomial logit hold what a fit to infinitely many respondents says.

    python benchmarks/multinomial_logit_coverage.py [--small] [--studies 200] [--people 15,60,400]

Respondents choose in eight tasks among three products with two yes-or-no attributes and a price. Their
tastes are equal, or vary with a standard deviation of .8 around the same means. The truth is the fit
to 60,000 respondents. "adjusted" is what a fit takes, "independent" the other choice.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import thali as th

MEANS, TASKS, ALTERNATIVES = np.array([0.6, -0.4, -1.2]), 8, 3
N_TRUTH = 60_000
WORDS = np.array(["no", "yes"])
MARKET = pd.DataFrame(
    {"lamp": ["yes", "no", "yes"], "eco": ["yes", "yes", "no"], "price": [2.0, 1.0, 1.5]}
)


def simulate(people: int, sd: float, rng: np.random.Generator) -> th.ChoiceExperiment:
    """The choices of new respondents."""
    shape = people, TASKS, ALTERNATIVES
    lamp, eco = rng.integers(2, size=(2, *shape))
    price = rng.choice([1.0, 1.5, 2.0, 2.5], shape)
    tastes = MEANS + sd * rng.normal(size=(people, 3))
    x = np.stack([lamp, eco, price], axis=-1)
    utility = np.einsum("ntjk,nk->ntj", x, tastes) + rng.gumbel(size=shape)
    chosen = np.arange(ALTERNATIVES) == utility.argmax(axis=2)[..., None]
    respondent, task, _ = np.indices(shape)
    table = {"id": respondent, "task": task, "lamp": WORDS[lamp], "eco": WORDS[eco], "price": price}
    columns = {name: values.ravel() for name, values in (table | {"choice": chosen * 1}).items()}
    return th.ChoiceExperiment.from_frame(pd.DataFrame(columns))


def intervals(model: th.MultinomialLogit) -> dict[str, np.ndarray]:
    """The estimate and both ends of coefficients, and of what is derived from them."""
    effects = model.level_effects()
    shares, amounts = model.market_shares(MARKET), model.willingness_to_pay("price")
    tables = {
        "coefficients": (model.summary(), ["coef", "low", "high"]),
        "willingness to pay": (amounts, ["wtp", "wtp_low", "wtp_high"]),
        "level effects": (effects, ["effect", "low", "high"]),
        "market shares": (shares, ["share", "share_low", "share_high"]),
    }
    return {name: table[columns].to_numpy(float) for name, (table, columns) in tables.items()}


def cover(people: int, sd: float, studies: int, truth: dict[str, np.ndarray]) -> str:
    """The coverage of a cell, in words."""
    lines = []
    for treatment in ("adjusted", "independent"):
        inside = {name: [] for name in truth}
        for study in range(studies):
            data = simulate(people, sd, np.random.default_rng([people, study]))
            model = th.MultinomialLogit(linear="price", people=treatment).fit(data)
            for name, rows in intervals(model).items():
                real = truth[name][:, 0]
                inside[name].append((rows[:, 1] < real) & (real < rows[:, 2]))
        texts = []
        for name, rows in inside.items():
            by_row = np.mean(rows, axis=0)
            error = np.std(np.mean(rows, axis=1)) / np.sqrt(studies)
            texts.append(f"{name} {by_row.mean():.3f} ± {error:.3f} (worst {by_row.min():.3f})")
        lines.append(f"  {treatment:12s} {'   '.join(texts)}")
    return "\n".join(lines)


def main(studies: int = 200, people: str = "15,60,400", small: bool = False) -> None:
    """Print the coverage of all cells."""
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    for sd in (0.8, 0.0):
        n_truth = 600 if small else N_TRUTH
        model = th.MultinomialLogit(linear="price", people="independent")
        truth = intervals(model.fit(simulate(n_truth, sd, np.random.default_rng(0))))
        for number in map(int, people.split(",")):
            print(f"{number} respondents, tastes with sd {sd:g} ({studies} studies)")
            print(cover(number, sd, 2 if small else studies, truth), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--people", default="15,60,400")
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
