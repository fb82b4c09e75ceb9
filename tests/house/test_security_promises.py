"""Every test that SECURITY.md names as holding a promise is there."""

import re

from helpers.places import PROJECT


def test_each_promise_names_a_test_that_is_there():
    promises = re.findall(r"`(test_\w+)`", (PROJECT / "SECURITY.md").read_text("utf-8"))
    there = (PROJECT / "tests" / "surfaces" / "app" / "test_attacks.py").read_text("utf-8")
    assert len(promises) >= 13 and not [name for name in promises if f"def {name}(" not in there]
