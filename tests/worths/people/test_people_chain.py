"""Chains of people: stored and continued, run in threads, with a known spread; respondents without
answers."""

import numpy as np
import pandas as pd
import pytest
from people_problems import build_study, build_table, draw_variables, simulate_answers

import thali as th
from thali._worths.people.answer_table import tabulate_answers
from thali._worths.people.chain import PeopleChain

pytestmark = pytest.mark.fit
DRAWS, TUNE, THIN = 6, 8, 2


class Silent:
    """Progress that nobody looks at."""

    def update(self, done):
        pass


def build_chain(spread=None, seed=1, has_ties=True):
    """Return a chain of people who compare two of five options, and differ along two directions."""
    rng = np.random.default_rng(1)
    study = build_study(
        rng, "order", n_people=4, n_options=5, n_sets=3, set_size=2, q=1, has_ties=has_ties
    )
    study = simulate_answers(rng, study, draw_variables(rng, study, 2).worths)
    return PeopleChain(
        build_table(study), spread, 2, DRAWS, TUNE, THIN, np.random.default_rng(seed)
    )


def assert_same(one, other):
    """Check that chains have the same records."""
    for name, values in one.record._asdict().items():
        np.testing.assert_array_equal(values, getattr(other.record, name), err_msg=name)


# before, while and after the curvature is learned; between draws
@pytest.mark.parametrize("sweep", [3, 7, 16, 21])
def test_chain_goes_on_where_it_was_stored(sweep):
    whole, first, second = build_chain(), build_chain(), build_chain(seed=2)
    whole.run_until(whole.total)
    first.run_until(sweep)
    second.restore_state(first.pack_state())
    second.adopt_draws(first.read_draws(0, first.recorded))
    second.run_until(second.total)
    assert_same(whole, second)


def test_the_record_has_centred_worths_of_every_draw():
    chain = build_chain()
    chain.run_until(chain.total)
    record, table = chain.record, chain.table
    assert [values.shape for values in record] == [
        (6, 2, 5),
        (6, 2, 5),
        (6, 3),
        (6,),
        (6,),
        (6, 4, 5),
    ]
    assert all(np.isfinite(values).all() and np.ptp(values) > 0.0 for values in record)
    np.testing.assert_allclose(record.worths.sum(axis=2), 0.0, atol=1e-5)
    # of the first person, at the last sweep
    seen = slice(table.first_option[0], table.first_option[1])
    worths = record.worths[-1, 0, table.option[seen]]
    np.testing.assert_allclose(worths - worths.mean(), chain.state.u[seen], atol=1e-5)
    assert record.log_likelihood[-1] == pytest.approx(chain.state.log_likelihood.sum())


def test_a_known_spread_stays_fixed():
    chain = build_chain(spread=0.7, has_ties=False)
    chain.run_until(chain.total)
    np.testing.assert_allclose(chain.record.log_sds[:, 0], np.log(0.7))
    assert not chain.record.log_tie.any()
    assert np.ptp(chain.record.log_sds[:, 1]) > 0.0


def test_person_without_answers_is_like_the_population():
    """Whoever is known to have answered nothing has worths, whose mean is that of the
    population."""
    frame = pd.DataFrame(
        {"chosen": ["a", "b", "a"], "rejected": ["b", "c", "c"], "person": ["ann", "bob", "cy"]}
    )
    counts = [0.0, 1.5, 2.0]
    data = th.PairedComparisons.from_frame(
        frame.assign(count=counts), "chosen", "rejected", "count", respondent="person", weights=True
    )
    table = tabulate_answers(data, "order", 0.0, False)
    assert table.count.tolist() == [1.5, 2.0]
    chain = PeopleChain(table, None, 0, 5, 5, 1, np.random.default_rng(1))
    chain.run_until(chain.total)
    assert chain.record.worths.shape == (5, 3, 3)
    assert np.isfinite(chain.record.worths).all()
