"""Families of features that chains stay in: which chains found the same features, what is common to all families."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Described, Description, as_text
from thali._labels import plural
from thali.errors import Message
from thali.model.wording import listed

from .features import features_table, presence_of
from .kind import of_data
from .matched_features import members_in_words, similar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas
    import xarray

    from thali.posterior.stacking import Stacked

    from .matched_features import Matched

APART = 0.5  # difference of the probability of a feature from which on two chains are of different families
OWNED = 0.5  # probability from which on a chain, or a family, has a feature
_NAMED = 3  # features that a sentence names


@dataclass(frozen=True)
class Families(Described):
    """Families of features that chains stay in; `str` says which, and what is common to all.

    Attributes
    ----------
    chains : tuple of tuple of int
        The chains of each family, by their numbers.
    features : pandas.DataFrame
        A row a feature that a family has with a probability of .5 or more: members, `common` (whether all families
        have it so), and ``family 1``, ``family 2``, ..., its probability in each; the common ones first.
    correlation : float
        The smallest one between what two families predict of pairs; NaN of one family, or where nothing is compared.
    stacked : Stacked or None
        The weights of the chains by stacking; None where the posterior holds no density of each observation.
    """

    chains: tuple[tuple[int, ...], ...]
    features: "pandas.DataFrame"
    labels: tuple[str, ...] = field(repr=False)
    correlation: float = float("nan")
    stacked: "Stacked | None" = field(default=None, repr=False)

    @property
    def table(self) -> "pandas.DataFrame":
        """A row a family: its chains, and its weight by stacking, how probable it is for predictions."""
        import pandas as pd

        from thali._tables import Table

        of = self.stacked
        weights = [float("nan") if of is None else float(of.weights.loc[list(each)].sum()) for each in self.chains]
        index = pd.RangeIndex(1, len(self.chains) + 1, name="family")
        return Table({"chains": [", ".join(map(str, each)) for each in self.chains], "weight": weights}, index=index)

    @property
    def unreliable(self) -> float:
        """The share of the densities behind the weights that are not to be relied on."""
        return float("nan") if self.stacked is None else self.stacked.unreliable

    @property
    def common(self) -> list[tuple[str, ...]]:
        """The members of the features that all families have."""
        return self.features["members"][self.features["common"]].tolist()

    def of_one(self, number: int) -> list[tuple[str, ...]]:
        """The members of the features that family `number` has and not all others, those that it alone has first."""
        rest: Any = self.features[~self.features["common"]]
        own = rest[rest[_name(number)] >= OWNED]
        others = own.drop(columns=["members", "common", _name(number)])
        order = np.argsort((others.to_numpy(float) >= OWNED).sum(axis=1), kind="stable")
        return own["members"].iloc[order].tolist()

    @property
    def message(self) -> Message:
        """How many families there are, and what is common to all."""
        word = self.features.attrs["word"]
        if len(self.chains) == 1:
            which = f"The chains are all in one family of {word}s: no probability differs by more than {APART:g}"
        elif all(len(each) == 1 for each in self.chains):
            which = f"Each chain stays in a family of {word}s of its own"
        else:
            which = f"The chains stay in {len(self.chains)} families of {word}s ({'; '.join(map(chains, self.chains))})"
        is_are = f"{plural(len(self.common), word)} {'is' if len(self.common) == 1 else 'are'}"
        common = f"{is_are} common to all: {in_words(self.common)}" if self.common else f"no {word} is common to all"
        return Message(f"{which}; {common}.")

    def __str__(self) -> str:
        return as_text(self._description())

    def _description(self) -> Description:
        members = [members_in_words(each, self.labels) for each in self.features["members"]]
        facts = tuple(
            (_name(number), f"{chains(each)}, weight by stacking {weight:.2g}")
            for number, (each, weight) in enumerate(zip(self.chains, self.table["weight"], strict=True), 1)
        )
        return Description("Families", facts, self.features.assign(members=members), note=str(self.message), good=False)


def chains(numbers: "Sequence[int]") -> str:
    """Chains in a sentence."""
    return f"chain{'s' * (len(numbers) > 1)} {listed(numbers, len(numbers))}"


def in_words(members: "Sequence[tuple[str, ...]]") -> str:
    """Features in a sentence: the first ones, and how many more."""
    more = len(members) - _NAMED
    return "; ".join([*map(listed, members[:_NAMED]), *([f"{more:,} more"] if more > 0 else [])])


def families_of(
    tree: "xarray.DataTree", matched: "Callable[[float, float], Matched]", predicted: np.ndarray | None
) -> Families:
    """The families of a posterior of several chains, of which `predicted` compares predictions (chain, quantity).

    `matched` finds the features of many objects.
    """
    from thali._tables import Table

    posterior = tree["posterior"].dataset
    labels = tuple(map(str, posterior["option"].values))
    members, present = _found(tree, labels, matched)
    by_chain: np.ndarray = present.mean(axis=2)  # (features, chains)
    families = _agreeing(by_chain)
    chance = np.stack([by_chain[:, each].mean(axis=1) for each in families], axis=1)
    owned: np.ndarray = np.greater_equal(chance, OWNED)
    kept, common = np.flatnonzero(owned.any(axis=1)), np.all(owned, axis=1)
    order = kept[np.lexsort((-chance[kept].max(axis=1), -chance[kept].min(axis=1), ~common[kept]))]
    columns: dict[str, Any] = {"members": [members[row] for row in order.tolist()], "common": common[order]}
    columns |= {_name(number + 1): chance[order, number] for number in range(len(families))}
    table = Table(columns)
    table.attrs["word"] = of_data(tree).word
    numbers, correlation = posterior["chain"].values.tolist(), float("nan")
    if predicted is not None and len(families) > 1 and predicted.shape[1] > 1:
        correlation = float(np.corrcoef([predicted[each].mean(axis=0) for each in families]).min())
    return Families(tuple(tuple(numbers[k] for k in each) for each in families), table, labels, correlation)


def _name(number: int) -> str:
    """The column of a family."""
    return f"family {number}"


def _found(
    tree: "xarray.DataTree", labels: "Sequence[str]", matched: "Callable[[float, float], Matched]"
) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Features that some chain may have, and which draws have them (features, chain, draw)."""
    sizes = tree["posterior"].sizes
    least = OWNED / sizes["chain"]
    if (similar := similar_for(len(labels))) is not None:
        found = matched(similar, least)
        return found.members(labels), found.present.reshape(-1, sizes["chain"], sizes["draw"])
    of, every = of_data(tree), features_table(tree, least)["members"].tolist()
    silent = of.is_silent(tree, np.array([len(each) for each in every], int))
    fewest = 1 if of.shows_single(tree) else 2
    members = [each for each, is_idle in zip(every, silent, strict=True) if len(each) >= fewest and not is_idle]
    return members, presence_of(tree, members)


def _agreeing(by_chain: np.ndarray) -> list[list[int]]:
    """Chains any two of which agree on every feature; each joins the first such family."""
    families: list[list[int]] = []
    for chain in range(by_chain.shape[1]):
        far = np.abs(by_chain - by_chain[:, [chain]]).max(axis=0, initial=0.0) > APART
        home = next((each for each in families if not far[each].any()), None)
        if home is None:
            families.append([chain])
        else:
            home.append(chain)
    return families
