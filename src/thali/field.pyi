from ._field import *  # noqa: F403
