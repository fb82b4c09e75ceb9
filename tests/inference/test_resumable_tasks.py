"""Tasks of a batch: what a job holds is not run again, what failed is, and Ctrl-C costs only what
runs."""

import pytest

from thali._inference.progress_display import Progress
from thali._inference.resumable_tasks import Batch, PartsFolder, is_finished, read_parts

STAMP = {"kind": "sums", "models": {}, "settings": {}, "data": ""}
TASKS = [1, 2, 3, 4]


class Stop(Progress):
    """Progress that notes how far it came."""

    def __init__(self):
        super().__init__(False, "adding", len(TASKS), "sums")
        self.seen = []

    def update(self, done):
        self.seen.append(done)


def batch_of(run, folder=None, record=None):
    return Batch(TASKS, str, run, record, folder)


def squared(task):
    return {"x": task**2}


def stopped_at(last):
    """A function that runs tasks until Ctrl-C comes."""

    def run(task):
        if task == last:
            raise KeyboardInterrupt
        return squared(task)

    return run


def job(path):
    folder = PartsFolder(path, STAMP, 1)
    folder.plan(dict.fromkeys(map(str, TASKS), "sums"), "sums")
    return folder


def never(task):
    raise AssertionError(task)


def test_every_task_leaves_its_record():
    batch, progress = batch_of(squared), Stop()
    assert not batch.finish(progress, lambda record: 0.0)
    assert batch.records == {"1": {"x": 1}, "2": {"x": 4}, "3": {"x": 9}, "4": {"x": 16}}
    assert progress.seen == [0, 1, 2, 3, 4]


def test_tasks_may_finish_in_any_order_and_elsewhere():
    def backwards(run, tasks):
        return ((number, run(tasks[number])) for number in reversed(range(len(tasks))))

    batch = batch_of(squared)
    assert not batch.finish(Stop(), lambda record: 0.0, backwards)
    assert list(batch.records) == ["4", "3", "2", "1"] and batch.records["3"] == {"x": 9}


def test_a_record_is_made_of_what_a_task_gave():
    batch = batch_of(
        lambda task: ValueError("odd") if task % 2 else {"x": task},
        record=lambda task, given: (
            {"error": f"{task}: {given}"} if isinstance(given, ValueError) else given
        ),
    )
    assert not batch.finish(Stop(), lambda record: 0.0)
    assert batch.records["3"] == {"error": "3: odd"} and batch.records["4"] == {"x": 4}


def test_ctrl_c_keeps_what_is_finished_and_the_same_batch_goes_on(tmp_path):
    with job(tmp_path / "job") as folder:
        batch = batch_of(stopped_at(3), folder)
        assert batch.finish(Stop(), lambda record: 0.0) and list(batch.records) == ["1", "2"]
    assert read_parts(tmp_path / "job").records == batch.records
    ran = []
    with job(tmp_path / "job") as folder:
        batch, progress = batch_of(lambda task: ran.append(task) or squared(task), folder), Stop()
        assert not batch.finish(progress, lambda record: 0.0)
    assert ran == [3, 4] and progress.seen == [2, 3, 4] and len(batch.records) == 4
    with job(tmp_path / "job") as folder:
        again = batch_of(never, folder)
        assert not again.finish(Stop(), lambda record: 0.0) and again.records == batch.records


def test_a_failed_task_is_run_again(tmp_path):
    with job(tmp_path / "job") as folder:
        batch_of(
            lambda task: {"error": "no memory"} if task == 2 else squared(task), folder
        ).finish(Stop(), lambda record: 0.0)
    with job(tmp_path / "job") as folder:
        batch = batch_of(lambda task: {"x": -task}, folder)
        assert not is_finished(batch.records["2"])
        batch.finish(Stop(), lambda record: 0.0)
    assert batch.records["2"] == {"x": -2} and batch.records["1"] == {"x": 1}


@pytest.mark.parametrize(("seconds", "files"), [(float("inf"), 4), (0.0, 0)])
def test_a_record_that_took_long_is_written_at_once(tmp_path, seconds, files):
    with job(tmp_path / "job") as folder:
        batch_of(squared, folder).finish(Stop(), lambda record: seconds)
        assert len(list((tmp_path / "job").glob("parts-*.json"))) == files
    assert read_parts(tmp_path / "job").records["4"] == {"x": 16}


def test_ctrl_c_before_the_first_task():
    def begin(waiting):
        assert waiting == TASKS
        raise KeyboardInterrupt

    batch = batch_of(never)
    assert batch.finish(Stop(), lambda record: 0.0, before_run=begin) and batch.records == {}
