"""The convergence check: do the chains agree, are they long enough, and what to do if not."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import DescribedObject, Description
from thali.errors import PYTHON, Argument, ArgumentError, InPython, Message, Setting, Words

if TYPE_CHECKING:
    import pandas

# What ArviZ's authors ask of a run before it is believed.
HIGHEST_R_HAT = 1.01
ESS_PER_CHAIN = 100
_MAX_LONGER = 100.0  # times as many draws that are ever asked for
_LONGEST_NAME = 60  # characters of a row's name in a sentence
_MIN_DRAWS = 100  # draws of a chain, too few to call chains that differ apart for good

_STUCK = Message(
    "the chains stay in different regions, so more draws will rarely help; inspect the traces",
    InPython(" with model.plot('trace')"),
    " and try other seeds",
)


class Advice(NamedTuple):
    """What a model says about chains that disagree, in parts of sentences and remedies."""

    # the argument that lengthens a run; None: there is none, and `stuck` is advised
    draws: str | None = "draws"
    now: int | None = None  # its value; None: the draws of the summary
    tunes: bool = True  # whether `tune` is to be raised likewise
    besides: tuple[Any, ...] = ()  # what helps, too, besides a longer run
    stuck: tuple[Any, ...] = (_STUCK,)  # where chains stay apart and no longer run would help
    longer_if_stuck: bool = False  # whether ten times as long a run is advised with `stuck`
    note: tuple[Any, ...] = ()  # what stands after every sentence
    # effective draws that are wanted of all chains together; None: 100 of each
    ess: int | None = None


NO_ADVICE = Advice()


@dataclass(frozen=True)
class ConvergenceCheck(DescribedObject):
    """Whether the chains of a fit agree and are long enough: its truth value; it shows itself as a
    sentence.

    Attributes
    ----------
    agrees : bool
    facts : dict
        chains, draws; where they are defined r_hat (the largest), r_hat_of (its row), ess (the
        smallest), ess_kind ("ess_bulk" or "ess_tail"), ess_of (its row), wanted_ess, disagree
        (whether R-hat is too large), longer (how many times as many draws should do, if the chains
        merely are short) and apart (whether that is so many that a longer run would hardly help).
    remedies : tuple of Setting
        Arguments of another fit that are advised.
    message : Message
        The sentence, in parts that every place spells in its own words.
    people : Message or None
        What intervals lack for statements about people, because answers of the same people count as
        independent.
    good : bool
        Whether the chains agree and intervals lack nothing.
    """

    agrees: bool
    facts: dict[str, Any]
    message: Message
    people: Message | None = None

    @property
    def good(self) -> bool:
        """Whether there is nothing to mend."""
        return self.agrees and self.people is None

    @property
    def remedies(self) -> tuple[Setting, ...]:
        return tuple(part for part in self.message.parts if isinstance(part, Setting))

    def render(self, words: Words) -> str:
        """The sentence in those words."""
        return " ".join(
            each.render(words) for each in (self.message, self.people) if each is not None
        )

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        return self.render(PYTHON)

    def _description(self) -> Description:
        return Description("Convergence", note=str(self), good=self.good)


def check_convergence(summary: "pandas.DataFrame", advice: Advice = NO_ADVICE) -> ConvergenceCheck:
    """The convergence check of a summary.

    The standard is that of ArviZ's authors: R-hat at most 1.01, and both effective sample sizes at
    least 100 a chain, for every quantity that changes at all (Vehtari, Gelman, Simpson, Carpenter &
    Bürkner 2021, section 4).

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"sd": 1.0, "r_hat": 1.1, "ess_bulk": 90.0, "ess_tail": 300.0}, index=["alpha"]
    ... )
    >>> frame.attrs.update(chains=4, draws=1000)
    >>> convergence = check_convergence(frame)
    >>> bool(convergence), str(convergence).split(":")[0]
    (False, 'The 4 chains do not agree yet')
    >>> str(convergence).split("; ")[1]
    'refit with `draws=11000` (now 1000) and a proportionally larger `tune`.'
    """
    if not {"chains", "draws"} <= set(summary.attrs):
        raise ArgumentError(
            "`summary` lacks attrs 'chains' and 'draws'; pass the unchanged frame returned by"
            " summary()."
        )
    found = _judged(summary, advice)
    return (
        replace(found, message=Message(*found.message.parts, *advice.note))
        if advice.note
        else found
    )


def _judged(summary: "pandas.DataFrame", advice: Advice) -> ConvergenceCheck:
    """The convergence check without the note."""
    chains, draws = summary.attrs["chains"], summary.attrs["draws"]
    facts: dict[str, Any] = {"chains": chains, "draws": draws}
    of_chains = f"The {chains} chains" if chains > 1 else "The one chain"
    if draws < 4:
        assert advice.draws is not None
        few = f"{of_chains} cannot be assessed with {draws} draws; refit with "
        return ConvergenceCheck(False, facts, Message(few, Setting(advice.draws, 1000), "."))
    rows = {name: row for name, row in summary.to_dict("index").items() if row["sd"] != 0}
    if not rows:
        return ConvergenceCheck(
            True, facts, Message(f"{of_chains} agree trivially: no quantity varies.")
        )
    wanted = ESS_PER_CHAIN * chains if advice.ess is None else advice.ess
    # NaN though the quantity changes means a chain that stands still: as bad as can be.
    smallest, kind, smallest_of = min(
        (0.0 if math.isnan(row[kind]) else row[kind], kind, name)
        for name, row in rows.items()
        for kind in ("ess_bulk", "ess_tail")
    )
    largest, largest_of = max(
        (math.inf if math.isnan(row["r_hat"]) else row["r_hat"], name) for name, row in rows.items()
    )
    facts |= {"ess": smallest, "ess_kind": kind, "ess_of": smallest_of, "wanted_ess": wanted}
    if chains > 1:
        facts |= {"r_hat": largest, "r_hat_of": largest_of}
    short, disagree = smallest < wanted, chains > 1 and largest > HIGHEST_R_HAT
    longer = wanted / max(smallest, 1.0)
    faults = []
    if disagree:
        faults.append(
            f"R-hat of {short_name(largest_of)} is {r_hat_in_words(largest)} (target: at most"
            f" {HIGHEST_R_HAT})"
        )
        # Of chains that merely are short, R-hat squared minus 1 falls as one over their length.
        longer = max(longer, (largest**2 - 1) / (HIGHEST_R_HAT**2 - 1))
    if short:
        faults.append(
            f"{kind} of {short_name(smallest_of)} is {smallest:,.0f} (target: at least {wanted:,})"
        )
    is_stuck = draws >= _MIN_DRAWS and longer > (30 if draws >= 1000 else 100)
    facts |= {"disagree": disagree, "longer": longer, "apart": disagree and is_stuck}
    fault, mend = " and ".join(faults), _mend(draws, longer, disagree, is_stuck, advice)
    if chains == 1:
        alone = (
            "with one chain there is no R-hat, so agreement between chains cannot be checked; use ",
        )
        alone += (Setting("chains", 4),)
        if short:
            parts = (f"{of_chains} is too short: {fault}; ", *mend, ". Also, ", *alone, ".")
        else:
            long = (
                f"{of_chains} is long enough ({kind} of {short_name(smallest_of)} is"
                f" {smallest:,.0f}), but "
            )
            parts = (long, *alone, ".")
        return ConvergenceCheck(False, facts, Message(*parts))
    if disagree:
        return ConvergenceCheck(
            False, facts, Message(f"{of_chains} do not agree yet: {fault}; ", *mend, ".")
        )
    if short:
        return ConvergenceCheck(
            False, facts, Message(f"{of_chains} agree but are too short: {fault}; ", *mend, ".")
        )
    agree = (
        f"{of_chains} agree: R-hat is at most {largest:.3f} ({short_name(largest_of)}; target: at"
        f" most {HIGHEST_R_HAT}) and the effective sample size at least {smallest:,.0f} ({kind} of"
        f" {short_name(smallest_of)}; target: at least {wanted:,})."
    )
    return ConvergenceCheck(True, facts, Message(agree))


def r_hat_in_words(r_hat: float) -> str:
    """An R-hat in a sentence: how large a huge one is says nothing.

    Examples
    --------
    >>> r_hat_in_words(1.0049), r_hat_in_words(4e15)
    ('1.005', '> 100')
    """
    return f"{r_hat:.3f}" if r_hat < 100 else "> 100"


def short_name(row: str) -> str:
    """The name of a row of a summary, cut off where it is long.

    Examples
    --------
    >>> short_name("presence[a, b, c]")
    'presence[a, b, c]'
    """
    return row if len(row) <= _LONGEST_NAME else f"{row[: _LONGEST_NAME - 1]}…"


def _mend(
    draws: int, longer: float, disagree: bool, is_stuck: bool, advice: Advice
) -> tuple[Any, ...]:
    """What to do if `longer` times as many draws would do, or none would."""
    now = draws if advice.now is None else advice.now
    if advice.draws is None:
        return advice.stuck
    if is_stuck:
        return (*advice.stuck, *(_longer(10.0, now, advice) if advice.longer_if_stuck else ()))
    more = _longer(min(max(2.0, longer), _MAX_LONGER), now, advice)
    return ("refit with ", *more, *(advice.besides if disagree else ()))


def _longer(times: float, now: int, advice: Advice) -> tuple[Any, ...]:
    """A run that is so many times as long."""
    assert advice.draws is not None
    more = Setting(advice.draws, _two_digits(now * times))
    return (
        more,
        f" (now {now})",
        *((" and a proportionally larger ", Argument("tune")) if advice.tunes else ()),
    )


def _two_digits(number: float) -> int:
    """The next number with two digits and zeros."""
    unit = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit
