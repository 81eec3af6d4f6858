import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from hand_made import TOML, experiment, write_all
from zerotag.errors import ZerotagError
from zerotag.research.compare.experiment import Experiment
from zerotag.research.compare.experiment_file import comparisons, read_experiment
from zerotag.research.compare.results import Results, load_results
from zerotag.research.compare.results_page import results_page, write_results_page
from zerotag.research.compare.summary import summaries, write_summary

ROOT = Path(__file__).parents[3]
EXPERIMENTS = comparisons(ROOT / "experiments")


def committed(toml: Path) -> Results:
    found = read_experiment(toml)
    results = load_results(found, found.results)
    if found.draft or not results.records:
        pytest.skip("no results are committed")
    return results


def test_the_committed_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "results.md"
    made = results_page(ROOT / "experiments", page.parent)
    if page.exists():
        assert page.read_text(encoding="utf-8") == made, "run `zerotag results`"
    else:
        assert "There are no results yet." in made


@pytest.mark.parametrize("toml", EXPERIMENTS, ids=lambda toml: toml.stem)
def test_committed_summaries_follow_from_the_runs(toml: Path) -> None:
    results = committed(toml)
    summary = json.loads((results.experiment.results / "summary.json").read_text(encoding="utf-8"))
    measured = {
        corpus: {method: {measure: asdict(one) for measure, one in its.items()} for method, its in methods.items()}
        for corpus, methods in summaries(results).items()
    }
    assert flat(measured) == pytest.approx(flat(summary))


def flat(tree: dict[str, Any], path: str = "") -> dict[str, float | None]:
    leaves: dict[str, float | None] = {}
    for name, value in tree.items():
        leaves |= flat(value, f"{path}/{name}") if isinstance(value, dict) else {f"{path}/{name}": value}
    return leaves


def run(made_up: Experiment) -> None:
    write_all(made_up, made_up.results)
    write_summary(load_results(made_up, made_up.results), made_up.results)


def hand_made_page(folder: Path) -> str:
    hand = experiment(folder)
    run(hand)
    (hand.results / "notes.md").write_text("A remark.\n")
    write_results_page(folder, folder / "docs" / "results.md")
    return (folder / "docs" / "results.md").read_text(encoding="utf-8")


def test_page(tmp_path: Path) -> None:
    page = hand_made_page(tmp_path)
    assert "## Made by hand\n\nFiles: [hand.toml](../hand.toml), [summary.json](../hand/summary.json)" in page
    assert "\nTwo corpora, two seeds.\n" in page
    assert "\n10 of 18 runs, made 2026-01-01 to 2026-01-02 on abacus with zerotag 0.1.0; commit abc.\n" in page
    assert "\nA remark.\n" in page
    assert "| Soft attention | **82.00 ± 0.00** |" in page


def test_every_number_has_its_run(tmp_path: Path) -> None:
    page = hand_made_page(tmp_path)
    assert (
        "| Soft attention | [1](../hand/runs/fce.soft-attention.1.json) [2](../hand/runs/fce.soft-attention.2.json) "
        "| [1](../hand/runs/own.soft-attention.1.json) |" in page
    )
    for link in page.split("](")[1:]:
        assert link.startswith("#") or (tmp_path / "docs" / link.partition(")")[0]).exists() or "tables.tex" in link


def test_contents_lead_to_the_experiments(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("What was run.\n")
    other = TOML.replace('title = "Made by hand"', 'title = "Another\'s ways, by β = 4"')
    (tmp_path / "another.toml").write_text(other, encoding="utf-8")
    run(read_experiment(tmp_path / "another.toml"))
    head = hand_made_page(tmp_path).partition("\n## ")[0]
    assert head.endswith(
        "\nWhat was run.\n\n- [Another's ways, by β = 4](#anothers-ways-by-β--4)\n- [Made by hand](#made-by-hand)\n"
    )


def test_the_page_follows_from_the_files_alone(tmp_path: Path) -> None:
    assert hand_made_page(tmp_path) == results_page(tmp_path, tmp_path / "docs")


def test_drafts_are_left_out(tmp_path: Path) -> None:
    hand = experiment(tmp_path, TOML.replace('title = "Made', 'draft = true\ntitle = "Made'))
    write_all(hand, hand.results)
    assert "There are no results yet." in results_page(tmp_path, tmp_path)


def test_without_results(tmp_path: Path) -> None:
    experiment(tmp_path)
    assert "There are no results yet." in results_page(tmp_path, tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match="no such folder; give the one that holds the experiments"):
        write_results_page(tmp_path / "nowhere", tmp_path / "page.md")
    assert not (tmp_path / "page.md").exists()


def test_notes_that_cannot_be_read(tmp_path: Path) -> None:
    hand_made_page(tmp_path)
    before = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    (tmp_path / "notes.md").write_bytes("Søgaard".encode("latin-1"))
    with pytest.raises(ZerotagError, match=r"notes\.md is not UTF-8; save it as UTF-8"):
        write_results_page(tmp_path, tmp_path / "docs" / "results.md")
    assert (tmp_path / "docs" / "results.md").read_text(encoding="utf-8") == before
