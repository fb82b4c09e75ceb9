"""The table of attacks names tests that are there."""

import re

from helpers.places import PROJECT


def test_every_attack_of_the_table_is_tried():
    readme = (PROJECT / "tests" / "README.md").read_text("utf-8")
    attacks = readme.partition("\n## Attacks on questionnaires\n")[2].partition("\n## ")[0]
    rows = [line for line in attacks.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 8
    for row in rows:
        named = re.findall(r"`((?:field|surfaces/app)/\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (PROJECT / "tests" / file).read_text("utf-8"), (file, test)
