from ._paired import *  # noqa: F403
