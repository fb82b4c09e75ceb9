"""The arguments of a run, described once.

`python -m helpers.common_arguments` in the folder `tests` writes them into every docstring.
The docstrings keep the text itself, as editors show what stands in the source. Change it here.
"""

import inspect
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thali._model.registry import SPECS

COMMON = {  # name: (type, description)
    "draws": (
        "int, optional",
        "States kept in each chain. None draws until every number with an R-hat has one of at"
        " most 1.01 and an effective sample size of at least 400; it looks at them after 1,000,"
        " 2,000, 4,000, ... draws, and stops at 64,000 or 2 GB.",
    ),
    "tune": ("int", "States of each chain that are discarded first, while step sizes adapt."),
    "chains": ("int", "Independent chains."),
    "thin": ("int, optional", "Sweeps of the sampler for each state."),
    "cores": (
        "int, optional",
        "Threads; None means one a chain, as far as there are processors. Has no influence on the"
        " draws.",
    ),
    "random_seed": (
        "int, numpy.random.SeedSequence or numpy.random.Generator, optional",
        "The same seed gives the same draws; None takes a fresh one.",
    ),
    "random_state": (
        "int, numpy.random.RandomState, Generator or SeedSequence, optional",
        "The same seed gives the same draws; None takes a fresh one.",
    ),
    "progressbar": ("bool", "Whether to show how far the run is."),
    "job": (
        "str or path, optional",
        "A folder that holds the draws and the state of the chains while they run. The same fit"
        " goes on from it after the process was killed, and gives the draws of an unbroken run;"
        " with more `draws` it goes on further.",
    ),
    "max_time": (
        "float, optional",
        "Seconds after which the run stops and keeps what was drawn. If half of them pass in"
        " tuning, the chains start again with less of it, and a warning says so.",
    ),
}


@dataclass(frozen=True)
class Own:
    """What is different in one model."""

    besides: str = ""  # stands after the common description
    instead: str = ""  # stands in its place
    type: str = ""  # another type


_OF_GIBBS = Own('Only of `method="gibbs"`.')
OWN = {
    ("LatentFeatures", "draws"): Own(
        "Of similarities and triplets what is predicted of pairs and the features that they share"
        " count, too. Tempered chains are looked at from 500 draws on. Where the chains stay in"
        " different families of features, so that more draws would not help, the run starts again"
        " with ``tempering=8``, unless the model says how it tempers or more than half of the CPU"
        " time that a fit without ``draws`` may take is used."
    ),
    ("LatentFeatures", "thin"): Own(
        "None chooses, in the first 400 sweeps of tuning, the fewest with which half of the draws"
        " are effective: 25 at most, so many that there are 400 sweeps of tuning, and 25 with less"
        " than 16 states to tune. With tempering 50 (of every replica) where `draws` are given or"
        " levels are annealed, otherwise between 10 and that."
    ),
    ("BradleyTerryLuce", "draws"): Own("With ``people=Individuals()`` it looks after 500 first."),
    ("BradleyTerryLuce", "tune"): Own(
        'None means 1,000, or 300 with ``people=Individuals()``. With ``method="laplace"`` there'
        " are none.",
        type="int, optional",
    ),
    ("BradleyTerryLuce", "thin"): Own('None means 1; only of ``method="mcmc"``.'),
    ("HierarchicalLogit", "draws"): Own(
        "Of so many respondents that 1,000 draws of all of them take more than half a GB, there"
        " are fewer draws, further apart."
    ),
    ("HierarchicalLogit", "thin"): Own("None means 2, or more of many respondents."),
    ("ProductClasses", "draws"): Own(
        instead="States of each chain, of which evenly spaced ones are kept, at most 400. None draws until every row of"
        " `summary` has an R-hat of at most 1.01 and, all chains together, an effective sample size of at least 400;"
        " it looks after 125 draws, and then where these tell how many are needed, up to 8,000 draws or ten minutes of"
        ' the processor. With method="smc" the particles of each group; None: 64.'
    ),
    ("ProductClasses", "tune"): Own(
        instead="States of each chain that are discarded first. In the first half of them the lapse"
        " falls from 1 to its value."
    ),
    ("ProductClasses", "chains"): Own(
        instead="Independent chains; None: 4. Where chains do not agree, as for many respondents with many attributes,"
        ' predictions gain more by 16 chains than by longer ones. With method="smc" groups of particles, 2 or more;'
        " None: 8.",
        type="int, optional",
    ),
    ("ProductClasses", "thin"): Own(
        instead="Sweeps of the sampler for each state; None: 16, fewer where the run would take too"
        " long."
    ),
    ("ProductClasses", "cores"): Own(
        instead="Threads; None means as many as there are processors. Has no influence on the"
        " draws."
    ),
    ("ProductClasses", "max_time"): Own(
        instead="Seconds after which the run stops and keeps what was drawn, in place of ten"
        " minutes of the processor. If half of them pass in tuning, the chains start again"
        " with less of it, and a warning says so."
    ),
    ("NonnegativeDimensions", "draws"): Own(
        instead="States kept of each restart. None: 250, or as many as take 60 CPU seconds, at"
        " least 20."
    ),
    ("NonnegativeDimensions", "tune"): Own(
        instead="States of each restart before that: three fifths for the climb, the rest for the"
        " dynamics to settle. None: enough for a climb of 24 to 60 passes over the answers.",
        type="int, optional",
    ),
    ("NonnegativeDimensions", "chains"): Own(
        instead="Restarts, each a chain from different random dimensions."
    ),
    ("NonnegativeDimensions", "thin"): Own(
        instead="Passes over the answers for each state. None: 2, or 1 if a pass is slow."
    ),
    ("MultinomialLogit", "random_seed"): Own(instead="Not used, as nothing is random."),
    ("MultinomialLogit", "progressbar"): Own(instead="Not used, as nothing takes long."),
    ("LatentClassLogit", "random_seed"): Own(
        "It is the seed of the starts, of the parts of people that are left out, and of the draws"
        " that intervals come from."
    ),
    ("PlackettLuceRegression", "draws"): _OF_GIBBS,
    ("PlackettLuceRegression", "tune"): _OF_GIBBS,
    ("Classifier", "thin"): Own(
        "None lets the model choose. `PlackettLuceRegression` takes 10, and 1 for a fixed a of 0.5 or more or if W has"
        ' more than a million entries. `SparseMultinomialLogit` by "polya-gamma" takes 1 where there are at least as'
        " many rows as coefficients of a class and at most 600 coefficients; else 4 for two classes and 10 for more."
    ),
    ("Classifier", "cores"): Own(
        instead="Threads; None means as many as there are processors. Has no influence on the"
        " results."
    ),
}


def places() -> dict[str, Any]:
    """By the class that defines it: what says the arguments of a run, `fit`, and of a classifier
    the class as well."""
    found: dict[str, Any] = {}
    for spec in SPECS:
        cls = spec.load()
        home = next(base for base in cls.__mro__ if "fit" in vars(base))
        if "draws" in inspect.signature(cls).parameters:  # a classifier
            found[cls.__name__] = cls
        found[home.__name__] = inspect.unwrap(vars(home)["fit"])
    return found


def arguments(place: Any) -> list[str]:
    """Which of the common arguments it takes."""
    return [name for name in inspect.signature(place).parameters if name in COMMON]


def entry(name: str, argument: str, indent: str) -> str:
    """The lines of an argument in the docstring of a place."""
    kind, common = COMMON[argument]
    own = OWN.get((name, argument), Own())
    text = own.instead or " ".join(filter(None, (common, own.besides)))
    inner = indent + "    "
    lines = textwrap.fill(
        text,
        100,
        initial_indent=inner,
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{indent}{argument} : {own.type or kind}\n{lines}\n"


def described(name: str, place: Any, source: str) -> str:
    """The source of a place, whose docstring describes the common arguments as the table does."""
    for argument in arguments(place):
        stands = re.compile(rf"^( +){argument} : .*\n(?:\1 +.*\n)*", re.MULTILINE)
        source, times = stands.subn(lambda found, of=argument: entry(name, of, found[1]), source)
        assert times == 1, f"the docstring of {name} must describe {argument!r} once"
    return source


if __name__ == "__main__":
    for name, place in places().items():
        file, source = Path(inspect.getsourcefile(place) or ""), inspect.getsource(place)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(source, described(name, place, source)), encoding="utf-8")
