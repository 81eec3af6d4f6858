"""Training on the page against `zerotag demo`: the same 792 sentences, from the click to the model, on this machine.

python benchmarks/page_training.py          # some minutes

`zerotag demo` also measures its model and writes a report; a training of the page is a process of its own, keeps
checkpoints, and has ended when the words are shown.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from page_screenshots import open_browser, serving
from playwright.sync_api import Browser, sync_playwright
from results_file import command_line, row, write_results

RUNS = 2
PATIENCE = 1_800_000  # milliseconds


def demo() -> float:
    """Seconds of `zerotag demo`."""
    with tempfile.TemporaryDirectory() as scratch:
        start = time.perf_counter()
        command = [sys.executable, "-m", "zerotag", "demo", "--out", str(Path(scratch, "demo"))]
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - start


def page(browser: Browser) -> float:
    """Seconds from the click that starts the training until the words of its sentences are shown."""
    with serving() as url:
        tab = browser.new_page()
        tab.goto(url)
        tab.click("#start-demo")
        tab.locator("#table-found b").wait_for(timeout=PATIENCE)
        start = time.perf_counter()
        tab.click("#table-train")
        tab.locator("#sentences .word").first.wait_for(timeout=PATIENCE)
        seconds = time.perf_counter() - start
        tab.close()
        return seconds


def main() -> None:
    """Take turns, and write the medians."""
    options = command_line(__doc__).parse_args()
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        turns = [(demo(), page(browser)) for _ in range(1 if options.quick else RUNS)]
        browser.close()
    peer, ours = map(statistics.median, zip(*turns, strict=True))
    what = "792 sentences trained on, seconds: `zerotag demo`, and on the page"
    write_results("page_training", [row(what, peer, ours, "≤ 1", turns=turns)], folder=options.out)


if __name__ == "__main__":
    main()
