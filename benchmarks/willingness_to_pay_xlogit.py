"""Mixed logit of xlogit in willingness-to-pay space, run by `willingness_to_pay.py` in an environment that has
it.

    python willingness_to_pay_xlogit.py FOLDER DRAWS

FOLDER holds choices.csv. Writes estimate.npz: mean and standard deviation (2,) of the amounts for
zoom and brand.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

if __name__ == "__main__":
    from xlogit import MixedLogit

    folder, draws = Path(sys.argv[1]), int(sys.argv[2])
    rows = pd.read_csv(folder / "choices.csv")
    names = ["zoom", "brand"]
    model = MixedLogit()
    model.fit(
        X=rows[names], y=rows["choice"], varnames=names, alts=rows["alt"], ids=rows["task"], panels=rows["id"],
        randvars=dict.fromkeys(names, "n"), scale_factor=rows["price"], n_draws=draws, verbose=0, skip_std_errs=True,
    )  # fmt: skip
    found = dict(zip(map(str, model.coeff_names), model.coeff_, strict=True))
    mean, sd = ([found[f"{of}{name}"] for name in names] for of in ("", "sd."))
    np.savez(folder / "estimate.npz", mean=mean, sd=np.abs(sd), scale=found["_scale_factor"])
