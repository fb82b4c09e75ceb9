"""What is said of features that were matched across draws: a table, and the membership of each option."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import between
from thali.posterior.interval import TAILS

from ..draws.columns import columns_of
from .features import checked_probability, without_idle_weights
from .kind import of_data
from .matching import Matched, match

if TYPE_CHECKING:
    import pandas
    import xarray

SIMILAR = 0.8  # Jaccard index from which on two features are one, unless the user says otherwise
MEMBER = 0.5  # membership from which on an option is named as a member
MANY = 30  # objects: of more of them features hardly ever have the same owners in two draws, and are matched


def similar_for(n: int, wanted: float | None = None) -> float | None:
    """The Jaccard index from which on features of n objects are taken for one: that wanted, or one that suits n."""
    return SIMILAR if wanted is None and n > MANY else wanted


def members_in_words(members: Sequence[str], labels: Sequence[str]) -> str:
    """The members of a feature; of many objects those that lack it, where these are the fewer."""
    if len(labels) <= MANY or 2 * len(members) <= len(labels):
        return ", ".join(members)
    lacking = [label for label in labels if label not in set(members)]
    return f"all {len(labels)}" + (f" but {', '.join(lacking)}" if lacking else "")


def matched_features(tree: "xarray.DataTree", similar: Any, min_probability: Any) -> Matched:
    """The features of a posterior, matched; those that a single option owns only where the data can show them."""
    similar = between("similar", similar, "the Jaccard index from which on features are taken for one")
    least = checked_probability(min_probability)
    return match(columns_of(tree), similar, least, 1 if of_data(tree).shows_single(tree) else 2)


def matched_table(tree: "xarray.DataTree", found: Matched) -> "pandas.DataFrame":
    """A row a feature, numbered from 1, the most probable first."""
    import pandas as pd

    from thali._tables import Table

    from .presence import convergence_of

    posterior = tree["posterior"].dataset
    labels = posterior["option"].values.tolist()
    present = found.present.reshape(-1, posterior.sizes["chain"], posterior.sizes["draw"])
    bounds = np.searchsorted(found.feature, np.arange(len(found.membership) + 1))
    of_each = [slice(*ends) for ends in zip(bounds[:-1], bounds[1:], strict=True)]
    ends = np.array([np.quantile(found.weight[part], TAILS) for part in of_each]).reshape(-1, 2)
    columns = {
        "members": [tuple(labels[i] for i in np.flatnonzero(row >= MEMBER)) for row in found.membership],
        "weight": [float(found.weight[part].mean()) for part in of_each],
        "weight_low": ends[:, 0],
        "weight_high": ends[:, 1],
        "stability": [float(found.index[part].mean()) for part in of_each],
        **convergence_of(present),
        "probability": present.mean(axis=(1, 2)) if len(present) else [],
    }
    table = Table(columns, index=pd.RangeIndex(1, len(found.membership) + 1, name="feature"))
    return without_idle_weights(table, tree)


def membership_table(tree: "xarray.DataTree", found: Matched) -> "pandas.DataFrame":
    """Options by features: the share of the draws with the feature in which the option owns it."""
    import pandas as pd

    from thali._tables import Table

    labels = pd.Index(tree["posterior"].dataset["option"].values.tolist(), name="option")
    numbers = pd.RangeIndex(1, len(found.membership) + 1, name="feature")
    return Table(found.membership.T, index=labels, columns=numbers)
