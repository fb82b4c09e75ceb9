"""The market of a model of choice experiments, as the simulator of a report has it."""

from thali._choice.reports.market_simulator import read_opening_market


def market_of(model):
    """The choices of people in any market, draw by draw; None of other models."""
    return model._get_market_draws()


def offered(model, table):
    """The products of a table, as the simulator begins with them."""
    return read_opening_market(market_of(model), model._build_chooser(), table)
