"""Priors over feature ownership (binary matrices): Indian buffet, finite, given, by tree."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
