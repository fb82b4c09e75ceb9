from ._plots import *  # noqa: F403
