import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from scipy import stats

from hand_made import TOML, experiment, record, run_of, write_all
from zerotag.errors import ZerotagError
from zerotag.evaluation.cost import Cost
from zerotag.evaluation.significance import Summary
from zerotag.research.compare.experiment import Run
from zerotag.research.compare.record import VerdictRecord, write_record
from zerotag.research.compare.results import load_results, run_path
from zerotag.research.compare.significance import (
    Difference,
    FromPublished,
    from_published,
    read_significance,
    significance,
)
from zerotag.research.compare.summary import summaries, write_summary


def test_mean_deviation_and_number_of_seeds(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    write_summary(load_results(hand, tmp_path), tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert set(summary) == {"fce", "own"}
    assert set(summary["own"]) == {"Soft attention"}
    # 0.35 and 0.41: mean 0.38, deviation 0.06 / √2
    assert summary["fce"]["Weighted soft attention"]["word_f1"] == pytest.approx(
        {"mean": 0.38, "std": 0.06 / 2**0.5, "n": 2}
    )
    assert summary["own"]["Soft attention"]["word_f1"] == {"mean": 0.25, "std": None, "n": 1}
    assert "word_f1" not in summary["fce"]["RoBERTa"]


def test_seconds_are_those_of_the_device_that_most_runs_had(tmp_path: Path) -> None:
    hand = experiment(tmp_path, TOML.replace("seeds = [1, 2]", "seeds = [1, 2, 3]"))

    def summary(*devices: str) -> dict[str, Summary]:
        for seed, device in enumerate(devices, start=1):
            run = run_of(hand, "fce", "Soft attention", seed)
            made = record(hand, run, word_f1=0.5)
            assert made.training is not None
            made = replace(
                made,
                made={**made.made, "device": device},
                training=replace(made.training, seconds=60.0 * seed),
                cost=Cost(seconds_per_1000=float(seed), passes_per_1000=1000.0 * seed),
            )
            write_record(run_path(tmp_path, run), made)
        return summaries(load_results(hand, tmp_path))["fce"]["Soft attention"]

    common = summary("CPU", "GPU", "GPU")
    assert (common["training_seconds"].mean, common["training_seconds"].n) == (150.0, 2)
    assert (common["seconds_per_1000"].mean, common["seconds_per_1000"].n) == (2.5, 2)
    assert (common["passes_per_1000"].mean, common["passes_per_1000"].n) == (2000.0, 3)
    assert common["word_f1"].n == 3
    assert summary("CPU", "GPU", "TPU")["seconds_per_1000"] == Summary(1.0, None, 1)


def test_tests_are_against_the_reference(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    found = significance(load_results(hand, tmp_path))
    assert set(found) == {"fce"}  # on the other corpus there is only the reference
    assert set(found["fce"]) == {"RoBERTa", "LIME", "Weighted soft attention", "β = 4"}
    expected = stats.ttest_rel([0.35, 0.41], [0.30, 0.32]).pvalue
    assert found["fce"]["Weighted soft attention"]["word_f1"].t_test == pytest.approx(expected)
    # the same answers to every sentence: nothing can be swapped
    assert found["fce"]["Weighted soft attention"]["word_f1"].randomisation == 1.0
    (classifier,) = found["fce"]["RoBERTa"].values()  # of sentence F1 alone
    assert classifier.t_test == pytest.approx(stats.ttest_rel([0.80, 0.82], [0.82, 0.82]).pvalue)
    assert (classifier.randomisation, classifier.seeds) == (None, 2)


def test_tests_against_what_was_published(tmp_path: Path) -> None:
    """Of those without word labels, on the corpora that others have numbers for."""
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    results = load_results(hand, tmp_path)
    found = from_published(results)
    assert set(found) == {"fce"}
    assert set(found["fce"]) == {"RoBERTa", "Soft attention", "Weighted soft attention", "β = 4"}
    weighted = found["fce"]["Weighted soft attention"]
    assert weighted["map"].t_test == pytest.approx(stats.ttest_1samp([50, 52], 53.91).pvalue)
    assert weighted["word_f1"].t_test == pytest.approx(stats.ttest_1samp([35, 41], 42.48).pvalue)
    assert (weighted["word_f1"].published, weighted["word_f1"].seeds) == (42.48, 2)
    write_summary(results, tmp_path)
    written = json.loads((tmp_path / "significance.json").read_text())["from_published"]
    assert written["fce"]["Weighted soft attention"]["word_f1"] == asdict(weighted["word_f1"])


def test_a_single_seed_is_not_tested_against_what_was_published(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    run = run_of(hand, "fce", "Soft attention", 1)
    write_record(run_path(tmp_path, run), record(hand, run, word_f1=0.5))
    found = from_published(load_results(hand, tmp_path))
    assert found == {"fce": {"Soft attention": {"word_f1": FromPublished(42.48, None, 1)}}}


def test_part_of_the_test_set_is_paired_by_sentence(tmp_path: Path) -> None:
    """LIME was measured on sentences 0 and 2, where its answers are those of the reference."""
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    lime = significance(load_results(hand, tmp_path))["fce"]["LIME"]
    assert lime == {
        "sentence_f1": Difference(None, None, 1),
        "word_f1": Difference(None, 1.0, 1),
        "map": Difference(None, 1.0, 1),
    }


def test_randomisation_swaps_all_seeds_of_a_sentence_together(tmp_path: Path) -> None:
    """One sentence that differs: swapped or not, the difference is as large, whatever the number of seeds."""
    hand = experiment(tmp_path)
    for seed in (1, 2):
        for method, counts, precisions in (
            ("Soft attention", ([0, 1], [0, 0], [1, 0]), (0.5, 1.0)),
            ("Weighted soft attention", ([1, 1], [0, 0], [0, 0]), (1.0, 1.0)),
        ):
            run = run_of(hand, "fce", method, seed)
            made = record(hand, run, word_f1=0.5, average_precision=0.5, counts=counts, precisions=precisions)
            write_record(run_path(tmp_path, run), made)
    found = significance(load_results(hand, tmp_path))["fce"]["Weighted soft attention"]
    assert (found["word_f1"].randomisation, found["map"].randomisation) == (1.0, 1.0)


def test_many_differing_sentences_are_no_luck(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    right, wrong = ([1] * 30, [0] * 30, [0] * 30), ([0] * 30, [0] * 30, [1] * 30)
    for method, counts, precision in (("Soft attention", wrong, 0.1), ("Weighted soft attention", right, 1.0)):
        run = run_of(hand, "fce", method, 1)
        made = record(hand, run, word_f1=0.5, average_precision=0.5, counts=counts, precisions=(precision,) * 30)
        write_record(run_path(tmp_path, run), made)
    found = significance(load_results(hand, tmp_path))["fce"]["Weighted soft attention"]
    assert found["word_f1"].randomisation == found["map"].randomisation == 1 / 10_001
    assert found["word_f1"].t_test is None  # a single seed shows no spread


def test_verdicts_on_sentences_are_swapped_too(tmp_path: Path) -> None:
    """Of thirty positive sentences one method finds each, the other none; then one of them, which may be luck."""
    hand = experiment(tmp_path)
    gold, all_right = "1" * 30 + "0", "1" * 30 + "0"
    found = []
    for theirs in ("0" * 31, "0" + "1" * 29 + "0"):
        for method, predicted in (("Soft attention", theirs), ("Weighted soft attention", all_right)):
            run = run_of(hand, "fce", method, 1)
            made = replace(record(hand, run, sentence_f1=0.5), verdicts={"error": VerdictRecord(gold, predicted)})
            write_record(run_path(tmp_path, run), made)
        found.append(significance(load_results(hand, tmp_path))["fce"]["Weighted soft attention"]["sentence_f1"])
    assert [one.randomisation for one in found] == [1 / 10_001, 1.0]


def test_significance_there_and_back(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    assert read_significance(tmp_path) == significance(results)
    assert json.loads((tmp_path / "significance.json").read_text())["reference"] == "Soft attention"


def test_no_significance(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match="`zerotag compare` writes it again"):
        read_significance(tmp_path)


def test_other_settings_than_declared_are_refused(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    changed = experiment(tmp_path, TOML.replace("test_sentences = 2", "test_sentences = 3"))
    with pytest.raises(
        ZerotagError,
        match=r"fce\.lime\.1\.json was made with test_sentences 2, but .*hand\.toml has test_sentences 3: delete",
    ):
        load_results(changed, tmp_path)


def test_only_the_settings_that_differ_are_named(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    changed = experiment(tmp_path, TOML.replace("[model]", "[training]\nepochs = 5\n\n[model]\nwindow = 64"))
    with pytest.raises(ZerotagError) as caught:
        load_results(changed, tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'runs' / 'fce.roberta.1.json'} was made with model.window 512, training.epochs None, but "
        f"{tmp_path / 'hand.toml'} has model.window 64, training.epochs 5: "
        "delete the file to repeat the run, or give the method another name"
    )


def own_corpus(folder: Path, *texts: str) -> None:
    (folder / "own").mkdir(exist_ok=True)
    for name, text in zip(("train.tsv", "dev.tsv", "test.tsv"), texts, strict=True):
        (folder / "own" / name).write_text(text)


def test_a_run_on_other_data_is_refused(tmp_path: Path) -> None:
    own_corpus(tmp_path, "a\tO\n\n", "b\tO\n\n", "c\tO\n\n")
    hand = experiment(tmp_path)
    run = run_of(hand, "own", "Soft attention", 1)
    made = record(hand, run, word_f1=0.5)
    write_record(run_path(tmp_path, run), made)
    assert set(load_results(experiment(tmp_path), tmp_path).records) == {run}
    own_corpus(tmp_path, "a\tO\n\nb\tO\n\n", "", "c\tO\n\n")  # the same lines, but parted elsewhere
    with pytest.raises(
        ZerotagError,
        match=f"made with corpus_sha256 '{made.settings['corpus_sha256']}', but .*has corpus_sha256 '[0-9a-f]",
    ):
        load_results(experiment(tmp_path), tmp_path)


def test_runs_are_read_without_their_corpus(tmp_path: Path) -> None:
    own_corpus(tmp_path, "a\tO\n\n", "b\tO\n\n", "c\tO\n\n")
    hand = experiment(tmp_path)
    run = run_of(hand, "own", "Soft attention", 1)
    write_record(run_path(tmp_path, run), record(hand, run, word_f1=0.5))
    shutil.rmtree(tmp_path / "own")
    assert set(load_results(experiment(tmp_path), tmp_path).records) == {run}


def test_settings_that_came_later_had_their_defaults(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    run = run_of(hand, "fce", "Soft attention", 1)
    made = record(hand, run, word_f1=0.5)
    older = {**made.settings, "model": {k: v for k, v in made.settings["model"].items() if k != "dropout"}}
    write_record(run_path(tmp_path, run), replace(made, settings=older))
    assert set(load_results(hand, tmp_path).records) == {run}


def test_runs_that_nobody_declares_are_left_out(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    fewer = experiment(tmp_path, TOML.replace('corpora = ["fce", "own"]', 'corpora = ["own"]'))
    assert set(load_results(fewer, tmp_path).records) == {Run("own", fewer.methods[2], 1)}
