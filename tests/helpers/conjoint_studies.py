"""Simulated conjoint experiments of political science, in the shape that the field exports."""

import numpy as np
import pandas as pd

LEVELS = {
    "Gender": ("Male", "Female"),
    "Age": ("35", "50", "68"),
    "Party": ("Left", "Right"),
    "Education": ("No degree", "College", "PhD"),
    "Job": ("Teacher", "Lawyer", "Farmer", "Doctor"),
}
_UTILITY = {"Female": 0.3, "68": -0.4, "College": 0.3, "PhD": 0.6, "Doctor": 0.3, "Farmer": -0.2}


def _is_allowed(profile, is_restricted):
    """Whether a profile may be shown: doctors have a degree, lawyers a PhD."""
    job, education = profile["Job"], profile["Education"]
    return not is_restricted or not (
        (job == "Doctor" and education == "No degree") or (job == "Lawyer" and education != "PhD")
    )


def simulate_conjoint(respondents=40, tasks=5, restricted=False, seed=0, interaction=0.9):
    """A table with one row per profile: choice, rating, party and weight of the respondent."""
    rng = np.random.default_rng(seed)
    rows = []
    for respondent in range(respondents):
        party = ("Left", "Right")[int(rng.random() < 0.5)]
        scale, weight = rng.normal(1.0, 0.5), round(float(rng.lognormal(0.0, 0.5)), 3)
        for task in range(tasks):
            profiles = []
            while len(profiles) < 2:
                profile = {name: str(rng.choice(labels)) for name, labels in LEVELS.items()}
                if _is_allowed(profile, restricted):
                    profiles.append(profile)
            utility = np.array(
                [
                    scale * sum(_UTILITY.get(label, 0.0) for label in profile.values())
                    + interaction * (profile["Party"] == party)
                    for profile in profiles
                ]
            )
            noisy = utility + rng.gumbel(size=2)
            for k, profile in enumerate(profiles):
                rows.append(
                    {
                        "ResponseId": f"R_{respondent:04d}",
                        "contest_no": task + 1,
                        "profile": k + 1,
                        **profile,
                        "selected": int(k == noisy.argmax()),
                        "rating": int(np.clip(round(4 + noisy[k] / 2), 1, 7)),
                        "resp_party": party,
                        "half": ("first", "second")[task >= tasks / 2],
                        "weight": weight,
                    }
                )
    return pd.DataFrame(rows)


def read_conjoint(frame, **columns):
    """Read such a table: attributes are those of `LEVELS`."""
    import thali as th

    return th.read(frame, kind="experiment", **({"outcome": "choice"} | columns))
