"""The latent-class logit beside flexmix of R: log-likelihood, starts that find it, CPU seconds.

    python benchmarks/latent_class_logit.py [choices.csv] [--small] [--rscript Rscript]

`choices.csv` is the camera data (id, task, choice, brand with "none", further columns of numbers);
without it 150 simulated people answer ten tasks. flexmix (Leisch 2004; Debian: r-cran-flexmix,
r-cran-survival) maximises the same likelihood by EM, each M-step an exact conditional logistic
regression, from three starts for each number of classes; without R thali stands alone.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th

_PROGRAM = """
suppressMessages(library(flexmix))
d <- read.csv("FILE")
names <- setdiff(names(d), c("person", "stratum", "choice"))
formula <- as.formula(paste("choice ~ 0 +", paste(names, collapse = " + "), "| person"))
set.seed(1)
for (k in 1:CLASSES) {
  m <- stepFlexmix(formula, data = d, k = k, nrep = if (k == 1) 1 else 3, model = FLXMRcondlogit(strata = ~stratum),
                   control = list(tolerance = 1e-10, iter.max = 500), verbose = FALSE)
  cat(k, sprintf("%.6f", as.numeric(logLik(m))), sum(proc.time()[1:2]), "\\n")
}
"""


def simulated(people: int) -> th.ChoiceExperiment:
    """People of three kinds who choose among three products."""
    attributes = {"brand": ["A", "B", "C"], "price": [5, 15, 25], "zoom": ["no", "yes"]}
    design = th.designs.choice(attributes, 10, 3, versions=2, random_seed=1)
    rng = np.random.default_rng(1)
    tastes = np.array([[-0.2, 0.0, 0.0, 0.5], [-0.03, 2.0, -1.0, 0.5], [-0.03, -0.5, 0.5, 3.0]])
    parts = []
    for person in range(people):
        part = design.loc[design["version"] == person % 2 + 1].drop(columns="version")
        columns = [
            part["price"].astype(float),
            part["brand"] == "B",
            part["brand"] == "C",
            part["zoom"] == "yes",
        ]
        utility = np.column_stack(columns).astype(float) @ tastes[person % 3] + rng.gumbel(
            size=len(part)
        )
        best = utility.reshape(-1, 3).argmax(axis=1)
        parts.append(
            part.assign(id=person, choice=(np.arange(3) == best[:, None]).ravel().astype(int))
        )
    return th.ChoiceExperiment.from_frame(pd.concat(parts))


def by_flexmix(data: th.ChoiceExperiment, classes: int, rscript: str) -> list[list[float]]:
    """Number of classes, log-likelihood and CPU seconds so far, as flexmix prints them."""
    from thali._choice.product_coding import build_coding

    matrix = build_coding(data, "price").encode_codes(data.products)[data.row_product]
    task = np.repeat(np.arange(data.n_tasks), np.diff(data.first_row))
    frame = pd.DataFrame(matrix, columns=[f"x{j}" for j in range(matrix.shape[1])])
    chosen = np.arange(len(task)) - data.first_row[task] == data.chosen[task]
    frame = frame.assign(
        person=data.respondent_of_task[task], stratum=task + 1, choice=chosen.astype(int)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "choices.csv"
        frame.to_csv(path, index=False)
        program = _PROGRAM.replace("FILE", str(path)).replace("CLASSES", str(classes))
        done = subprocess.run([rscript, "-e", program], capture_output=True, text=True, check=True)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def main(choices: Path | None = None, small: bool = False, rscript: str | None = None) -> None:
    """Print both beside each other."""
    classes = 2 if small else 3
    data = simulated(30 if small else 150)
    if choices is not None:
        data = th.ChoiceExperiment.from_frame(pd.read_csv(choices), none={"brand": "none"})
    began = time.process_time()
    model = th.LatentClassLogit(range(1, classes + 1), "price").fit(
        data, random_seed=1, progressbar=False
    )
    print(f"{data}\nthali: {time.process_time() - began:.1f} CPU seconds")
    print(model.choice_[["log_likelihood", "bic", "starts", "times_found"]].to_string())
    if rscript is not None:
        for number, value, seconds in by_flexmix(data, classes, rscript):
            ours = model.choice_.loc[int(number), "log_likelihood"]
            print(
                f"flexmix, {number:.0f}: {value:.3f} (thali {ours - value:+.4f}), {seconds:.1f}"
                " CPU seconds so far"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("choices", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--rscript")
    main(**vars(parser.parse_args()))
