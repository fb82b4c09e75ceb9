"""Every test that SECURITY.md names as holding a promise is there."""

import re

from places import PROJECT


def test_each_promise_names_a_test_that_is_there():
    promises = re.findall(r"`(test_\w+)`", (PROJECT / "SECURITY.md").read_text("utf-8"))
    files = ("surfaces/app/test_attacks.py", "surfaces/app/test_classroom.py", "field/test_live.py")
    there = "".join((PROJECT / "tests" / file).read_text("utf-8") for file in files)
    assert len(promises) > 20 and not [name for name in promises if f"def {name}(" not in there]
