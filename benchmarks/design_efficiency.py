"""Designs of choice experiments beside those that R's idefix carries: D-errors at no, certain and
uncertain utilities.

`FOLDER` is the folder `data` of https://github.com/traets/idefix, whose designs were made by its
Modfed; the prior is that of the first example of its function DBerr (means -1, -1.5, -1, -1.5, .5,
1, standard deviations 1; 0 for no choice). Cyclic designs (Bunch, Louviere & Anderson 1996) need no
file: each task is a product and the others by adding 1, 2, ... to all of its levels, which is
optimal where nothing is known. For every design of thali also: tasks with a dominated product, and
whether versions are balanced.
"""

import argparse
import bz2
import gzip
import lzma
import struct
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import thali as th

LEVELS = [1, 2, 3]
ATTRIBUTES = {"time": LEVELS, "price": LEVELS, "comfort": LEVELS}
BUNDLED = {"example_design.RData": (16, 6, 2, False), "nochoice_design.RData": (24, 7, 3, True)}
MEANS, SD = {"time": [-1.0, -1.5], "price": [-1.0, -1.5], "comfort": [0.5, 1.0]}, 1.0


def matrix_in(path, rows, columns):
    """The numbers of the one matrix of an .RData file."""
    content = path.read_bytes()
    for opened in (gzip.decompress, bz2.decompress, lzma.decompress):
        try:
            content = opened(content)
            break
        except (OSError, lzma.LZMAError):
            continue
    at = content.index(struct.pack(">i", rows * columns)) + 4
    while True:
        found = np.frombuffer(content[at : at + 8 * rows * columns], ">f8")
        if len(found) == rows * columns and np.isin(found, (0.0, 1.0)).all():
            return found.astype(float).reshape(columns, rows).T
        at = content.index(struct.pack(">i", rows * columns), at) + 4


def design_of(coded, alternatives, none):
    """A coded matrix as a table of thali: two columns of each attribute stand for its second and
    third level."""
    own = coded[:, 1:] if none else coded
    codes = np.stack([1 + own[:, 2 * k] + 2 * own[:, 2 * k + 1] for k in range(3)], axis=1).astype(
        int
    )
    places = np.arange(len(coded)) % alternatives
    frame = pd.DataFrame(codes, columns=list(ATTRIBUTES)).astype(object)
    labels = [str(place + 1) for place in places]
    if none:
        is_none = coded[:, 0] == 1.0
        frame[is_none] = None
        labels = ["none" if own else label for own, label in zip(is_none, labels, strict=True)]
    return frame.assign(
        version=1, task=np.arange(len(coded)) // alternatives + 1, alternative=labels
    )


def prior(none):
    """Means and standard deviations, as `th.designs` takes them."""
    means = {name: [0.0, *own] for name, own in MEANS.items()} | ({"none": 0.0} if none else {})
    sds = {name: [0.0, SD, SD] for name in ATTRIBUTES} | ({"none": SD} if none else {})
    return means, sds


def cyclic(levels, attributes, alternatives):
    """All products, each with those that follow it, each task once."""
    tasks, seen = [], set()
    for start in product(range(levels), repeat=attributes):
        task = [tuple((x + shift) % levels for x in start) for shift in range(alternatives)]
        if frozenset(task) not in seen:
            seen.add(frozenset(task))
            tasks.append(task)
    rows = [
        {
            "version": 1,
            "task": t,
            "alternative": str(j),
            **{f"a{k}": level for k, level in enumerate(one)},
        }
        for t, task in enumerate(tasks, 1)
        for j, one in enumerate(task, 1)
    ]
    return pd.DataFrame(rows), len(tasks)


def report(name, design, means=None, sds=None, seconds=None):
    """A line of figures."""
    none = th.designs.check(design)
    line = f"{name:<44} D-efficiency {none.d_efficiency:.3f}, D-error at 0 {none.d_error:.4f}"
    if means is not None:
        given = th.designs.check(design, means, prior_sd=sds)
        line += f", at the mean {given.d_error:.4f}, Bayesian {given.bayesian_d_error:.4f}"
    print(line + ("" if seconds is None else f"  ({seconds:.1f} CPU s)"), flush=True)


def made(*args, **how):
    """A design and the CPU seconds that it took."""
    start = time.process_time()
    design = th.designs.choice(*args, random_seed=1, **how)
    return design, time.process_time() - start


def main(folder=None, small=False):
    for levels, attributes, alternatives in ((2, 3, 2), (3, 3, 3), (4, 3, 4))[: 1 if small else 3]:
        design, tasks = cyclic(levels, attributes, alternatives)
        title = f"{attributes} attributes of {levels} levels, {tasks} tasks of {alternatives}"
        report(f"{title}: cyclic", design)
        report(
            "  thali",
            *made({f"a{k}": list(range(levels)) for k in range(attributes)}, tasks, alternatives)[
                :1
            ],
        )
    for name, (rows, columns, alternatives, none) in (BUNDLED if folder else {}).items():
        means, sds = prior(none)
        bundled = design_of(matrix_in(folder / name, rows, columns), alternatives, none)
        report(f"{name}, idefix", bundled, means, sds)
        size = rows // alternatives, alternatives - none
        for title, how in (
            ("nothing known", {}),
            ("certain", {"prior": means}),
            ("uncertain", {"prior": means, "prior_sd": sds}),
        ):
            design, seconds = made(ATTRIBUTES, *size, none=none, **how)
            report(f"  thali, utilities {title}", design, means, sds, seconds)
    study = {
        "brand": list("ABCD"),
        "price": [99, 149, 199, 249, 299],
        "zoom": list("abc"),
        "lamp": list("ny"),
    }
    directions = {"price": "decreasing", "zoom": "increasing", "lamp": "increasing"}
    versions = 2 if small else 10
    for title, how in (
        ("", {}),
        (", directions", {"directions": directions}),
        (", balanced overlap", {"overlap": "balanced"}),
    ):
        design, seconds = made(study, 12, 3, none=True, versions=versions, **how)
        checked = th.designs.check(design, directions=directions)
        apart = (checked.balance["most"] - checked.balance["least"]).max()
        print(
            f"{versions} versions of 12 tasks of 3 and none{title}: D-efficiency"
            f" {checked.d_efficiency:.3f}, tasks with a dominated product {checked.dominated}, a"
            f" level is shown at most {apart} times more often in one version than in another "
            f" ({seconds:.1f} CPU s)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    main(given.folder, given.small)
