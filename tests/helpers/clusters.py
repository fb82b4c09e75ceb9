"""Workers of Dask."""

import os
import sys
from contextlib import contextmanager
from unittest import mock

import pytest


@contextmanager
def dask(processes):
    """Two workers, in processes of their own or in this one; gives the client."""
    distributed = (
        __import__("distributed") if "CI" in os.environ else pytest.importorskip("distributed")
    )
    kind = dict(n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None)
    with (
        mock.patch.dict(os.environ),  # Dask changes both
        mock.patch.object(sys, "path", list(sys.path)),
        distributed.LocalCluster(**kind) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
