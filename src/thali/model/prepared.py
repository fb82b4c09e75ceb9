"""A fit after its checks: what is known of it, and can be done for it, before it runs."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prepared:
    """A fit that has passed its checks."""

    lapse: float | None = None

    def compile(self, progress: Any) -> None:
        """Compile what the fit will run, so that processes to come find it on the disk; `progress` says so."""
