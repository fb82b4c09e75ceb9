"""thali: latent-feature models of choice and similarity.

People choose between things, and judge things alike, because of features that nobody wrote down.
thali infers those features, how many there are and how much each weighs. Names load on first use,
so that importing thali is quick.
"""

from typing import Any

import lazy_loader

__version__ = "0.4.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    from ._labels import suggest

    raise AttributeError(f"No thali attribute {name!r}.{suggest(name, __all__)}")
