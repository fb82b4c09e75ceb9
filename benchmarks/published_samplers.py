"""The published samplers, which stand in `papers` beside this folder."""

import sys
from pathlib import Path

PROJECT = str(Path(__file__).parents[1])
if PROJECT not in sys.path:
    sys.path.append(PROJECT)

from papers.samplers import published_sweep, use_published_sampler  # noqa: E402
from papers.samplers.plackett_luce_2012 import published as published_plackett_luce  # noqa: E402

__all__ = ["published_plackett_luce", "published_sweep", "use_published_sampler"]
