from ._people import *  # noqa: F403
