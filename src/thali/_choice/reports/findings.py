"""Findings of every choice model: attributes, levels, payments, markets and segments."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import compress
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.attribute_levels import parse_number
from thali._data.experiments.product_encoding import INSIDE, INSIDE_LEVELS
from thali._data.prediction_scores import find_chosen_rows
from thali._inference.user_warnings import silence_warnings
from thali._labels import format_label, list_names
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
from thali._model.finding_settings import AnswerSettings
from thali._model.segment_findings import (
    SegmentFunction,
    describe_segmentation,
    make_segment_function,
    make_segment_makers,
)
from thali._model.sentence_templates import phrase
from thali._number_format import format_number, format_percent, format_probability
from thali._people.respondent_segments import list_segment_numbers
from thali._posterior.posterior_interval import describe_interval
from thali.errors import Argument, ArgumentError, ModelName, Setting

from ..product_coding import (
    encode_tasks,
    parse_knots,
    parse_linear,
    require_experiment,
)
from .choice_draws import LOGIT
from .finding_sentences import ENGLISH
from .holdout_predictions import refuse_non_choices
from .market_shares import tabulate_demand
from .market_simulator import (
    apply_share_settings,
    build_opening_market,
    build_simulator_finding,
    read_opening_market,
)
from .market_tables import parse_markets
from .predictive_check import format_check_sentence
from .share_settings import ShareSettings
from .substitution import list_tested_numbers
from .willingness_to_pay import find_price_attribute, format_paid_level, refuse_nonnumeric_price

if TYPE_CHECKING:
    import pandas

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign

    from .market_methods import MarketMethods

_MAX_SCENARIOS = 3  # scenarios after the first whose winner the sentence of a market reports
_TIE_DIFFERENCE = 0.005  # difference of two shares below which neither is first
_ARC_CHANGE = 0.1  # relative change of an arc elasticity if shares are discontinuous
_SHARE_COLUMNS = {"mean": "share", "low": "share_low", "high": "share_high"}
# of the loss
_LOSS_COLUMNS = {
    "mean": "elasticity",
    "low": "elasticity_high",
    "high": "elasticity_low",
}


# settings -----------------------------------------------------------------------------------------


def complete_settings(
    model: Any, data: "ChoiceExperiment", settings: AnswerSettings
) -> AnswerSettings:
    """Return report settings with the price attribute, checked against the data.

    Market, price, holdout tasks and segments must be usable with the data.
    """
    model_parameters = model.get_params()
    if settings.price is not None:
        refuse_nonnumeric_price(data.scheme, settings.price)
    if settings.holdouts is not None:
        refuse_non_choices(settings.holdouts)
        labelled_data = _label_alternatives(data, model_parameters)
        numeric_attributes = _list_numeric_attributes(model_parameters, labelled_data)
        encode_tasks(labelled_data.scheme, numeric_attributes, settings.holdouts)
    if settings.market is not None:
        labelled_data = _label_alternatives(data, model_parameters)
        _check_market(settings, labelled_data, _list_numeric_attributes(model_parameters, data))
    elif settings.market_arguments:
        market_argument = next(iter(settings.market_arguments))
        raise ArgumentError(
            Argument(market_argument),
            " applies to the shares of a market; give its products with ",
            Argument("market"),
            ".",
        )
    if settings.segments is not None:
        list_segment_numbers(settings.segments, len(data.respondents), "segments")
    return replace(settings, price=settings.price or find_price_attribute(data.scheme))


def _label_alternatives(data: "ChoiceExperiment", parameters: dict[str, Any]) -> Any:
    """Return the data with constants of alternatives if the model has them."""
    if "constants" not in parameters:
        return data
    return require_experiment(data, parameters["constants"])


def _list_numeric_attributes(
    parameters: dict[str, Any], data: "ChoiceExperiment"
) -> tuple[str, ...]:
    """Return the attributes that the model treats as numeric."""
    return (
        *parse_linear(parameters.get("linear") or ()),
        *parse_knots(parameters.get("knots")),
        *data.scheme.measured,
    )


def _check_market(settings: AnswerSettings, data: Any, numeric_attributes: tuple[str, ...]) -> None:
    """Raise ArgumentError for report products or settings that do not match the data."""
    scheme = data.scheme.with_numbers(numeric_attributes, settings.market)
    markets = parse_markets(data.scheme, settings.market)
    for market in markets:
        scheme.encode(market.table, data.respondents)
    ShareSettings(**settings.market_arguments).validate(markets)


def _common_arguments(settings: AnswerSettings) -> dict[str, Any]:
    """Return arguments (people, interval, cores, seed) that all simulated tables share."""
    return {"people": settings.of, "ci": settings.ci, **settings.simulation_arguments}


# attributes and levels ----------------------------------------------------------------------------


@finding("levels", "Levels shown", SHOWN, chapter=DATA)
def report_levels(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report how often each level was shown and chosen."""
    data = model._get_fit_data()
    if data is None:
        return None
    return Finding(title=ENGLISH["levels"], table=tabulate_levels(data))


def tabulate_levels(data: "ExperimentDesign | ChoiceExperiment") -> "pandas.DataFrame":
    """Tabulate how often each level was shown, and chosen when shown."""
    import pandas as pd

    n_products = len(data.products)
    n_shown = np.bincount(data.row_product, minlength=n_products)
    n_chosen = np.bincount(data.row_product[find_chosen_rows(data)], minlength=n_products)
    level_rows = []
    for attribute_index, (attribute, (groups, group_of_level)) in enumerate(
        data.scheme.groups.items()
    ):
        if attribute == INSIDE and data.scheme.has_inside:
            continue
        group_of_product = np.append(group_of_level, -1)[data.products[:, attribute_index]]
        for group_index, label in enumerate(groups):
            is_level = group_of_product == group_index
            times_shown = int(n_shown[is_level].sum())
            share_chosen = np.nan
            if times_shown:
                share_chosen = n_chosen[is_level].sum() / times_shown
            level_rows.append((attribute, label, times_shown, share_chosen))
    return pd.DataFrame(
        level_rows, columns=["attribute", "level", "times_shown", "chosen_where_shown"]
    )


@finding("attribute_importance", "Attribute importance", ON_SCREEN)
def report_attribute_importance(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report each attribute's share of utility ranges and of choices."""
    table = model.attribute_importance(**_common_arguments(settings))
    attribute_rows = [row for row in table.to_dict("records") if row["attribute"] != INSIDE]
    attribute_shares = tuple(
        (row["attribute"], format_percent(row["range_share"])) for row in attribute_rows
    )
    share_list = ", ".join(f"{attribute} {share}" for attribute, share in attribute_shares)
    whose = table.attrs["whose"]
    return Finding(
        str(phrase(ENGLISH, "importance", whose=whose, named=share_list)),
        title=str(phrase(ENGLISH, "importance.title", whose=whose)),
        table=table,
        shown=table.drop(columns="range_share_se").rename(
            columns={"importance": "share of choices"}
        ),
        picture=Picture("attribute_importance", ENGLISH["importance.caption"], table),
        brief=Brief(
            "Attributes",
            str(phrase(ENGLISH, "importance.brief", whose=whose)),
            attribute_shares,
        ),
    )


@finding("level_effects", "Level preferences", ON_SCREEN)
def report_level_effects(model: Any, settings: AnswerSettings) -> Finding:
    """Report how often one level is preferred to another, by attribute."""
    table = model.level_effects(**_common_arguments(settings))
    notes: list[Text] = []
    hidden_columns = ["over", "std_error"]
    if table["at_bound"].any():
        model_parameters = model.get_params()
        directions = model_parameters.get("signs") or model_parameters.get("monotone") or {}
        bounded_attributes = [
            f"{directions[name]} {name}"
            for name in dict.fromkeys(table.loc[table["at_bound"], "attribute"])
        ]
        notes.append(phrase(ENGLISH, "effects.bound", named=", ".join(bounded_attributes)))
    else:
        hidden_columns.append("at_bound")
    if any(table["attribute"].eq(INSIDE) & table["over"].eq(INSIDE_LEVELS[0])):
        notes.append(phrase(ENGLISH, "effects.inside", inside=INSIDE))
    numeric_attributes = _list_numeric_attributes(model.get_params(), model._build_chooser().data)
    if settings.price is None and numeric_attributes and table["attribute"].nunique() > 1:
        notes.append(
            phrase(ENGLISH, "effects.no_price", setting=Setting("price", numeric_attributes[0]))
        )
    printed_table = table.assign(
        level=[f"{a} over {b}" for a, b in zip(table["level"], table["over"], strict=True)]
    )
    return Finding(
        format_strongest_preference(table),
        title=str(phrase(ENGLISH, "effects.title", whose=table.attrs["whose"])),
        table=table,
        shown=printed_table.drop(columns=hidden_columns),
        picture=Picture("level_effects", ENGLISH["effects.caption"], table),
        brief=Brief(
            "Levels",
            table=_build_brief_table(_orient_effects(table), table, "effect", "low", "high"),
        ),
        notes=tuple(notes),
    )


def _orient_effects(effects: "pandas.DataFrame") -> list[dict[str, Any]]:
    """Return rows of level effects with the preferred level first, strongest first."""
    oriented_rows = []
    for effect_row in effects.to_dict("records"):
        if effect_row["effect"] < 0.5:
            reversed_numbers = {
                "effect": 1.0 - effect_row["effect"],
                "low": 1.0 - effect_row["high"],
                "high": 1.0 - effect_row["low"],
            }
            effect_row |= reversed_numbers | {
                "level": effect_row["over"],
                "over": effect_row["level"],
            }
        oriented_rows.append(effect_row)
    return sorted(oriented_rows, key=lambda effect_row: -effect_row["effect"])


def _build_brief_table(
    rows: list[dict[str, Any]], table: "pandas.DataFrame", *numeric_columns: str
) -> "pandas.DataFrame":
    """Build a short table of compared levels with some numeric columns."""
    brief_table: Any = type(table)([row | {"level": format_paid_level(row)} for row in rows])[
        ["attribute", "level", *numeric_columns]
    ]
    brief_table.attrs = table.attrs
    return brief_table


@finding("utilities", "Part-worth utilities", FULL)
def report_utilities(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report centred utilities and zero-centred differences of levels."""
    table = model.utilities(settings.of, settings.ci, settings.random_seed)
    title = str(phrase(ENGLISH, "utilities.title", whose=table.attrs["whose"]))
    return Finding(title=title, table=table)


def format_strongest_preference(effects: "pandas.DataFrame") -> str:
    """Return a sentence on the strongest preference between levels.

    A preference is clear if its interval excludes 0.5.
    """
    interval_words = describe_interval(effects.attrs["interval"])
    whose = effects.attrs["whose"]
    clear_rows = [
        row for row in _orient_effects(effects) if row["low"] > 0.5 and not row["at_bound"]
    ]
    if not clear_rows:
        return str(phrase(ENGLISH, "effects.none", whose=whose, interval=interval_words))
    strongest_row = clear_rows[0]
    return str(
        phrase(
            ENGLISH,
            "effects",
            whose=whose,
            interval=interval_words,
            attribute=strongest_row["attribute"],
            more=strongest_row["level"],
            less=strongest_row["over"],
            chance=format_probability(strongest_row["effect"]),
            low=format_probability(strongest_row["low"]),
            high=format_probability(strongest_row["high"]),
        )
    )


# money --------------------------------------------------------------------------------------------


@finding("willingness_to_pay", "Willingness to pay", ON_SCREEN)
def report_willingness_to_pay(model: "MarketMethods", settings: AnswerSettings) -> Finding | None:
    """Report willingness to pay for each level; None without a price attribute."""
    if settings.price is None:
        return None
    with silence_warnings():  # the warnings become notes
        table = model.willingness_to_pay(
            settings.price,
            people=settings.of,
            ci=settings.ci,
            random_seed=settings.random_seed,
        )
    if not len(table):
        return Finding(notes=tuple(table.attrs["notes"]), table=table, is_printed=False)
    title = str(_format_pay_title(table, settings.price))
    notes = list(table.attrs["notes"])
    if np.isinf(table.filter(items=["wtp", "respondents_low", "respondents_high"])).any(axis=None):
        notes.insert(0, ENGLISH["pay.infinite"])
    oriented_rows = [_orient_payment(row) for row in table.to_dict("records")]
    paid_table = type(table)(oriented_rows, table.index)
    paid_table.attrs = table.attrs
    printed_table = paid_table.assign(level=[format_paid_level(row) for row in oriented_rows])
    return Finding(
        format_largest_payment(table),
        title=title,
        table=table,
        shown=printed_table.drop(columns=["over", "at_limit"]),
        picture=Picture("willingness_to_pay", title, paid_table),
        notes=tuple(notes),
        brief=Brief(
            "Payment",
            table=_build_brief_table(_orient_payments(table), table, "wtp", "wtp_low", "wtp_high"),
            order=2,
        ),
    )


def _orient_payments(pay: "pandas.DataFrame") -> list[dict[str, Any]]:
    """Return rows of amounts, made positive by swapping levels, largest first."""
    return sorted(map(_orient_payment, pay.to_dict("records")), key=lambda row: -abs(row["wtp"]))


def _format_pay_title(pay: "pandas.DataFrame", price: str) -> Text:
    """Return a table title that states which respondents the amounts describe."""
    if "respondents_low" in pay:
        return phrase(ENGLISH, "pay.title.median", whose=pay.attrs["whose"], price=price)
    return phrase(ENGLISH, "pay.title", price=price)


def format_largest_payment(pay: "pandas.DataFrame") -> str:
    """Return a sentence on the largest clearly positive, finite amount.

    An amount is clear if its interval excludes 0.
    """
    clear_rows = [row for row in _orient_payments(pay) if row["wtp_low"] > 0 or row["wtp_high"] < 0]
    finite_rows = [row for row in clear_rows if np.isfinite(row["wtp"])]
    interval_words = describe_interval(pay.attrs["interval"])
    if not finite_rows:
        return str(phrase(ENGLISH, "pay.none", interval=interval_words))
    largest_row = finite_rows[0]
    end_texts = {
        "low": _format_end(largest_row["wtp_low"]),
        "high": _format_end(largest_row["wtp_high"]),
    }
    amount_text = format_number(largest_row["wtp"])
    if largest_row["at_limit"]:
        amount_text = str(phrase(ENGLISH, "pay.limit", amount=amount_text))
    paid_phrase = phrase(
        ENGLISH,
        "pay.for",
        amount=amount_text,
        attribute=largest_row["attribute"],
        level=format_paid_level(largest_row, "rather than"),
    )
    sentence_key = "pay.everybody"
    if "respondents_low" in pay:
        sentence_key = "pay.median"
    return str(
        phrase(
            ENGLISH,
            "pay",
            whose=phrase(ENGLISH, sentence_key, whose=pay.attrs["whose"]),
            paid=paid_phrase,
            interval=interval_words,
            **end_texts,
        )
    )


def _format_end(end: float) -> str:
    """Format the end of an interval of amounts, which may be infinite."""
    if np.isfinite(end):
        return format_number(end)
    return ENGLISH["pay.no_end"]


_OPPOSITE_COLUMNS = {
    "wtp": "wtp",
    "wtp_low": "wtp_high",
    "wtp_high": "wtp_low",
    "respondents_low": "respondents_high",
    "respondents_high": "respondents_low",
}


def _orient_payment(row: dict[str, Any]) -> dict[str, Any]:
    """Return one row of amounts with its levels swapped if the amount is negative."""
    if row["wtp"] >= 0 or not row["over"]:
        return row
    reversed_amounts = {
        name: -row[opposite_name]
        for name, opposite_name in _OPPOSITE_COLUMNS.items()
        if opposite_name in row
    }
    return row | reversed_amounts | {"level": row["over"], "over": row["level"]}


# markets ------------------------------------------------------------------------------------------


@finding("market_shares", "Shares of preference", ON_SCREEN)
def report_market_shares(model: "MarketMethods", settings: AnswerSettings) -> Finding | None:
    """Report the shares of the products in the requested market."""
    if settings.market is None:
        return None
    table = model.market_shares(
        settings.market, **_common_arguments(settings), **settings.market_arguments
    )
    caption = str(phrase(ENGLISH, "shares.caption", interval=describe_interval(settings.ci)))
    picture = Picture("market_shares", caption, table)
    notes = list(table.attrs.get("notes", ()))
    buyers = ""
    chooser = model._build_chooser()
    inside_codes = [
        chooser.cells(scenario_market.table)[:, 0]
        for scenario_market in parse_markets(chooser.data.scheme, settings.market)
    ]
    if chooser.data.scheme.has_inside and not any((cells == 0).any() for cells in inside_codes):
        buyers = ENGLISH["shares.buyers"]
        notes.insert(0, ENGLISH["shares.without_none"])
    return Finding(
        format_market_winner(table, describe_interval(settings.ci), buyers),
        title=str(phrase(ENGLISH, "shares.title", whose=table.attrs["whose"])),
        table=table,
        picture=picture,
        notes=tuple(notes),
        leads=True,
        brief=Brief("Market", table=table[["share", "share_low", "share_high"]], order=0),
    )


@finding("demand", "Demand curves", FULL)
def report_demand(model: "MarketMethods", settings: AnswerSettings) -> Finding | None:
    """Report the share of each product at each tested price.

    Other products of the first market are unchanged.
    """
    import pandas as pd

    if settings.market is None or settings.price is None:
        return None
    chooser = model._build_chooser()
    chooser = chooser.thin(chooser.demand_draws)
    market = parse_markets(chooser.data.scheme, settings.market)[0]
    is_priced = [parse_number(format_label(at)) is not None for at in market.table[settings.price]]
    prices = list_tested_numbers(chooser, settings.price)
    demand_tables = []
    with silence_warnings():  # the market shares already raised these warnings
        for product_label in compress(market.labels, is_priced):
            table = tabulate_demand(
                chooser,
                settings.price,
                product_label,
                prices,
                market.table.set_axis(market.labels),
                respondent_weights=None,
                cost=None,
                settings=ShareSettings(**settings.market_arguments),
                **_common_arguments(settings),
            )
            demand_tables.append(table.assign(product=product_label))
    if not demand_tables or len(prices) < 2:
        return None
    curves: Any = pd.concat(demand_tables, ignore_index=True)
    curves = curves[["product", *curves.columns.drop("product")]]
    curves.attrs.update(
        chooser.interval_attrs(settings.ci),
        attribute=settings.price,
        whose=demand_tables[0].attrs["whose"],
    )
    title = str(phrase(ENGLISH, "demand.title", price=settings.price))
    sentence = _format_steepest_demand(demand_tables, settings)
    return Finding(sentence, title=title, table=curves)


def _format_steepest_demand(curves: "list[pandas.DataFrame]", settings: AnswerSettings) -> str:
    """Return a sentence on the product whose share depends most on its price."""
    steepest_curve = max(
        (frame.to_dict("records") for frame in curves),
        key=lambda rows: abs(rows[0]["share"] - rows[-1]["share"]),
    )
    sentence_facts = {
        "price": settings.price,
        "interval": describe_interval(settings.ci),
        "product": steepest_curve[0]["product"],
    }
    for end_name, row in (("first", steepest_curve[0]), ("last", steepest_curve[-1])):
        sentence_facts |= {
            f"{end_name}_{name}": figure for name, figure in _format_percentages(row).items()
        }
        sentence_facts[end_name] = f"{row[settings.price]:g}"
    return str(phrase(ENGLISH, "demand", **sentence_facts))


@finding("elasticities", "Price elasticities", FULL)
def report_elasticities(model: Any, settings: AnswerSettings) -> Finding | None:
    """Report price elasticities of shares in the first requested market."""
    if settings.market is None or settings.price is None:
        return None
    chooser = model._build_chooser()
    scheme = chooser.data.scheme
    market = parse_markets(scheme, settings.market)[0]
    price_change = None
    title_key = "elasticities.title"
    if settings.rule not in (None, LOGIT) and chooser.is_number(scheme.names.index(settings.price)):
        price_change = _ARC_CHANGE
        title_key = "elasticities.arc"
    with silence_warnings():  # the market shares already raised these warnings
        table = model.elasticities(
            market.table.set_axis(market.labels),
            settings.price,
            price_change,
            **_common_arguments(settings),
            **settings.market_arguments,
        )
    if not len(table):
        return None
    own_elasticities = table[table["changed"] == table["product"]].sort_values(
        "elasticity", kind="stable"
    )
    largest_row = own_elasticities.iloc[0]
    sentence_facts = {"product": largest_row["product"], "price": settings.price, "where": ""}
    sentence_facts |= {
        name: format_number(-largest_row[column]) for name, column in _LOSS_COLUMNS.items()
    }
    if market.scenario:
        sentence_facts["where"] = (
            f" in {phrase(ENGLISH, 'market.scenario', scenario=market.scenario)}"
        )
    sentence_key = "elasticities.none"
    if largest_row["elasticity"] < 0.0:
        sentence_key = "elasticities"
    sentence = phrase(
        ENGLISH, sentence_key, interval=describe_interval(settings.ci), **sentence_facts
    )
    title = str(phrase(ENGLISH, title_key, price=settings.price))
    return Finding(str(sentence), title=title, table=table)


def format_market_winner(shares: "pandas.DataFrame", interval: str, buyers: str = "") -> str:
    """Return a sentence on the product (or products) with the largest share.

    With several scenarios, the first in detail and then the winners of the others. `buyers` tells
    that the shares are shares among buyers.
    """
    table: Any = shares.reset_index()
    ranked_rows = table.sort_values("share", ascending=False, kind="stable")
    scenario_phrase = ""
    other_winners = ""
    if "scenario" in table:
        first_scenario, *other_scenarios = table["scenario"].drop_duplicates()
        for scenario in other_scenarios[:_MAX_SCENARIOS]:
            best_row = ranked_rows[ranked_rows["scenario"] == scenario].iloc[0]
            sentence = phrase(
                ENGLISH,
                "shares.scenario",
                scenario=scenario,
                first=best_row["product"],
                **_format_percentages(best_row),
            )
            other_winners += f" {sentence}"
        ranked_rows = ranked_rows[ranked_rows["scenario"] == first_scenario]
        scenario_phrase = f" in {phrase(ENGLISH, 'market.scenario', scenario=first_scenario)}"
    best_row, *other_rows = ranked_rows.to_dict("records")
    tied_products = [
        row["product"] for row in other_rows if best_row["share"] - row["share"] < _TIE_DIFFERENCE
    ]
    followers = [
        f"{row['product']} ({format_percent(row['share'])})"
        for row in other_rows[len(tied_products) :]
    ]
    sentence_key = "shares"
    tied_text = ""
    if tied_products:
        sentence_key = "shares.alike"
    if followers:
        tied_text = f", followed by {list_names(followers)}"
    first_sentence = phrase(
        ENGLISH,
        sentence_key,
        first=list_names([best_row["product"], *tied_products]),
        leader=best_row["product"],
        where=f"{buyers}{scenario_phrase}",
        interval=interval,
        others=tied_text,
        **_format_percentages(best_row),
    )
    return f"{first_sentence}{other_winners}"


def _format_percentages(row: Mapping[str, Any]) -> dict[str, str]:
    """Return share and interval of a table row as per-cent texts, by name."""
    return {name: f"{100 * row[column]:.0f}" for name, column in _SHARE_COLUMNS.items()}


@finding("holdouts", "Holdout prediction", ON_SCREEN)
def report_holdouts(model: "MarketMethods", settings: AnswerSettings) -> Finding | None:
    """Report hit rate and log score of choices in holdout tasks; None without any."""
    if settings.holdouts is None:
        return None
    table = model.holdouts(settings.holdouts)
    scores = table.attrs
    sentence = phrase(
        ENGLISH,
        "holdouts",
        choices=f"{settings.holdouts.n_tasks:,}",
        hits=f"{100 * scores['hit_rate']:.0f}",
        hits_error=_format_error("hits", f"{100 * scores['hit_rate_se']:.1f}"),
        score=f"{scores['log_score']:.3f}",
        score_error=_format_error("score", f"{scores['log_score_se']:.3f}"),
        guessing=f"{scores['guessing']:.3f}",
    )
    brief = Brief("Prediction", order=0)  # it was asked for, as the market
    return Finding(str(sentence), title=ENGLISH["holdouts.title"], table=table, brief=brief)


def _format_error(name: str, error: str) -> str:
    """Return a standard error as text in parentheses; "" if there is none."""
    # It is unknown for a single respondent.
    if not isfinite(float(error)):
        return ""
    return str(phrase(ENGLISH, f"holdouts.{name}_error", error=error))


def _report_simulator(
    segments: SegmentFunction | None, model: Any, settings: AnswerSettings
) -> Finding | None:
    """Report an interactive market simulator for a report page; None without market draws."""
    market_draws = model._get_market_draws()
    if market_draws is None:
        return None
    if segments is not None and (segmentation := segments(model)) is not None:
        segment_labels = tuple(
            f"{number}: {name}" for number, name in segmentation.sizes["name"].items()
        )
        segment_codes = (segmentation.assignment["segment"].to_numpy() - 1).astype(np.uint8)
        market_draws = market_draws.add_people_column("segment", segment_labels, segment_codes)
    opening_market = build_opening_market(market_draws)
    notes = ()
    if settings.market is not None:
        chooser = model._build_chooser()
        opening_market = read_opening_market(market_draws, chooser, settings.market)
        if settings.market_arguments:
            share_settings = ShareSettings(**settings.market_arguments).validate(
                parse_markets(chooser.data.scheme, settings.market)
            )
            market_draws, opening_market, notes = apply_share_settings(
                market_draws, opening_market, share_settings
            )
    return build_simulator_finding(market_draws, opening_market, settings.ci, settings.price, notes)


def build_simulator_maker(segments: SegmentFunction | None = None) -> FindingMaker:
    """Return the function that makes the simulator finding, filtered by segments."""
    return finding("market", "Market simulator", SHOWN)(partial(_report_simulator, segments))


# people -------------------------------------------------------------------------------------------


@finding("individual_level_effects", "Level preferences by respondent", FILE)
def report_individual_level_effects(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report each respondent's preferences between levels."""
    return Finding(table=model.level_effects(each_person=True, **settings.simulation_arguments))


@finding("individual_importance", "Individual attribute importance", FILE)
def report_individual_importance(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report each respondent's attribute importance."""
    return Finding(
        table=model.attribute_importance(each_person=True, **settings.simulation_arguments)
    )


@finding("individual_willingness_to_pay", "Individual willingness to pay", FILE)
def report_individual_payments(model: "MarketMethods", settings: AnswerSettings) -> Finding | None:
    """Report each respondent's willingness to pay; None without a price."""
    if settings.price is None:
        return None
    with silence_warnings():  # the warnings are notes of the table of all respondents
        return Finding(
            table=model.willingness_to_pay(settings.price, each_person=True, ci=settings.ci)
        )


@finding("individual_utilities", "Individual part-worth utilities", SHEET)
def report_individual_utilities(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report each respondent's centred utilities of levels."""
    return Finding(table=model.respondents.individuals())


@finding("individual_zero_centred", "Individual part-worth utilities (zero-centred diffs)", SHEET)
def report_individual_zero_centred(model: "MarketMethods", settings: AnswerSettings) -> Finding:
    """Report each respondent's utilities as zero-centred differences."""
    return Finding(table=model.respondents.individuals(zero_centred=True))


# segments -----------------------------------------------------------------------------------------


_LATENT = phrase(ENGLISH, "segments.latent", model=ModelName("LatentClassLogit"))


def build_choice_makers(
    settings: AnswerSettings, default_segments: int | None = None, instead: Text = _LATENT
) -> tuple[tuple[FindingMaker, ...], tuple[FindingMaker, ...]]:
    """Return functions that make the market findings, and the segment findings.

    `usual` is the default number of segments; `instead` explains the alternative if segments cannot
    be formed.
    """
    make_segments = make_segment_function(settings, default_segments)
    return (*MARKET_FINDINGS, build_simulator_maker(make_segments)), make_segment_makers(
        settings, make_segments, text_if_unclear=instead
    )


SEGMENT_SENTENCE = describe_segmentation(
    "each respondent's preference for a level over the other levels of its attribute"
)


# checks -------------------------------------------------------------------------------------------


@finding("check", "Model check", ON_SCREEN, chapter=MISSES)
def report_check(model: Any, settings: AnswerSettings) -> Finding:
    """Report statistics of the choices that the model rarely reproduces."""
    table = model.check(settings.random_seed, settings.ci)
    return build_check_finding(
        table, format_check_sentence(table), passes_check(table), ENGLISH["check.title"]
    )


MARKET_FINDINGS = (
    report_attribute_importance,
    report_level_effects,
    report_utilities,
    report_willingness_to_pay,
    report_market_shares,
    report_demand,
    report_elasticities,
    report_holdouts,
)
RESPONDENT_FINDINGS = (
    report_individual_level_effects,
    report_individual_importance,
    report_individual_payments,
    report_individual_utilities,
    report_individual_zero_centred,
)
