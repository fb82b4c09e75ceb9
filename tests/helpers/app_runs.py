"""Children and limits of the app, which a test replaces; `patch` is its `monkeypatch`, or one of its contexts."""

from thali._surfaces.app import child, comparisons, guard, runs
from thali._surfaces.cli.commands import compare, fit


class Ended:
    """A child that has ended."""

    pid = 0

    def poll(self):
        return 0

    def wait(self, timeout=None):
        return 0


def begin_by(patch, begin):
    """`begin(runs, study, name)` in place of what begins a child; it gives the child, or None if none begins."""

    def begin_and_note(self, study, name):
        if (child := begin(self, study, name)) is not None:
            self.children[study.name, name] = child
        return child

    patch.setattr(runs.Runs, "_begin", begin_and_note)


def queue_nothing(patch):
    """What is asked for does not even wait."""
    patch.setattr(runs.Runs, "queue", lambda self, study, name: None)


def claim_state(patch, state):
    """Each run is in that state."""
    patch.setattr(runs.Runs, "state", lambda self, study, name: state)


def claim_draws(patch, made, aimed_at):
    """Each chain of a run has made so many draws."""
    patch.setattr(runs.Runs, "draws", lambda self, study, name: runs.Draws(made, aimed_at))


def tend_by(patch, tend):
    """`tend(runs)` in place of what looks after the children."""
    patch.setattr(runs.Runs, "tend", tend)


def limit_upload(patch, bytes_of_file):
    """Files may be no larger."""
    patch.setattr(guard, "MAX_UPLOAD", bytes_of_file)


def limit_body(patch, seconds):
    """A body may take no longer to come."""
    patch.setattr(guard, "MAX_SECONDS_OF_BODY", seconds)


def pause(patch, seconds):
    """Whoever has a wrong key waits for so long."""
    patch.setattr(guard, "_PAUSE", seconds)


def shorten_comparisons(patch):
    """Models of latent features are compared in the shortest runs."""
    patch.setattr(compare, "_BUDGET", {"draws": 20, "tune": 20, "chains": 2, "thin": 1})


def compare_aspects(patch, *models):
    """What is compared where aspects are looked for: `Compared` of one population."""
    patch.setattr(comparisons, "_OF_ASPECTS", models)


def compare_few_groups(patch):
    """Where groups are known, two models are compared."""
    patch.setattr(comparisons, "_OF_GROUPS", comparisons._OF_GROUPS[:2])


def fit_by(patch, run_fit):
    """`run_fit(terminal, data, model, typed, ...)` in place of the fit of the command line."""
    patch.setattr(fit, "run_fit", run_fit)


def claim_index(patch, index):
    """The job of a fit that is stopped has that index, or none."""
    patch.setattr(child, "read_index", lambda folder: index)
