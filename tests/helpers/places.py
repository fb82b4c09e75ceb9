"""Where the project's folders lie."""

from pathlib import Path

HELPERS = Path(__file__).parent
TESTS = HELPERS.parent
PUBLISHED = TESTS / "cases"
PROJECT = TESTS.parent
