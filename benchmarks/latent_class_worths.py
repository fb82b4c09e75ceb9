"""Latent classes of worths: who is in the same class, and what each respondent chooses.

Usage:

    python benchmarks/latent_class_worths.py [REPLICATES]

Respondents of two classes (three fifths and two fifths of 60) compare eight options, 15 pairs each;
the log worths of the options are normal with a standard deviation of 1.5, independent in the two
classes. BradleyTerryLuce with two latent classes is held against the same mixture by maximum
likelihood: R's flexmix with a binomial regression on who is compared, which is what btmix of R's
package psychomix runs (three starts). Reported are the mean absolute error of the co-membership of
two respondents, and the root mean squared error of individual choice probabilities, beside one
class for all. Second, how often the true number of classes predicts the answers of left-out
respondents best (five folds), where there is one class, and where there are two. Third, the time of
a sweep with more and more respondents.
"""

import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th

OPTIONS, CHOICES = 8, 15
FIRST, SECOND = np.triu_indices(OPTIONS, 1)
RUN = {"draws": 300, "tune": 300, "chains": 2, "cores": 1, "progressbar": False}

FLEXMIX = """
suppressMessages(library(flexmix))
d <- read.csv("rows.csv")
X <- as.matrix(d[, grep("^x", names(d))])
set.seed(1)
used <- system.time(m <- stepFlexmix(cbind(win, lose) ~ 0 + X | person, data = d, k = 2, nrep = 3, verbose = FALSE,
                                     model = FLXMRglm(family = "binomial"), control = list(minprior = 0)))
write.csv(posterior(m)[!duplicated(d$person), , drop = FALSE], "posterior.csv", row.names = FALSE)
write.csv(parameters(m), "parameters.csv", row.names = FALSE)
cat(sum(used[1:2]))
"""


def people(seed, number=60, classes=2):
    """The comparisons of all, the class of each person, and individual choice probabilities
    (person, pair)."""
    rng = np.random.default_rng(seed)
    worth = np.exp(rng.normal(0.0, 1.5, (classes, OPTIONS)))
    p = worth[:, FIRST] / (worth[:, FIRST] + worth[:, SECOND])
    of = (np.arange(number) >= 0.6 * number).astype(int) if classes == 2 else np.zeros(number, int)
    rows = []
    for person in range(number):
        for pair in rng.choice(len(FIRST), CHOICES, replace=False):
            won = rng.random() < p[of[person], pair]
            i, j = FIRST[pair], SECOND[pair]
            rows.append((f"p{person:03d}", f"o{i}", f"o{j}", f"o{i if won else j}"))
    frame = pd.DataFrame(rows, columns=["person", "first", "second", "chosen"])
    labels = [f"o{i}" for i in range(OPTIONS)]
    data = th.PairedComparisons.from_trials(
        frame, "first", "second", "chosen", respondent="person", labels=labels
    )
    return data, of, p[of], frame


def by_flexmix(frame):
    """Co-membership and individual choice probabilities by maximum likelihood in R, and its
    seconds."""
    side = np.array(
        [[f"o{i}" == name for i in range(OPTIONS)] for name in [*frame["first"], *frame["second"]]],
        float,
    )
    x = (side[: len(frame)] - side[len(frame) :])[:, 1:]
    win = (frame["chosen"] == frame["first"]).astype(int)
    rows = pd.DataFrame(x, columns=[f"x{k}" for k in range(1, OPTIONS)])
    rows = rows.assign(
        person=frame["person"].to_numpy(), win=win.to_numpy(), lose=1 - win.to_numpy()
    )
    with tempfile.TemporaryDirectory() as folder:
        rows.to_csv(Path(folder) / "rows.csv", index=False)
        done = subprocess.run(
            ["Rscript", "-e", FLEXMIX], cwd=folder, capture_output=True, text=True, check=True
        )
        member = pd.read_csv(Path(folder) / "posterior.csv").to_numpy()
        slopes = pd.read_csv(Path(folder) / "parameters.csv").to_numpy()
    log_worth = np.vstack([np.zeros(slopes.shape[1]), slopes])
    p = 1.0 / (1.0 + np.exp(log_worth[SECOND] - log_worth[FIRST]))  # (pair, class)
    return member @ member.T, member @ p.T, float(done.stdout)


def by_classes(model):
    """The same from draws."""
    latent = model.posterior_["latent_features"].dataset
    log_worth, of = latent["kind_log_worth"].values, latent["kind"].values.astype(int)
    p = 1.0 / (1.0 + np.exp(log_worth[..., SECOND] - log_worth[..., FIRST]))
    each = np.take_along_axis(p, of[..., None], axis=2)
    return model.respondents.same_class().to_numpy(), each.mean(axis=(0, 1))


def fitted(data, classes, seed):
    """The model, and its CPU seconds."""
    start = time.process_time()
    model = th.BradleyTerryLuce(people=th.people.LatentClasses(classes)).fit(
        data, random_seed=seed, **RUN
    )
    return model, time.process_time() - start


def recovery(replicates):
    """The first study."""
    found = []
    for seed in range(replicates):
        data, of, truth, frame = people(seed)
        same = of[:, None] == of
        model, seconds = fitted(data, 2, seed)
        common = np.broadcast_to(by_classes(fitted(data, 1, seed)[0])[1], truth.shape)
        rivals = {
            "two classes": (*by_classes(model), seconds),
            "one class": (np.ones(same.shape), common, np.nan),
        }
        if shutil.which("Rscript"):
            rivals["flexmix"] = by_flexmix(frame)
        for name, (together, p, spent) in rivals.items():
            errors = np.abs(together - same).mean(), np.sqrt(np.mean((p - truth) ** 2))
            found.append((seed, name, *errors, spent, float(model.convergence().agrees)))
    table = pd.DataFrame(
        found, columns=["seed", "model", "co-membership", "probabilities", "seconds", "agrees"]
    )
    print(
        table.groupby("model")[["co-membership", "probabilities", "seconds", "agrees"]]
        .mean()
        .round(4)
        .to_string()
    )
    wide = table.pivot(index="seed", columns="model", values="probabilities")
    for name in wide.columns.drop("two classes"):
        gain = wide[name] - wide["two classes"]
        print(
            f"error of probabilities, {name} minus two classes: {gain.mean():.4f} (se"
            f" {gain.sem():.4f})"
        )


def numbers(replicates):
    """The second study."""
    models = {
        str(number): th.BradleyTerryLuce(people=th.people.LatentClasses(number))
        for number in (1, 2, 3)
    }
    for classes in (1, 2):
        best = []
        for seed in range(replicates):
            data = people(100 + seed, 40, classes)[0]
            scores = th.compare(
                models, data, leave_out="respondent", folds=5, random_seed=seed, **RUN
            )["together"]
            best.append(scores[list(models)].idxmax())
        print(
            f"{classes} classes, 40 people: the best of 1, 2, 3 was"
            f" {pd.Series(best).value_counts().sort_index().to_dict()}"
        )


def times():
    """The third study."""
    for number in (100, 200, 400, 800):
        data = people(1, number)[0]
        start = time.process_time()
        model = th.BradleyTerryLuce(people=th.people.LatentClasses(2))
        model.fit(data, draws=2000, tune=500, thin=1, chains=1, random_seed=1, progressbar=False)
        print(
            f"{number} people: {1000 * (time.process_time() - start) / 2500:.3f} CPU ms a sweep,"
            " all told"
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    recovery(count)
    numbers(count // 2)
    times()
