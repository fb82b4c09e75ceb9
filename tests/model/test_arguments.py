"""Arguments that a model or its fit does not have: where they belong, and the rule for what every
fit takes."""

import inspect

import pytest
from helpers.common_arguments import COMMON, OWN, arguments, described, places
from helpers.sentences import refused

import thali as th
from thali._model.registry import SPECS
from thali.errors import ArgumentError, UnknownArgumentError

MODELS = [spec.load() for spec in SPECS]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_fit_takes_a_seed_and_a_progress_bar(model):
    of_fit, made = (
        inspect.signature(model.fit).parameters,
        inspect.signature(model.__init__).parameters,
    )
    assert "progressbar" in of_fit
    # of a classifier as in scikit-learn
    assert "random_state" in made if "draws" in made else "random_seed" in of_fit
    assert not set(of_fit) & set(made) - {"self"}  # no argument has two places


@pytest.mark.parametrize("name", places())
def test_every_fit_describes_the_common_arguments_alike(name):
    place = places()[name]
    assert described(name, place, inspect.getsource(place)) == inspect.getsource(place)


def test_what_a_model_describes_otherwise_is_an_argument_of_it():
    assert set(OWN) <= {
        (name, argument) for name, place in places().items() for argument in arguments(place)
    }
    assert set(COMMON) == {argument for place in places().values() for argument in arguments(place)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_an_unknown_argument_is_named(model):
    with pytest.raises(UnknownArgumentError, match=f"{model.__name__} .*`nonsense`"):
        model(nonsense=3)
    with pytest.raises(UnknownArgumentError, match=f"{model.__name__}.fit .*`nonsense`"):
        object.__new__(model).fit(None, nonsense=3)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (
            lambda: th.HierarchicalLogit(draws=500),
            ("HierarchicalLogit", "`draws`", "fit(data, draws=...)"),
        ),
        (lambda: th.EliminationByAspects(chains=2), ("`chains`", "fit(data, chains=...)")),
        (
            lambda: th.EliminationByAspects().fit(None, lapse=0.1),
            ("EliminationByAspects.fit", "`lapse`", "EliminationByAspects(lapse=...)"),
        ),
        (
            lambda: th.SparseMultinomialLogit().fit(None, None, draws=3),
            ("fit", "`draws`", "SparseMultinomialLogit(draws=...)"),
        ),
        (lambda: th.EliminationByAspects(aspect="ibp"), ("`aspect`", "'aspects'?")),
    ],
)
def test_an_error_names_the_call_that_takes_the_argument(call, facts):
    with refused(TypeError, *facts) as raised:  # as Python has it
        call()
    assert isinstance(raised.value, ArgumentError)
