"""Stand-ins for fits to similarities, as pictures read them."""

import numpy as np
import xarray as xr

from helpers.all_drawn import in_groups
from helpers.drawn_pictures import MULTIMODAL
from helpers.similarity_columns import columns_of_sets, similarities, similarities_of
from thali import AdditiveClustering

COUNTRIES = (
    "China Cuba Germany Indonesia Iraq Italy Jamaica Japan Libya Nigeria Philippines Russia"
    " Spain USA Vietnam"
)


def fitted(
    n, labels=None, draws=80, chains=2, features=5, seed=0, measured=1.0, scale=1.0, kept=True
):
    """A stand-in for a fitted model: its tree and its estimates, as the pictures read them."""
    rng = np.random.default_rng(seed)
    labels = list(labels or [str(number) for number in range(n)])
    common = [tuple(rng.choice(n, min(n, 2 + k % 4), replace=False)) for k in range(features)]
    sets = [
        [(owners, scale * rng.gamma(8.0, 0.04)) for owners in common if rng.random() < 0.8]
        for _ in range(chains * draws)
    ]
    columns = columns_of_sets(sets, n)
    constant = scale * rng.gamma(9.0, 0.01, chains * draws)
    first, second = np.triu_indices(n, 1)
    everything = similarities_of(columns, constant, first, second)
    matrix = np.full((n, n), np.nan)
    matrix[first, second] = everything.mean(0) + scale * rng.normal(0, 0.05, len(first))
    lost = rng.random(len(first)) > measured
    matrix[first[lost], second[lost]] = np.nan
    matrix[0, 1] = 0.5 * scale
    data = similarities(matrix, labels)
    names = np.array(labels)

    def ends(dim, first, second):
        return {"option_a": (dim, names[first]), "option_b": (dim, names[second])}

    shape, width = (chains, draws), max(map(len, sets))
    dense, weights = columns.to_dense(0, chains * draws)
    sampled = ("chain", "draw")
    posterior = {
        "constant": (sampled, constant.reshape(shape)),
        "sigma": (sampled, np.full(shape, 0.05 * scale)),
        "alpha": (sampled, np.full(shape, 0.5)),
        "features": ((*sampled, "feature", "option"), dense.reshape(*shape, width, n)),
        "weights": ((*sampled, "feature"), weights.reshape(*shape, width)),
        "unique_weights": ((*sampled, "option"), np.zeros((*shape, n))),
    }
    coordinates = {"option": names}
    if kept:
        posterior["similarity"] = ((*sampled, "pair"), everything.reshape(*shape, -1))
        coordinates |= ends("pair", first, second)
    observed = xr.Dataset(
        {"similarity": ("measured_pair", data.values)},
        coords=ends("measured_pair", data.first, data.second),
    )
    groups = in_groups(xr.Dataset(posterior, coordinates)) | {"observed_data": observed}
    of_pairs = {"first": data.first, "second": data.second, "judgements": data.judgements}
    design = xr.Dataset(
        {"kind": "similarities"}
        | {name: ("measured_pair", cells) for name, cells in of_pairs.items()}
    )
    tree = xr.DataTree.from_dict(groups | {"constant_data": design})
    model = AdditiveClustering()
    vars(model).update(posterior_=tree, data=data, everything=everything)
    return model


CASES = {
    "thirty": lambda: fitted(30, features=12),
    "four awkward names": lambda: fitted(4, MULTIMODAL, features=3),
    "ten digits": lambda: fitted(10, features=8),
    "sixteen countries": lambda: fitted(15, COUNTRIES.split(), features=8, seed=3),
    "two": lambda: fitted(2, features=1),
    "no features": lambda: fitted(5, features=0),
    "unmeasured pairs": lambda: fitted(12, measured=0.5),
    "another unit": lambda: fitted(10, scale=40.0),
}
