"""Children and limits of the app, which a test replaces; `patch` is its `monkeypatch`, or one of
its contexts."""

import thali as th
import thali._surfaces.app.background_runs as runs
import thali._surfaces.app.child_process as child
import thali._surfaces.app.comparison_candidates as comparisons
import thali._surfaces.app.request_guard as guard

PLACES = {  # what the functions below replace
    "what begins a child": (runs.Runs, "_start_child"),
    "what asks for a run": (runs.Runs, "queue"),
    "what looks after children": (runs.Runs, "start_queued_runs"),
    "the state of a run": (runs.Runs, "find_state"),
    "the draws of a run": (runs.Runs, "count_draws"),
    "the job of a fit": (child, "read_index"),
    "a fit": (th.EliminationByAspects, "fit"),
    "bytes of a file": (guard, "MAX_UPLOAD"),
    "seconds of a body": (guard, "MAX_SECONDS_OF_BODY"),
    "seconds after a wrong key": (guard, "_PAUSE"),
    "comparisons of aspects": (comparisons, "ASPECT_CANDIDATES"),
}


def replace(patch, what, stand_in):
    """Put something in its place."""
    patch.setattr(*PLACES[what], stand_in)


class Ended:
    """A child that has ended."""

    pid = 0

    def poll(self):
        return 0

    def wait(self, timeout=None):
        return 0


def begin_by(patch, begin):
    """`begin(runs, study, name)` in place of what begins a child; it gives the child, or None if
    none begins."""

    def begin_and_note(self, study, name):
        if (child := begin(self, study, name)) is not None:
            self.children[study.name, name] = child
        return child

    replace(patch, "what begins a child", begin_and_note)


def queue_nothing(patch):
    """What is asked for does not even wait."""
    replace(patch, "what asks for a run", lambda self, study, name: None)


def claim_state(patch, state):
    """Each run is in that state."""
    replace(patch, "the state of a run", lambda self, study, name: state)


def claim_states(patch, *states):
    """Each run is in these states, one a look."""
    states = iter(states)
    replace(patch, "the state of a run", lambda self, study, name: next(states))


def tend_by(patch, tend):
    """`tend(runs)` in place of what looks after the children."""
    replace(patch, "what looks after children", tend)


def limit_upload(patch, bytes_of_file):
    """Files may be no larger."""
    replace(patch, "bytes of a file", bytes_of_file)


def limit_body(patch, seconds):
    """A body may take no longer to come."""
    replace(patch, "seconds of a body", seconds)


def pause(patch, seconds):
    """Whoever has a wrong key waits for so long."""
    replace(patch, "seconds after a wrong key", seconds)


def compare_aspects(patch, *models):
    """What is compared where aspects are looked for: `ComparisonCandidate` of one population."""
    replace(patch, "comparisons of aspects", models)


def fit_by(patch, fit):
    """`fit(model, data, **run)` in place of the fit of eliminations by aspects."""
    replace(patch, "a fit", fit)


def claim_index(patch, index):
    """The job of a fit that is stopped has that index, or none."""
    replace(patch, "the job of a fit", lambda folder: index)


def run_by(patch, name, run):
    """`run(study, terminal, cores)` in place of what carries out the runs of that name."""
    patch.setitem(child.RUN_FUNCTIONS, name, run)
