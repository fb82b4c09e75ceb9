"""Convergence check of a run: R-hat, effective sample size, remedies."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._object_descriptions import DescribedObject, Description
from thali.errors import PYTHON, Argument, ArgumentError, InPython, Message, Setting, Words

if TYPE_CHECKING:
    import pandas

# Criteria of Vehtari et al. (2021).
HIGHEST_R_HAT = 1.01
ESS_PER_CHAIN = 100
_MAX_LONGER = 100.0  # maximum factor of draws in a remedy
_LONGEST_NAME = 60  # characters of a row's name in a sentence
_MIN_DRAWS = 100  # draws per chain below which chains are never called stuck

_STUCK = Message(
    "the chains stay in different regions, so more draws will rarely help; inspect the traces",
    InPython(" with model.plot('trace')"),
    " and try other seeds",
)


class Advice(NamedTuple):
    """Remedies that a model suggests if its chains disagree."""

    # the argument that lengthens a run; None: no such argument, the remedy is `stuck`
    draws: str | None = "draws"
    now: int | None = None  # its value; None: the draws of the summary
    tunes: bool = True  # whether to increase `tune` in proportion
    besides: tuple[Any, ...] = ()  # remedies in addition to a longer run
    stuck: tuple[Any, ...] = (_STUCK,)  # remedies if a longer run would not help
    longer_if_stuck: bool = False  # whether `stuck` also suggests ten times as many draws
    note: tuple[Any, ...] = ()  # text after every sentence
    # target effective sample size, all chains together; None: 100 per chain
    ess: int | None = None


NO_ADVICE = Advice()


@dataclass(frozen=True)
class ConvergenceCheck(DescribedObject):
    """Result of a convergence check; true if the chains agree and are long enough.

    Attributes
    ----------
    agrees : bool
    facts : dict
        chains, draws; if defined, r_hat (largest), r_hat_of (its row), ess (smallest), ess_kind
        ("ess_bulk" or "ess_tail"), ess_of (its row), wanted_ess (target), disagree (whether R-hat
        is too large), longer (factor of draws that should suffice, if the chains are only short)
        and apart (whether this factor is so large that a longer run would rarely help).
    remedies : tuple of Setting
        Recommended arguments of another fit.
    message : Message
        The sentence, in parts that each interface formats.
    people : Message or None
        The limitation of intervals for statements about respondents, if answers of the same
        respondent are treated as independent.
    good : bool
        Whether the chains agree and intervals have no such limitation.
    """

    agrees: bool
    facts: dict[str, Any]
    message: Message
    people: Message | None = None

    @property
    def good(self) -> bool:
        """Whether the check passed and no other warning is needed."""
        return self.agrees and self.people is None

    @property
    def remedies(self) -> tuple[Setting, ...]:
        """Settings that the sentence suggests to change."""
        return tuple(part for part in self.message.parts if isinstance(part, Setting))

    def render(self, words: Words) -> str:
        """Return the sentence of the check in the words of an interface."""
        return " ".join(
            message.render(words) for message in (self.message, self.people) if message is not None
        )

    def __bool__(self) -> bool:
        return self.agrees

    def __repr__(self) -> str:
        return self.render(PYTHON)

    def _description(self) -> Description:
        """Return what notebooks show: the sentence, and whether the check passed."""
        return Description("Convergence", note=str(self), good=self.good)


def check_convergence(summary: "pandas.DataFrame", advice: Advice = NO_ADVICE) -> ConvergenceCheck:
    """Check R-hat and effective sample sizes of a summary's rows.

    The criteria are R-hat of at most 1.01 and both effective sample sizes of at least 100 per
    chain, for every quantity that varies (Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021,
    section 4).

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
    >>> str(convergence).split(". ")[1].split(" and ")[0]
    'Refit with `draws=11000` (now 1000)'
    """
    if not {"chains", "draws"} <= set(summary.attrs):
        raise ArgumentError(
            "`summary` lacks attrs 'chains' and 'draws'; pass the unchanged frame returned by"
            " summary()."
        )
    check = _assess_summary(summary, advice)
    if advice.note:
        return replace(check, message=Message(*check.message.parts, *advice.note))
    return check


def _assess_summary(summary: "pandas.DataFrame", advice: Advice) -> ConvergenceCheck:
    """Return the check of R-hat and effective sample sizes, without a model's own note."""
    n_chains = summary.attrs["chains"]
    n_draws = summary.attrs["draws"]
    facts: dict[str, Any] = {"chains": n_chains, "draws": n_draws}
    subject = "The single chain"
    if n_chains > 1:
        subject = f"The {n_chains} chains"
    if n_draws < 4:
        assert advice.draws is not None
        short_run_text = f"{subject} cannot be assessed with {n_draws} draws; refit with "
        return ConvergenceCheck(
            False, facts, Message(short_run_text, Setting(advice.draws, 1000), ".")
        )
    varying_rows = {name: row for name, row in summary.to_dict("index").items() if row["sd"] != 0}
    if not varying_rows:
        return ConvergenceCheck(
            True, facts, Message(f"{subject} agree trivially: no quantity varies.")
        )
    target_ess = advice.ess
    if target_ess is None:
        target_ess = ESS_PER_CHAIN * n_chains
    facts |= _measure_convergence(varying_rows, n_chains, n_draws, target_ess)
    is_short = facts["ess"] < target_ess
    fault_text = _describe_faults(facts)
    remedy_parts = _choose_remedy(facts, advice)
    ess_text = f"{facts['ess_kind']} of {shorten_row_name(facts['ess_of'])}"
    agrees = False
    if n_chains == 1:
        sentence_parts = (f"{subject} is long enough ({ess_text} is {facts['ess']:,.0f}), but ",)
        if is_short:
            sentence_parts = (f"{subject} is too short: {fault_text}", *remedy_parts, ". Also, ")
        sentence_parts += (
            "with one chain there is no R-hat, so agreement between chains cannot be checked; use ",
            Setting("chains", 4),
            ".",
        )
    elif facts["disagree"]:
        sentence_parts = (f"{subject} do not agree yet: {fault_text}", *remedy_parts, ".")
    elif is_short:
        sentence_parts = (f"{subject} agree but are too short: {fault_text}", *remedy_parts, ".")
    else:
        agrees = True
        sentence_parts = (
            f"{subject} agree: R-hat is at most {facts['r_hat']:.3f}"
            f" ({shorten_row_name(facts['r_hat_of'])}; target: at most {HIGHEST_R_HAT}) and the"
            f" effective sample size at least {math.floor(facts['ess']):,} ({ess_text};"
            f" target: at least {target_ess:,}).",
        )
    return ConvergenceCheck(agrees, facts, Message(*sentence_parts))


def _measure_convergence(
    summary_rows: dict[Any, dict[Any, Any]], n_chains: int, n_draws: int, target_ess: int
) -> dict[str, Any]:
    """Return the worst R-hat and ESS with their rows, and how much longer to run."""
    # NaN for a varying quantity means a chain that does not move: the worst case.
    min_ess, ess_kind, min_ess_row = min(
        (_replace_nan(row[ess_kind], 0.0), ess_kind, name)
        for name, row in summary_rows.items()
        for ess_kind in ("ess_bulk", "ess_tail")
    )
    max_r_hat, max_r_hat_row = max(
        (_replace_nan(row["r_hat"], math.inf), name) for name, row in summary_rows.items()
    )
    facts = {"ess": min_ess, "ess_kind": ess_kind, "ess_of": min_ess_row, "wanted_ess": target_ess}
    if n_chains > 1:
        facts |= {"r_hat": max_r_hat, "r_hat_of": max_r_hat_row}
    is_disagreeing = n_chains > 1 and max_r_hat > HIGHEST_R_HAT
    length_factor = target_ess / max(min_ess, 1.0)
    if is_disagreeing:
        # for short chains in one region, R-hat squared minus 1 is inversely proportional to length
        length_factor = max(length_factor, (max_r_hat**2 - 1) / (HIGHEST_R_HAT**2 - 1))
    is_stuck = is_disagreeing and _is_stuck(n_draws, length_factor)
    return facts | {"disagree": is_disagreeing, "longer": length_factor, "apart": is_stuck}


def _replace_nan(number: float, replacement: float) -> float:
    """Return the number, or `replacement` if it is NaN."""
    if math.isnan(number):
        return replacement
    return number


def _is_stuck(n_draws: int, length_factor: float) -> bool:
    """Return whether the chains disagree so much that a longer run cannot help."""
    return (n_draws >= 1000 and length_factor > 30) or (
        n_draws >= _MIN_DRAWS and length_factor > 100
    )


def _describe_faults(facts: dict[str, Any]) -> str:
    """Return a phrase on which criteria are missed; "" if none."""
    faults = []
    if facts["disagree"]:
        faults.append(
            f"R-hat of {shorten_row_name(facts['r_hat_of'])} is {format_r_hat(facts['r_hat'])}"
            f" (target: at most {HIGHEST_R_HAT})"
        )
    if facts["ess"] < facts["wanted_ess"]:
        faults.append(
            f"{facts['ess_kind']} of {shorten_row_name(facts['ess_of'])} is"
            f" {math.floor(facts['ess']):,}"
            f" (target: at least {facts['wanted_ess']:,})"
        )
    return " and ".join(faults)


def format_r_hat(r_hat: float) -> str:
    """Format an R-hat as "1.005"; values of 100 or more as "> 100".

    Examples
    --------
    >>> format_r_hat(1.0049), format_r_hat(1.0101), format_r_hat(4e15)
    ('1.005', '1.0101', '> 100')
    """
    if HIGHEST_R_HAT < r_hat and round(r_hat, 3) == HIGHEST_R_HAT:
        # three decimals would say that the target is met
        return f"{math.ceil(r_hat * 1e4) / 1e4:.4f}"
    if r_hat < 100:
        return f"{r_hat:.3f}"
    return "> 100"


def shorten_row_name(row_name: str) -> str:
    """Return a summary row's name, shortened for a sentence.

    Examples
    --------
    >>> shorten_row_name("presence[a, b, c]")
    'presence[a, b, c]'
    """
    if len(row_name) <= _LONGEST_NAME:
        return row_name
    return f"{row_name[: _LONGEST_NAME - 1]}…"


def _choose_remedy(facts: dict[str, Any], advice: Advice) -> tuple[Any, ...]:
    """Return the parts after the fault, which suggest a longer run or another method."""
    if advice.draws is None:
        return ("; ", *advice.stuck)
    current_draws = advice.now
    if current_draws is None:
        current_draws = facts["draws"]
    if _is_stuck(facts["draws"], facts["longer"]):
        if advice.longer_if_stuck:
            return ("; ", *advice.stuck, *_describe_longer_run(10.0, current_draws, advice))
        return ("; ", *advice.stuck)
    factor = min(max(2.0, facts["longer"]), _MAX_LONGER)
    remedy_parts = (". Refit with ", *_describe_longer_run(factor, current_draws, advice))
    if facts["disagree"]:
        return remedy_parts + advice.besides
    return remedy_parts


def _describe_longer_run(factor: float, current_draws: int, advice: Advice) -> tuple[Any, ...]:
    """Return the sentence parts that suggest a run `factor` as long."""
    assert advice.draws is not None
    # rounded up to two significant digits
    unit = 10 ** max(0, math.floor(math.log10(current_draws * factor)) - 1)
    n_draws = math.ceil(current_draws * factor / unit) * unit
    tune_parts: tuple[Any, ...] = ()
    if advice.tunes:
        tune_parts = (" and ", Argument("tune"), " increased in proportion")
    return (
        Setting(advice.draws, n_draws),
        f" (now {current_draws})",
        *tune_parts,
        f", which takes about {n_draws / current_draws:.0f} times as long",
    )
