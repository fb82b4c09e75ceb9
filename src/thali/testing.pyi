from ._testing import *  # noqa: F403
