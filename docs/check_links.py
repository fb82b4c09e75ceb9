"""Check that the links to other sites still lead somewhere: python docs/check_links.py

Links within the site are checked when it is built. Without a network this says so and checks
nothing; otherwise it lists the links whose pages are gone (404, 410) and exits with 1 if there are
any. A server that does not answer in time, or refuses machines, is no proof of anything: it is only
named.
"""

import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).parent.parent
MADE = {"_build", "pictures", "generated", "jupyter_execute"}
GONE = {404, 410}
TIMEOUT = 15  # seconds


def links(project: Path = PROJECT) -> list[str]:
    """All links of pages, README files and the CHANGELOG to other hosts."""
    pages = [
        *project.glob("*.md"),
        *(project / "docs").rglob("*.md"),
        *project.glob("[!.]*/README.md"),
    ]
    texts = [
        page.read_text("utf-8") for page in pages if not MADE & set(page.relative_to(project).parts)
    ]
    found = {
        link.rstrip(".,;:")
        for text in texts
        for link in re.findall(r"https?://[^\s)>\]\"'`]+", text)
    }
    return sorted(
        link
        for link in found
        if not re.match(r"https?://(127\.0\.0\.1|localhost|0\.0\.0\.0)", link)
    )


def answer(link: str) -> int | None:
    """The status of a page; None if there was none."""
    request = urllib.request.Request(link, headers={"User-Agent": "thali-docs"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as page:
            return page.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def main(wanted: Iterable[str], ask: Callable[[str], int | None] = answer) -> int:
    """Print what was found; 1 if a page is gone."""
    wanted = list(wanted)
    with ThreadPoolExecutor(8) as pool:
        statuses = dict(zip(wanted, pool.map(ask, wanted), strict=True))
    if not any(statuses.values()):
        print(f"No host could be reached: {len(wanted)} links were not checked.")
        return 0
    for link, status in statuses.items():
        if status is None or status >= 400:
            print(
                f"{'GONE' if status in GONE else 'no answer' if status is None else status}  {link}"
            )
    gone = sum(status in GONE for status in statuses.values())
    print(f"{len(wanted)} links, {gone} gone.")
    return int(gone > 0)


if __name__ == "__main__":
    sys.exit(main(links()))
