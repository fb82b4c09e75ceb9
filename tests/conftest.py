"""What tests share: one compilation of each kernel for all workers, and the command line in this process."""

import os
import re
from types import SimpleNamespace

import pytest
import real_data
from filelock import FileLock
from numba.core.dispatcher import Dispatcher

from thali.cli import app


@pytest.fixture(scope="session", autouse=True)
def compiled_by_one_worker(tmp_path_factory):
    """Workers that need the same kernel wait for the first of them to compile it, and then load what it kept."""
    locks = tmp_path_factory.getbasetemp().parent
    compile_it = Dispatcher.compile

    def compile_once(self, signature):
        name = re.sub(r"\W", "_", self.py_func.__qualname__)
        with FileLock(locks / f"{name}.lock"):
            return compile_it(self, signature)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_once)
        yield


@pytest.fixture(autouse=True)
def real_data_if_marked(request):
    """Tests marked `data` read the folder of real data; where it is absent they are skipped, or fail if CI is set."""
    if not real_data.open_for(request.node.get_closest_marker("data") is not None):
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the folder of real data is not beside this project")


@pytest.fixture
def run(capsys):
    """Run the command line in this process: its exit code, what it printed, what it said besides."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            app([str(word) for word in words])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stop.value.code, out=out, err=err)

    return run
