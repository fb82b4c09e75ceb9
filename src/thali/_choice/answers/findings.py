"""What every model of choice experiments finds out: attributes, levels, money, markets,
segments."""

from dataclasses import replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.levels import parse_number
from thali._data.experiments.scheme import INSIDE, INSIDE_LEVELS
from thali._digits import number, percent, probability
from thali._inference.warn import silence_warnings
from thali._labels import as_label, listed
from thali._model.common_findings import build_check_finding, passes_check
from thali._model.finding import (
    DATA,
    FILE,
    FULL,
    MISSES,
    ON_SCREEN,
    SHEET,
    SHOWN,
    Brief,
    Finding,
    FindingMaker,
    Picture,
    Text,
    finding,
)
from thali._model.phrases import phrase
from thali._model.segment_findings import (
    SegmentFunction,
    describe_segmentation,
    make_segment_function,
    make_segment_makers,
)
from thali._model.settings import AnswerSettings
from thali._people.segments import numbers_of_segments
from thali._posterior.interval import interval_name
from thali.errors import Argument, ArgumentError, ModelName, Setting

from ..coding import attention_required, encoded, experiment, knots_by_name, linear_names
from .check import check_sentence
from .chooser import LOGIT
from .english import ENGLISH
from .holdouts import refuse_other_than_choices
from .market import markets_of
from .pay import paid_for, price_among, refuse_wordy_price
from .rules import How
from .shares import demand as demand_of
from .simulator import as_asked, offered_in, simulated
from .substitution import tested_numbers

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.design import ExperimentDesign

_SCENARIOS = 3  # besides the first, of which the sentence of a market tells the winner
_ALIKE = 0.005  # difference of two shares below which none of them is first
_ARC = 0.1  # of an elasticity where shares jump
_ENDS = {"mean": "share", "low": "share_low", "high": "share_high"}
_OWN = {"mean": "elasticity", "low": "elasticity_high", "high": "elasticity_low"}  # of what is lost


# settings -----------------------------------------------------------------------------------------


def settings_for(model: Any, data: Any, settings: AnswerSettings) -> AnswerSettings:
    """The settings with the price, once it is clear that market, price and segments can be used
    with these data."""
    given = model.get_params()
    if settings.price is not None:
        refuse_wordy_price(data.scheme, settings.price)
    if settings.holdouts is not None:
        refuse_other_than_choices(settings.holdouts)
        of_labels = experiment(data, given.get("constants", False))
        encoded(of_labels.scheme, _numbers(given, of_labels), settings.holdouts)
    if settings.market is not None:
        of_labels = experiment(data, given.get("constants", False))
        _check_market(settings, of_labels, _numbers(given, data))
    elif settings.market_arguments:
        named = next(iter(settings.market_arguments))
        raise ArgumentError(
            Argument(named),
            " applies to the shares of a market; give its products with ",
            Argument("market"),
            ".",
        )
    if settings.attention_scale is not None and given.get("attention") is None:
        raise attention_required("attention_scale")
    if settings.segments is not None:
        numbers_of_segments(settings.segments, len(data.respondents), "segments")
    return replace(
        settings, price=settings.price if settings.price is not None else price_among(data.scheme)
    )


def _numbers(given: dict[str, Any], data: Any) -> tuple[str, ...]:
    """The attributes that the model takes as numbers."""
    return (
        *linear_names(given.get("linear") or ()),
        *knots_by_name(given.get("knots")),
        *data.scheme.measured,
    )


def _check_market(settings: AnswerSettings, data: Any, numbers: tuple[str, ...]) -> None:
    """Refuse a table of products that the data's levels do not describe, and what does not fit
    these products."""
    scheme = data.scheme.with_numbers(numbers, settings.market)
    markets = markets_of(data.scheme, settings.market)
    for market in markets:
        scheme.encode(market.table, data.respondents)
    How(**settings.market_arguments).checked(markets)


def _how(settings: AnswerSettings) -> dict[str, Any]:
    return {"ci": settings.ci, **settings.simulation_arguments}


# attributes and levels ----------------------------------------------------------------------------


@finding("levels", "Levels shown", SHOWN, chapter=DATA)
def levels(model: Any, settings: AnswerSettings) -> Finding | None:
    """How often each level was shown, and chosen."""
    data = model._get_fit_data()
    return None if data is None else Finding(title=ENGLISH["levels"], table=levels_shown(data))


def levels_shown(data: "ExperimentDesign | ChoiceExperiment") -> "pandas.DataFrame":
    """How often each level, or group of levels, was shown, and chosen where it was shown."""
    import pandas as pd

    count = len(data.products)
    shown = np.bincount(data.row_product, minlength=count)
    chosen = np.bincount(data.row_product[data.first_row[:-1] + data.chosen], minlength=count)
    rows = []
    for column, (name, (groups, of_level)) in enumerate(data.scheme.groups.items()):
        if name == INSIDE and data.scheme.has_inside:
            continue
        group = np.append(of_level, -1)[data.products[:, column]]
        for place, label in enumerate(groups):
            own = group == place
            times = int(shown[own].sum())
            rows.append((name, label, times, chosen[own].sum() / times if times else np.nan))
    return pd.DataFrame(rows, columns=["attribute", "level", "times_shown", "chosen_where_shown"])


@finding("attribute_importance", "Attribute importance", ON_SCREEN)
def attribute_importance(model: Any, settings: AnswerSettings) -> Finding:
    """The part of each attribute in utility and in choices."""
    table = model.attribute_importance(**_how(settings))
    rows = [row for row in table.to_dict("records") if row["attribute"] != INSIDE]
    shares = tuple((row["attribute"], percent(row["range_share"])) for row in rows)
    named = ", ".join(f"{attribute} {share}" for attribute, share in shares)
    sentence = str(phrase(ENGLISH, "importance", named=named))
    columns = [
        "attribute",
        "range_share",
        "range_share_low",
        "range_share_high",
        "importance",
        "std_error",
        "respondents_low",
        "respondents_high",
    ]
    return Finding(
        sentence,
        title=ENGLISH["importance.title"],
        table=table,
        shown=table[[each for each in columns if each in table]].rename(
            columns={"importance": "share of choices"}
        ),
        picture=Picture("attribute_importance", ENGLISH["importance.caption"], table),
        brief=Brief("Attributes", ENGLISH["importance.brief"], shares),
    )


@finding("level_effects", "Level preferences", ON_SCREEN)
def level_effects(model: Any, settings: AnswerSettings) -> Finding:
    """How often a level is preferred to another."""
    table = model.level_effects(**_how(settings))
    sentence, marked = strongest(table), table["at_bound"].any()
    notes: list[Text] = []
    if marked:
        directions = _directions(model)
        bound = [
            f"{directions[name]} {name}"
            for name in dict.fromkeys(table.loc[table["at_bound"], "attribute"])
        ]
        notes.append(phrase(ENGLISH, "effects.bound", named=", ".join(bound)))
    if any(table["attribute"].eq(INSIDE) & table["over"].eq(INSIDE_LEVELS[0])):
        notes.append(phrase(ENGLISH, "effects.inside", inside=INSIDE))
    numbers = _numbers(model.get_params(), model._chooser().data)
    if settings.price is None and numbers and table["attribute"].nunique() > 1:
        notes.append(phrase(ENGLISH, "effects.no_price", setting=Setting("price", numbers[0])))
    shown = table.assign(
        level=[f"{a} over {b}" for a, b in zip(table["level"], table["over"], strict=True)]
    )
    left_out = ["over", "std_error", *(() if marked else ("at_bound",))]
    return Finding(
        sentence,
        title=ENGLISH["effects.title"],
        table=table,
        shown=shown.drop(columns=left_out),
        picture=Picture("level_effects", ENGLISH["effects.title"], table),
        brief=Brief("Levels", table=_in_brief(_preferences(table), table, "effect", "low", "high")),
        notes=tuple(notes),
    )


def _preferences(effects: "pandas.DataFrame") -> list[dict[str, Any]]:
    """The rows of level effects, each in the direction that is preferred, the strongest first."""
    rows = []
    for row in effects.to_dict("records"):
        if row["effect"] < 0.5:
            numbers = {
                "effect": 1.0 - row["effect"],
                "low": 1.0 - row["high"],
                "high": 1.0 - row["low"],
            }
            row |= numbers | {"level": row["over"], "over": row["level"]}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["effect"])


def _in_brief(
    rows: list[dict[str, Any]], table: "pandas.DataFrame", *numbers: str
) -> "pandas.DataFrame":
    """These numbers of levels over others, as a screen shows them."""
    brief: Any = type(table)([row | {"level": paid_for(row)} for row in rows])[
        ["attribute", "level", *numbers]
    ]
    brief.attrs = table.attrs
    return brief


@finding("utilities", "Part-worth utilities", FULL)
def utilities(model: Any, settings: AnswerSettings) -> Finding:
    """What each level adds to utility, centred, and as zero-centred differences."""
    table = model.utilities(ci=settings.ci)
    return Finding(title=ENGLISH["utilities.title"], table=table)


def _directions(model: Any) -> dict[str, str]:
    """The attributes in which utility is monotone."""
    given = model.get_params()
    return given.get("signs") or given.get("monotone") or {}


def strongest(effects: "pandas.DataFrame") -> str:
    """The preference furthest from indifference, of those whose interval does not hold it."""
    interval = interval_name(effects.attrs["interval"])
    sure = [row for row in _preferences(effects) if row["low"] > 0.5 and not row["at_bound"]]
    if not sure:
        return str(phrase(ENGLISH, "effects.none", interval=interval))
    row = sure[0]
    numbers = {
        "chance": probability(row["effect"]),
        "low": probability(row["low"]),
        "high": probability(row["high"]),
    }
    levels = {"attribute": row["attribute"], "more": row["level"], "less": row["over"]}
    return str(phrase(ENGLISH, "effects", interval=interval, **levels, **numbers))


# money --------------------------------------------------------------------------------------------


@finding("willingness_to_pay", "Willingness to pay", ON_SCREEN)
def willingness_to_pay(model: Any, settings: AnswerSettings) -> Finding | None:
    """Willingness to pay for each level, where an attribute is a price."""
    if settings.price is None:
        return None
    with silence_warnings():  # they are notes here
        table = model.willingness_to_pay(settings.price, ci=settings.ci)
    if not len(table):
        return Finding(notes=tuple(table.attrs["notes"]), table=table, is_printed=False)
    sentence = dearest(table)
    title = _pay_title(table, settings.price)
    figures = table[
        [name for name in ("wtp", "respondents_low", "respondents_high") if name in table]
    ].to_numpy(float)
    infinite = (ENGLISH["pay.infinite"],) if np.isinf(figures).any() else ()
    rows = [_turned(row) for row in table.to_dict("records")]
    paid = type(table)(rows, table.index)
    paid.attrs = table.attrs
    shown = paid.assign(level=[paid_for(row) for row in rows])
    columns = [
        "attribute",
        "level",
        "wtp",
        "wtp_low",
        "wtp_high",
        "wtp_se",
        "respondents_low",
        "respondents_high",
    ]
    return Finding(
        sentence,
        title=str(title),
        table=table,
        shown=shown[[each for each in columns if each in shown]],
        picture=Picture("willingness_to_pay", str(title), paid),
        notes=(*infinite, *table.attrs["notes"]),
        brief=Brief(
            "Payment",
            table=_in_brief(_payments(table), table, "wtp", "wtp_low", "wtp_high"),
            order=2,
        ),
    )


def _payments(pay: "pandas.DataFrame") -> list[dict[str, Any]]:
    """The rows of amounts, each in the direction in which people pay, the largest first."""
    return sorted(map(_turned, pay.to_dict("records")), key=lambda row: -abs(row["wtp"]))


def _pay_title(pay: "pandas.DataFrame", price: str) -> Text:
    """Whose amounts they are."""
    if "attends" in pay.attrs:
        return phrase(
            ENGLISH, "pay.title.attending", price=price, share=f"{100 * pay.attrs['attends']:.0f}"
        )
    return phrase(
        ENGLISH, "pay.title.median" if "respondents_low" in pay else "pay.title", price=price
    )


def dearest(pay: "pandas.DataFrame") -> str:
    """The largest amount, if one is finite and its interval does not hold 0."""
    sure = [row for row in _payments(pay) if row["wtp_low"] > 0 or row["wtp_high"] < 0]
    established = [row for row in sure if np.isfinite(row["wtp"])]
    interval = interval_name(pay.attrs["interval"])
    if not established:
        return str(phrase(ENGLISH, "pay.none", interval=interval))
    row = established[0]
    ends = (row["wtp_low"], row["wtp_high"])
    low, high = (number(end) if np.isfinite(end) else ENGLISH["pay.no_end"] for end in ends)
    amount = number(row["wtp"])
    amount = str(phrase(ENGLISH, "pay.limit", amount=amount)) if row["at_limit"] else amount
    paid = phrase(
        ENGLISH,
        "pay.for",
        amount=amount,
        attribute=row["attribute"],
        level=paid_for(row, "rather than"),
    )
    attending = "pay.attending" if "attends" in pay.attrs else "pay.median"
    whose = phrase(
        ENGLISH,
        attending if "respondents_low" in pay else "pay.everybody",
        price=pay.attrs.get("price", ""),
    )
    return str(
        phrase(ENGLISH, "pay", whose=str(whose), paid=paid, interval=interval, low=low, high=high)
    )


_OPPOSITE = {
    "wtp": "wtp",
    "wtp_low": "wtp_high",
    "wtp_high": "wtp_low",
    "respondents_low": "respondents_high",
    "respondents_high": "respondents_low",
}


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """A row of amounts in the direction in which people pay, where that is the other one."""
    if row["wtp"] >= 0 or not row["over"]:
        return row
    amounts = {name: -row[opposite] for name, opposite in _OPPOSITE.items() if opposite in row}
    return row | amounts | {"level": row["over"], "over": row["level"]}


# markets ------------------------------------------------------------------------------------------


@finding("market_shares", "Shares of preference", ON_SCREEN)
def market_shares(model: Any, settings: AnswerSettings) -> Finding | None:
    """The shares of the market that was asked for."""
    if settings.market is None:
        return None
    table = model.market_shares(settings.market, **_how(settings), **settings.market_arguments)
    caption = str(phrase(ENGLISH, "shares.caption", interval=interval_name(settings.ci)))
    picture = Picture("market_shares", caption, table)
    sentence = winner(table, interval_name(settings.ci))
    notes = (ENGLISH["shares.without_none"],) if _lacks_none(model, settings.market) else ()
    notes = (*notes, *table.attrs.get("notes", ()))
    return Finding(
        sentence,
        title=str(phrase(ENGLISH, "shares.title", whose=table.attrs["whose"])),
        table=table,
        picture=picture,
        notes=notes,
        leads=True,
        brief=Brief("Market", table=table[["share", "share_low", "share_high"]], order=0),
    )


@finding("demand", "Demand curves", FULL)
def demand(model: Any, settings: AnswerSettings) -> Finding | None:
    """The share of each product of the first market at each tested price, the others as they
    are."""
    import pandas as pd

    if settings.market is None or settings.price is None:
        return None
    chooser = model._chooser()
    chooser = chooser.thinned(chooser.search_draws)
    first = markets_of(chooser.data.scheme, settings.market)[0]
    priced = [parse_number(as_label(at)) is not None for at in first.table[settings.price]]
    prices, named, how = (
        tested_numbers(chooser, settings.price),
        first.table.set_axis(first.labels),
        How(**settings.market_arguments),
    )
    parts = []
    with silence_warnings():  # which the shares of the market gave
        for label in np.array(first.labels, object)[priced]:
            asked = (settings.price, label, prices, named, None, None, settings.ci, None, how)
            parts.append(
                demand_of(chooser, *asked, **settings.simulation_arguments).assign(product=label)
            )
    if not parts or len(prices) < 2:
        return None
    table: Any = pd.concat(parts, ignore_index=True)
    table = table[["product", *table.columns.drop("product")]]
    table.attrs.update(
        chooser.facts(settings.ci), attribute=settings.price, whose=parts[0].attrs["whose"]
    )
    title = str(phrase(ENGLISH, "demand.title", price=settings.price))
    sentence = _steepest(parts, settings)
    return Finding(sentence, title=title, table=table, picture=Picture("demand", title, table))


def _steepest(curves: "list[pandas.DataFrame]", settings: AnswerSettings) -> str:
    """The product whose share hangs most on its price."""
    curve = max(
        (each.to_dict("records") for each in curves),
        key=lambda rows: abs(rows[0]["share"] - rows[-1]["share"]),
    )
    facts = {
        "price": settings.price,
        "interval": interval_name(settings.ci),
        "product": curve[0]["product"],
    }
    for end, row in (("first", curve[0]), ("last", curve[-1])):
        facts |= {f"{end}_{name}": figure for name, figure in _percentages(row).items()}
        facts[end] = f"{row[settings.price]:g}"
    return str(phrase(ENGLISH, "demand", **facts))


@finding("elasticities", "Price elasticities", FULL)
def elasticities(model: Any, settings: AnswerSettings) -> Finding | None:
    """What one per cent more of the price of a product does, in the first market that was asked
    for."""
    if settings.market is None or settings.price is None:
        return None
    chooser = model._chooser()
    scheme = chooser.data.scheme
    first = markets_of(scheme, settings.market)[0]
    jumps = settings.rule not in (None, LOGIT) and chooser.is_number(
        scheme.names.index(settings.price)
    )
    arc = {"change": _ARC} if jumps else {}
    with silence_warnings():  # which the shares of the market gave
        table = model.elasticities(
            first.table.set_axis(first.labels),
            settings.price,
            **arc,
            **_how(settings),
            **settings.market_arguments,
        )
    if not len(table):
        return None
    own = table[table["changed"] == table["product"]].sort_values("elasticity", kind="stable")
    rows = own.to_dict("records")
    facts = {
        "product": rows[0]["product"],
        "price": settings.price,
        "interval": interval_name(settings.ci),
    }
    figures = {name: number(-rows[0][column]) for name, column in _OWN.items()}
    word = "elasticities" if rows[0]["elasticity"] < 0.0 else "elasticities.none"
    where = (
        f" in {phrase(ENGLISH, 'market.scenario', scenario=first.scenario)}"
        if first.scenario
        else ""
    )
    sentence = phrase(
        ENGLISH, word, where=where, **facts, **(figures if word == "elasticities" else {})
    )
    title = str(
        phrase(ENGLISH, "elasticities.arc" if jumps else "elasticities.title", price=settings.price)
    )
    return Finding(str(sentence), title=title, table=table)


def _lacks_none(model: Any, market: "pandas.DataFrame") -> bool:
    """Whether people could choose none of the products, and cannot in this market."""
    chooser = model._chooser()
    inside = [chooser.cells(each.table)[:, 0] for each in markets_of(chooser.data.scheme, market)]
    return chooser.data.scheme.has_inside and not any((cells == 0).any() for cells in inside)


def winner(shares: "pandas.DataFrame", interval: str) -> str:
    """Which product has the largest share; of several scenarios in the first, and then in the
    others."""
    rows: Any = shares.reset_index()
    where, elsewhere = "", ""
    if "scenario" in rows:
        first, *others = rows["scenario"].drop_duplicates()
        for scenario in others[:_SCENARIOS]:
            best = (
                rows[rows["scenario"] == scenario]
                .sort_values("share", ascending=False, kind="stable")
                .iloc[0]
            )
            said = phrase(
                ENGLISH,
                "shares.scenario",
                scenario=scenario,
                first=best["product"],
                **_percentages(best),
            )
            elsewhere += f" {said}"
        rows = rows[rows["scenario"] == first]
        where = f" in {phrase(ENGLISH, 'market.scenario', scenario=first)}"
    best, *others = rows.sort_values("share", ascending=False, kind="stable").to_dict("records")
    alike = [row["product"] for row in others if best["share"] - row["share"] < _ALIKE]
    others = others[len(alike) :]
    then = [f"{row['product']} ({percent(row['share'])})" for row in others]
    more = f", followed by {listed(then)}" if then else ""
    named, key = listed([best["product"], *alike]), "shares.alike" if alike else "shares"
    found = phrase(
        ENGLISH, key, first=named, where=where, interval=interval, others=more, **_percentages(best)
    )
    return f"{found}{elsewhere}"


def _percentages(row: Any) -> dict[str, str]:
    """The share of a row of a table and the ends of its interval, in per cent."""
    return {name: f"{100 * row[column]:.0f}" for name, column in _ENDS.items()}


@finding("holdouts", "Holdout prediction", ON_SCREEN)
def holdouts(model: Any, settings: AnswerSettings) -> Finding | None:
    """Hits and log score of the choices in tasks that the fit has not seen."""
    if settings.holdouts is None:
        return None
    table = model.holdouts(settings.holdouts)
    scores = table.attrs
    sentence = phrase(
        ENGLISH,
        "holdouts",
        choices=f"{settings.holdouts.n_tasks:,}",
        hits=f"{100 * scores['hit_rate']:.0f}",
        hits_error=_error("hits", f"{100 * scores['hit_rate_se']:.1f}"),
        score=f"{scores['log_score']:.3f}",
        score_error=_error("score", f"{scores['log_score_se']:.3f}"),
        guessing=f"{scores['guessing']:.3f}",
    )
    brief = Brief("Prediction", order=3)
    return Finding(str(sentence), title=ENGLISH["holdouts.title"], table=table, brief=brief)


def _error(name: str, error: str) -> str:
    """A standard error in parentheses; nothing where it is unknown, as of one person."""
    return (
        str(phrase(ENGLISH, f"holdouts.{name}_error", error=error))
        if isfinite(float(error))
        else ""
    )


def _simulator(
    segments: SegmentFunction | None, model: Any, settings: AnswerSettings
) -> Finding | None:
    """A market that the reader of a page may change."""
    draws = model._get_market_draws()
    if draws is None:
        return None
    if segments is not None and (found := segments(model)) is not None:
        names = tuple(f"{number}: {name}" for number, name in found.sizes["name"].items())
        codes = (found.assignment["segment"].to_numpy() - 1).astype(np.uint8)
        draws = draws.with_people("segment", names, codes)
    if settings.market is None:
        return simulated(draws, None, settings.ci, settings.price)
    chooser, notes = model._chooser(), ()
    offered = offered_in(draws, chooser, settings.market)
    if settings.market_arguments:
        how = How(**settings.market_arguments).checked(
            markets_of(chooser.data.scheme, settings.market)
        )
        draws, offered, notes = as_asked(draws, offered, how)
    return simulated(draws, offered, settings.ci, settings.price, notes)


def simulator(segments: SegmentFunction | None = None) -> FindingMaker:
    """The maker of a market that the reader of a page may change; `segments`: among whom its reader
    may choose."""
    return finding("market", "Market simulator", SHOWN)(partial(_simulator, segments))


# people -------------------------------------------------------------------------------------------


@finding("individual_level_effects", "Level preferences by respondent", FILE)
def individual_level_effects(model: Any, settings: AnswerSettings) -> Finding:
    """How often each person prefers a level to another."""
    return Finding(table=model.level_effects(each_person=True, **settings.simulation_arguments))


@finding("individual_importance", "Individual attribute importance", FILE)
def individual_importance(model: Any, settings: AnswerSettings) -> Finding:
    """The importance of attributes for each person."""
    return Finding(
        table=model.attribute_importance(each_person=True, **settings.simulation_arguments)
    )


@finding("individual_willingness_to_pay", "Individual willingness to pay", FILE)
def individual_willingness_to_pay(model: Any, settings: AnswerSettings) -> Finding | None:
    """Willingness to pay of each person."""
    if settings.price is None:
        return None
    with silence_warnings():  # they are notes of the table of all
        return Finding(
            table=model.willingness_to_pay(settings.price, each_person=True, ci=settings.ci)
        )


@finding("individual_utilities", "Individual part-worth utilities", SHEET)
def individual_utilities(model: Any, settings: AnswerSettings) -> Finding:
    """The utilities of levels of each person, centred."""
    return Finding(table=model.respondents.individuals())


@finding("individual_zero_centred", "Individual part-worth utilities (zero-centred diffs)", SHEET)
def individual_zero_centred(model: Any, settings: AnswerSettings) -> Finding:
    """The same as zero-centred differences."""
    return Finding(table=model.respondents.individuals(zero_centred=True))


# segments -----------------------------------------------------------------------------------------


_LATENT = phrase(ENGLISH, "segments.latent", model=ModelName("LatentClassLogit"))


def answers_of(
    settings: AnswerSettings, usual: Any = None, instead: Text = _LATENT
) -> tuple[tuple[FindingMaker, ...], tuple[FindingMaker, ...]]:
    """The makers of first findings, with the simulator, and those of segments; `usual`: their
    number otherwise; `instead`: what else there is where they cannot be told."""
    segments = make_segment_function(settings, usual)
    return (*FIRST, simulator(segments)), make_segment_makers(settings, segments, instead=instead)


SEGMENTED = describe_segmentation(
    "each respondent's preference for a level over the other levels of its attribute"
)


# checks -------------------------------------------------------------------------------------------


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def check(model: Any, settings: AnswerSettings) -> Finding:
    """Which choices the model would seldom make."""
    table = model.check(settings.random_seed, settings.ci)
    return build_check_finding(
        table, check_sentence(table), passes_check(table), ENGLISH["check.title"]
    )


FIRST = (
    *(attribute_importance, level_effects, utilities, willingness_to_pay),
    *(market_shares, demand, elasticities, holdouts),
)
OF_PEOPLE = (
    *(individual_level_effects, individual_importance, individual_willingness_to_pay),
    *(individual_utilities, individual_zero_centred),
)
