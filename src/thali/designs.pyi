from ._designs import *  # noqa: F403
