"""Small tables of all trades: each is read as what it contains, or asked about with options that
work."""

import pytest
from helpers.field_tables import TABLES, count_answers, count_chosen
from helpers.sentences import parts, refused, without_warnings

import thali as th
from thali.errors import Argument, DataError, Setting

ASKED = [name for name, make in TABLES.items() if make().asked]


def read(table, **options):
    with without_warnings():
        return th.read(table.source(), **options)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read_as_what_it_contains(name):
    table = TABLES[name]()
    if table.asked:
        with refused(DataError, *table.asked):
            read(table)
    data = read(table, **table.options[0])
    assert (type(data).__name__, count_answers(data)) == (table.kind, table.answers)
    label, times = table.telling
    assert count_chosen(data, label) == pytest.approx(times)
    if table.attributes:
        assert {*table.attributes} == {*data.attributes} - {*table.free}


@pytest.mark.parametrize("name", ASKED)
def test_following_the_message_makes_a_table_readable(name):
    table = TABLES[name]()
    with pytest.raises(DataError) as caught:
        read(table)
    facts = list(parts(caught.value))
    for setting in facts:
        if isinstance(setting, Setting) and setting.name != "kind":  # which needs the anchor, too
            assert read(table, **{setting.name: setting.value}).read_as
    for options in table.options:
        assert read(table, **options).read_as
    # what the message names without a value is among these options
    named = {fact.name for fact in facts if isinstance(fact, Argument)}
    assert named <= {name for options in table.options for name in options}
