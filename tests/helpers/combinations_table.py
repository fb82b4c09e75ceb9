"""What the combinations of `test_every_combination` came to, out of a file of `pytest --junitxml`,
in Markdown."""

import re
import sys
from collections import Counter, defaultdict
from xml.etree import ElementTree

COMMANDS = ("fit", "compare", "test", "leaderboard", "design")


def outcomes(path):
    """The command of each combination that ran, and how it ended."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        for each in case.iter("property"):
            yield each.attrib["name"].partition("-")[0], each.attrib["value"]


def shape(sentence):
    """A sentence without the names and numbers of the case."""
    sentence = re.sub(r"'[^']*'(, '[^']*')+", "'…'", sentence)
    sentence = re.sub(r"'[^']*'", "'…'", sentence).removeprefix("table.csv: ")
    sentence = re.sub(r"\([^()]*('…'|table)[^()]*\)", "(…)", sentence)
    return re.sub(r"\b\d[\d,]*\b", "N", sentence)


def main(path):
    """Print the tables."""
    ends, sentences = defaultdict(Counter), defaultdict(Counter)
    for command, ended in outcomes(path):
        ends[command]["well" if ended == "well" else "refused"] += 1
        if ended != "well":
            sentences[command][shape(ended)] += 1
    print(
        "| command | ended well or were refused | ended well | refused in one sentence"
        " |\n|---|---|---|---|"
    )
    for command in COMMANDS:
        counts = ends[command]
        print(f"| {command} | {counts.total():,} | {counts['well']:,} | {counts['refused']:,} |")
    for command in COMMANDS:
        if sentences[command]:
            print(f"\n## {command}\n\n| times | sentence |\n|---|---|")
            for sentence, times in sentences[command].most_common():
                print(f"| {times:,} | {sentence.replace('|', '/')} |")


if __name__ == "__main__":
    main(sys.argv[1])
