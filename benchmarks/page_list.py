"""Scrolling the page's list of 20,000 sentences in Chromium: the frames, and the memory of the tab.

python benchmarks/page_list.py          # some minutes; the service scores every sentence first

A tiny network stands in for the encoder, as in `memory.py`. The sentences are those of the demo corpus, each with a
number of its own, so that all are different. A frame is the time between two callbacks of the browser, which makes
them at most every 16.7 ms; the list is scrolled by a step in each.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np
from memory import make_model
from page_screenshots import open_browser, serving
from playwright.sync_api import Page, sync_playwright
from results_file import command_line, row, write_results

SENTENCES = 20_000
FRAMES = 600
STEPS = {"as with a wheel, 120 pixels a frame": 120, "as with a flick, 1,500 pixels a frame": 1_500}  # pixels
PATIENCE = 1_800_000  # milliseconds
SCROLL = """([step, frames]) => new Promise((resolve) => {
  const pane = document.getElementById("pane");
  const times = [];
  const next = (now) => {
    times.push(now);
    if (times.length > frames) return resolve(times.slice(1).map((time, i) => time - times[i]));
    pane.scrollTop += step;
    requestAnimationFrame(next);
  };
  pane.scrollTop = 0;
  requestAnimationFrame(next);
})"""


def texts() -> Iterator[str]:
    """Any number of sentences, no two alike."""
    records = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = [json.loads(record)["text"] for record in records]
    number = 0
    while True:
        number += 1
        yield f"{number}. {sentences[number % len(sentences)]}"


def frames_of(page: Page, step: int, frames: int) -> np.ndarray:
    """How long each frame takes while the list moves by a step in each, in milliseconds."""
    return np.array(page.evaluate(SCROLL, [step, frames]))


def tab_memory(page: Page) -> dict[str, int]:
    """Bytes of the tab's process that are its own, and of its JavaScript objects that are still needed."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    heap = next(
        one["value"] for one in session.send("Performance.getMetrics")["metrics"] if one["name"] == "JSHeapUsedSize"
    )
    browser = page.context.browser
    assert browser is not None
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    private = max(private_bytes(int(one["id"])) for one in processes if one["type"] == "renderer")
    return {"heap": int(heap), "private": private}


def private_bytes(process: int) -> int:
    """Memory that no other process shares."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


def measure(url: str, sentences: int, frames: int) -> list[dict[str, object]]:
    """Rows of what the page does with so many sentences."""
    with sync_playwright() as playwright:
        browser = open_browser(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(url)
        page.locator("#start:not([hidden])").wait_for()
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in islice(texts(), sentences))
            file.flush()
            page.set_input_files("#file", file.name)
            page.locator("#sentences .word").first.wait_for(timeout=PATIENCE)
            page.locator("#sentences[aria-busy=false]").wait_for(timeout=PATIENCE)
        page.wait_for_timeout(2_000)  # what looks at every sentence comes a little later
        what = f"{sentences:,} sentences"
        rows = []
        for name, step in STEPS.items():
            times = frames_of(page, step, frames)
            more = {
                "median": round(float(np.median(times)), 1),
                "longest": round(float(times.max()), 1),
                "frames": frames,
            }
            rows.append(
                row(
                    f"{what}, scrolled {name}: frame, 95th percentile",
                    None,
                    float(np.percentile(times, 95)),
                    "≤ 32 ms",
                    **more,
                )
            )
        memory = tab_memory(page)
        rows.append(row(f"{what}: memory of the tab's process, MB", None, memory["private"] / 1e6, "≤ 300 MB"))
        rows.append(row(f"{what}: JavaScript objects, MB", None, memory["heap"] / 1e6))
        browser.close()
    return rows


def main() -> None:
    """Measure, and write the results."""
    options = command_line(__doc__).parse_args()
    sentences, frames = (300, 20) if options.quick else (SENTENCES, FRAMES)
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch, "model")
        make_model(model)
        with serving(model) as url:
            rows = measure(url, sentences, frames)
    write_results("page_list", rows, folder=options.out)


if __name__ == "__main__":
    main()
