"""Checks of the arguments of `ProductClasses`, all before anything runs."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import one_of, positive, share, whole
from thali.errors import Argument, ArgumentError, Message, Setting
from thali.model.bound import BUDGET, MIN_DRAWS
from thali.model.engine import Forecast

from ..logit import DIRECTIONS

if TYPE_CHECKING:
    from thali.data.experiments import ChoiceExperiment

METHODS = ("annealed", "smc")
SCHEDULES = ("all", "individual", "observation")
STARTS = ("fixed", "prior")
SAMPLERS = ("recommended", "paper")
FIRST_SWEEPS = 500  # of the final phase, after which annealed chains that run until they agree are looked at
MAX_SWEEPS = 4000  # at which they stop
_FINAL_SWEEPS = {"annealed": FIRST_SWEEPS, "smc": 60}
_GROUPS = {"annealed": 16, "smc": 8}  # chains, or islands of particles
_MAX_NAMED = 3  # dominated choices written out


STEPS = 40  # of annealing, of `sweeps_per_step` sweeps each


class Settings(NamedTuple):
    """How a fit runs, every default filled in."""

    method: str
    lapse: float
    alpha: float | None  # None is learned
    beta: float
    groups: int
    particles: int | None  # in each group; 1 for annealed chains; None: chosen by the number of people
    sweeps_per_step: int
    final_sweeps: int  # at least, where annealed chains run until they agree
    schedule: str
    start: str
    sampler: str


class Run(NamedTuple):
    """How long a fit runs and how wide, as `fit` was asked; None leaves a number to the method."""

    sweeps: Any = None
    chains: Any = None
    islands: Any = None
    particles: Any = None
    sweeps_per_step: Any = 10


def settings_of(model: Any, run: Run) -> Settings:
    """All settings of a fit, each within its range and with its default."""
    method = one_of("method", model.method, METHODS)
    alpha = model.alpha
    if alpha is not None:
        alpha = positive("alpha", alpha, "the expected number of classes that a person uses")
    schedule = one_of("schedule", model.schedule, SCHEDULES)
    if method == "annealed" and schedule != "all":
        one = Setting("method", "smc")
        raise ArgumentError(
            Setting("schedule", schedule), " belongs to ", one, "; annealed chains take all tasks at once."
        )
    return Settings(
        method=method,
        lapse=share("lapse", model.lapse, "the probability of choosing at random"),
        alpha=alpha,
        beta=positive("beta", model.beta, "the second parameter of the Indian buffet process"),
        groups=_groups(method, run),
        particles=_particles(method, run.particles),
        sweeps_per_step=whole("sweeps_per_step", run.sweeps_per_step, 1),
        final_sweeps=whole(
            "sweeps", _FINAL_SWEEPS[method] if run.sweeps is None else run.sweeps, 1 if method == "annealed" else 0
        ),
        schedule=schedule,
        start=one_of("start", model.start, STARTS),
        sampler=one_of("sampler", model.sampler or "recommended", SAMPLERS),
    )


def _groups(method: str, run: Run) -> int:
    """Chains, or islands of particles."""
    own, other = ("chains", "islands") if method == "annealed" else ("islands", "chains")
    if getattr(run, other) is not None:
        raise ArgumentError(
            Argument(other),
            " belongs to the other method; with ",
            Setting("method", method),
            " give ",
            Argument(own),
            ".",
        )
    asked = getattr(run, own)
    groups = _GROUPS[method] if asked is None else whole(own, asked, 1)
    if method == "smc" and groups < 2:
        raise ArgumentError(
            Setting("method", "smc"),
            " needs 2 islands of particles or more, from whose differences errors are estimated; got ",
            Setting("islands", 1),
            ".",
        )
    return groups


def _particles(method: str, particles: Any) -> int | None:
    if method == "annealed":
        if particles not in (None, 1):
            raise ArgumentError(
                Argument("particles"),
                " belongs to ",
                Setting("method", "smc"),
                "; each annealed chain is one particle: leave it out, and raise ",
                Argument("chains"),
                f" for more chains; got {particles!r}.",
            )
        return 1
    particles = None if particles is None else whole("particles", particles, 1)
    if particles is not None and particles < 2:
        raise ArgumentError(
            Setting("method", "smc"), " needs 2 particles on each island or more; got ", Setting("particles", 1), "."
        )
    return particles


# How long a default fit may be: what it has by default is cut until it is expected to keep within the budget ----------


A_COMPARISON = 4.5e-7  # seconds of a sweep for each product that was not chosen: `benchmarks/forecast.py`
A_WINNER = 6e-8  # seconds of a recorded draw for each product that is looked at on an occasion
OCCASIONS = 2_000  # of all people in a draw, from which its shares of levels and effects are found
SHARE = 0.3  # of the budget that annealed chains take at most: longer ones stay with the same classes
_RECORDED = 0.44  # draws a sweep of the final phase, of all the times that a run is looked at
EVERY, MAX_RECORDED = 3, 512  # sweeps of particles between two draws of the final phase, and draws of an island
_LEAST_CHAINS, _LEAST_ISLANDS, _LEAST_STEP = 4, 4, 2
MAX_PARTICLES, MIN_PARTICLES, PARTICLES_OF_ALL = 64, 16, 6400  # on an island, by default


def particles_for(people: int) -> int:
    """Particles on an island: fewer for more people, for whom sweeps are more effective."""
    return max(MIN_PARTICLES, min(MAX_PARTICLES, PARTICLES_OF_ALL // people))


def seconds_of_sweep(data: "ChoiceExperiment") -> float:
    """Seconds of the processor that a sweep of a chain, or of a particle, is expected to take."""
    return A_COMPARISON * (len(data.row_product) - data.n_tasks)


def seconds_with_draws(data: "ChoiceExperiment") -> float:
    """The same of a sweep of the final phase, with what is found of the draws whenever the chains are looked at."""
    return seconds_of_sweep(data) + _RECORDED * seconds_of_draw(data)


def seconds_of_draw(data: "ChoiceExperiment") -> float:
    """Seconds of the processor in which shares of levels, effects and predictions of a recorded draw are found."""
    pairs = sum(len(levels) - 1 for levels in data.levels.values())  # each level and the first
    looked_at = len(data.row_product) / data.n_tasks * max(OCCASIONS, data.n_tasks)
    looked_at += 2 * pairs * max(OCCASIONS, data.n_respondents)
    return A_WINNER * looked_at


def expected_visits(schedule: str, people: int, others: np.ndarray) -> float:
    """Visits expected in each particle until all tasks have entered, with one sweep a step, from observed runs.

    `others`: the products that were not chosen, of each task.
    """
    # All at once there are 20 steps at 200 nats of choice, 76 at 2,000; a person alone takes some six.
    if schedule == "all":
        return people * 20.0 * (max(float(np.log(others + 1.0).sum()), 1.0) / 198.0) ** 0.58
    return people * (0.5 * people + 6.0 if schedule == "individual" else 0.6 * len(others))


def recordings_of(settings: Settings) -> int:
    """How many times particles are recorded."""
    return max(1, settings.final_sweeps // EVERY)


def recorded_every(particles: int, recordings: int) -> int:
    """Of how many particles of an island one is recorded at a time."""
    return -(-particles * recordings // max(MAX_RECORDED, particles))


def forecast_of_particles(settings: Settings, data: "ChoiceExperiment") -> Forecast:
    """How long a fit by method="smc" is expected to take."""
    people = data.n_respondents
    steps = expected_visits(settings.schedule, people, np.diff(data.first_row) - 1) / people
    sweeps = steps * settings.sweeps_per_step + settings.final_sweeps
    particles = settings.particles or particles_for(people)
    recordings = recordings_of(settings)
    draws = particles * recordings / recorded_every(particles, recordings)
    seconds = settings.groups * (particles * sweeps * seconds_of_sweep(data) + draws * seconds_of_draw(data))
    return Forecast(seconds, seconds, seconds_of_sweep(data))


def within_budget(settings: Settings, asked: Run, data: "ChoiceExperiment") -> Settings:
    """The settings with as many chains, islands and particles as the data allow, where their number was not asked for.

    Chains are cut if not even short ones keep within the budget. Of particles there are fewer first, then sweeps at
    each step, then islands.
    """
    if settings.method == "annealed":
        most = int(SHARE * BUDGET / (2 * MIN_DRAWS * seconds_of_sweep(data)))
        return (
            settings
            if asked.chains is not None
            else settings._replace(groups=max(_LEAST_CHAINS, min(settings.groups, most)))
        )
    cuts = []
    if asked.particles is None:
        cuts.append(("particles", MIN_PARTICLES))
    if asked.sweeps_per_step == Run().sweeps_per_step:
        cuts.append(("sweeps_per_step", _LEAST_STEP))
    if asked.islands is None:
        cuts.append(("groups", _LEAST_ISLANDS))
    for name, least in cuts:
        too_long = forecast_of_particles(settings, data).least / BUDGET
        if too_long > 1.0:
            now = getattr(settings, name) or particles_for(data.n_respondents)
            settings = settings._replace(**{name: max(least, int(now / too_long))})
    return settings


def dominated_choices(data: "ChoiceExperiment", monotone: dict[str, str]) -> np.ndarray:
    """Tasks in which another alternative is better in a monotone attribute, worse in none, and equal otherwise."""
    direction = np.array([DIRECTIONS.get(monotone.get(name, ""), 0) for name in data.attributes])
    products = data.products[data.row_product]
    sizes = np.diff(data.first_row)
    best = np.repeat(products[data.first_row[:-1] + data.chosen], sizes, axis=0)
    # A missing level equals only a missing level: it is neither better nor worse than others.
    ahead = np.where((products < 0) | (best < 0), np.where(products == best, 0, -1), direction * (products - best))
    ahead[:, direction == 0] = np.where(products == best, 0, -1)[:, direction == 0]
    dominates = (ahead >= 0).all(axis=1) & (ahead > 0).any(axis=1)
    return np.unique(np.repeat(np.arange(data.n_tasks), sizes)[dominates])


def dominated_sentence(data: "ChoiceExperiment", monotone: dict[str, str]) -> "Message | str":
    """A sentence about choices of dominated alternatives, which only ties or lapses explain; "" if there are none."""
    tasks = dominated_choices(data, monotone)
    if not len(tasks):
        return ""
    person = data.respondent_of_task
    named = [
        f"task {str(data.task_labels[t])!r} of respondent {data.respondents[person[t]]!r}" for t in tasks[:_MAX_NAMED]
    ]
    more = f" and {len(tasks) - _MAX_NAMED:,} more" if len(tasks) > _MAX_NAMED else ""
    return Message(
        f"In {', '.join(named)}{more} the chosen alternative is no better than another one in any respect and worse in "
        "a monotone attribute; with ",
        Setting("lapse", 0),
        " these respondents can only be indifferent between the two, so that much of what they care about goes unseen. "
        "Set ",
        Setting("lapse", 0.02),
        ".",
    )
