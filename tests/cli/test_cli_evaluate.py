"""`zerotag evaluate`: a table for people, JSON for programs."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import toy
from commands import CommandLine
from zerotag.evaluation.tuning import best_head_from_word_labels
from zerotag.io import read_gold
from zerotag.labeller import WordLabeller, load


def test_the_table(zerotag: CommandLine, model: Path, gold_file: Path) -> None:
    caption, *table = zerotag.succeeds("evaluate", model, gold_file).splitlines()
    rows = [line.split() for line in table if line.strip()]
    assert caption == f"{model} on {gold_file}"
    assert rows[0] == ["percent", "P", "R", "F1", "MAP"]
    assert rows[2][:2] == ["hedge:", "sentences"]
    assert rows[3] == ["hedge:", "words", "100.0", "100.0", "100.0", "100.0"]
    *table, cost = table
    assert re.fullmatch(r"per 1,000 sentences: [\d,]+\.\d s, 1,000 forward passes", cost)
    assert "30 sentences" in table[-1]
    assert re.search(
        r"words are positive; word threshold 0.50 \(sentence labels of the development set\); "
        r"the best one for these words, \d\.\d\d, gives F1 100.0$",
        table[-1],
    )


def test_json(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    zerotag.succeeds("evaluate", model, gold_file, "--json", out)
    report = json.loads(out.read_text())
    gold = toy.gold(30, seed=1)
    label = report["labels"]["hedge"]
    assert label["counts"] == {
        "sentences": 30,
        "positive_sentences": sum(example.labels[0] for example in gold),
        "words": 210,
        "positive_words": sum(flag for example in gold for (flag,) in example.word_labels or ()),
    }
    assert label["rule"] == asdict(load(model).rules[0])
    assert {"sentence_f1", "word_precision", "word_recall", "word_f1", "map"} <= set(label["measures"])
    assert report["macro"]["map"] == label["measures"]["map"] == 1.0
    assert report["cost"]["passes_per_1000"] == 1000
    assert report["cost"]["seconds_per_1000"] > 0


def test_the_table_is_shown_also_if_the_json_cannot_be_written(
    zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "report.json"
    outcome = zerotag("evaluate", model, gold_file, "--json", out)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: cannot write {out}: ")
    assert "hedge: words" in outcome.out


def test_the_gold_file_is_not_replaced_by_its_scores(zerotag: CommandLine, model: Path, gold_file: Path) -> None:
    before = gold_file.read_text()
    line = zerotag.fails("evaluate", model, gold_file, "--json", gold_file, "--overwrite")
    assert line == f"{gold_file} is an input, which --json would replace: choose another name"
    other = toy.write_tsv(gold_file.with_name("other.tsv"), toy.gold(10))
    given = ("evaluate", model, other, "--tune-on", gold_file, "--json", gold_file, "--overwrite")
    assert zerotag.fails(*given) == line
    assert gold_file.read_text() == before


def test_faithfulness(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    for method in ("native", "random"):
        shown = zerotag.succeeds(
            "evaluate", model, gold_file, "--faithfulness", "--method", method, "--json", out, "--overwrite"
        )
        report = json.loads(out.read_text())
        (line,) = [line for line in shown.splitlines() if line.startswith("faithfulness: ")]
        assert f"comprehensiveness {report['comprehensiveness']:.3f} (higher is better)" in line
        assert f"sufficiency {report['sufficiency']:.3f} (lower is better)" in line
        if method == "native":  # one cue word decides: without it little is left, with it alone enough
            assert report["comprehensiveness"] > 0.5
            assert report["sufficiency"] < 0.2
        else:
            assert report["comprehensiveness"] < 0.5


def test_faithfulness_without_a_positive_sentence_or_a_mask_token(
    zerotag: CommandLine, model: Path, tmp_path: Path
) -> None:
    source = tmp_path / "gold.csv"
    source.write_text("text,label\na valve holds .,0\n")
    assert "the model calls no sentence positive" in zerotag.succeeds("evaluate", model, source, "--faithfulness")
    train = toy.write_tsv(tmp_path / "train.tsv", toy.gold(20))
    zerotag.succeeds("train", train, "--preset", "bilstm", "--epochs", 1, "--out", tmp_path / "bilstm")
    message = zerotag.fails("evaluate", tmp_path / "bilstm", source, "--faithfulness")
    assert message == "--faithfulness hides words behind a mask token, and this model's tokenizer has none"


def test_an_output_that_exists(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    out.write_text("mine")
    assert zerotag.fails("evaluate", model, gold_file, "--json", out).startswith(f"{out} exists")
    assert out.read_text() == "mine"
    zerotag.succeeds("evaluate", model, gold_file, "--json", out, "--overwrite")
    assert json.loads(out.read_text())


def test_sentence_labels_alone(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "gold.csv"
    source.write_text("text,label\nthe pump may leak .,1\na valve holds .,0\n")
    table = zerotag.succeeds("evaluate", model, source)
    assert "hedge: 1 of 2 sentences are positive; no word labels" in table
    assert "–" in table


def test_a_label_the_model_does_not_know(zerotag: CommandLine, model: Path, tmp_path: Path) -> None:
    gold = toy.write_tsv(tmp_path / "gold.tsv", toy.gold(10, seed=1), label="irony")
    first = next(n for n, line in enumerate(gold.read_text().splitlines(), 1) if line.endswith("irony"))
    line = zerotag.fails("evaluate", model, gold)
    assert line.startswith(f"{gold}:{first}: unknown label 'irony'; the only label is 'hedge'")
    assert line.endswith("with --label-name irony, or that it means no label with --negative")
    zerotag.succeeds("evaluate", model, gold, "--negative", "irony", "--negative", "O")


def test_a_file_that_calls_the_only_label_otherwise(
    zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path
) -> None:
    known = zerotag.succeeds("evaluate", model, gold_file)
    for label in ("irony", "B-irony"):
        gold = toy.write_tsv(tmp_path / "gold.tsv", toy.gold(30, seed=1), label=label)
        found = zerotag.succeeds("evaluate", model, gold, "--label-name", "irony")
        assert measures(found) == measures(known)


def measures(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.lstrip().startswith("hedge: ")]


# Chosen by labelled words


def highest_f1(zerotag: CommandLine, model: Path, gold: Path, out: Path, *more: object) -> tuple[str, dict[str, float]]:
    """What is printed, and the measures."""
    shown = zerotag.succeeds("evaluate", model, gold, "--json", out, "--overwrite", *more)
    return shown, json.loads(out.read_text())["labels"]["hedge"]["measures"]


def test_labelled_words_choose_the_threshold(
    zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path
) -> None:
    """Tuned on the very sentences that are measured, it is the best there is; and it is told where it comes from."""
    given = (zerotag, model, gold_file, tmp_path / "scores.json", "--method", "gradient-x-input")
    _, fixed = highest_f1(*given)
    shown, tuned = highest_f1(*given, "--tune-on", gold_file)
    assert "(word labels of the development set)" in shown
    assert tuned["word_f1"] == fixed["highest_word_f1"] > fixed["word_f1"]
    assert tuned["sentence_f1"] == fixed["sentence_f1"]


def test_labelled_words_choose_the_head(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    dev = toy.write_tsv(tmp_path / "dev.tsv", toy.gold(20, seed=4))
    shown, _ = highest_f1(zerotag, model, gold_file, tmp_path / "out.json", "--method", "heads", "--tune-on", dev)
    labeller = load(model)
    assert isinstance(labeller, WordLabeller)
    head = best_head_from_word_labels(labeller, read_gold(dev).examples)
    assert f"{model} on {gold_file}, heads:{head.layer}.{head.number}" in shown


def test_what_cannot_be_tuned(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    sentences = tmp_path / "dev.csv"
    sentences.write_text("text,label\nthe pump may leak .,1\na valve holds .,0\n")
    line = zerotag.fails("evaluate", model, gold_file, "--tune-on", sentences)
    assert line == f"{sentences} has no labels on words, by which --tune-on would choose"
    both = ("--tune-on", gold_file, "--threshold", "0.3")
    assert "leave one of them out" in zerotag.fails("evaluate", model, gold_file, *both)
    assert "evaluate --tune-on" in zerotag.fails("evaluate", model, gold_file, "--method", "heads")
    innocent = tmp_path / "innocent.tsv"
    innocent.write_text("a\tO\nvalve\tO\n")
    assert "no word of the development set is positive" in zerotag.fails(
        "evaluate", model, gold_file, "--tune-on", innocent
    )


# Scores of other tools


def test_scores_of_any_tool_in_the_same_table(
    zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path
) -> None:
    """What the model wrote with `label` measures as the model does; a second file has numbers that can be followed."""
    own, other, out = tmp_path / "own.jsonl", tmp_path / "other.jsonl", tmp_path / "measures.json"
    texts = tmp_path / "texts.jsonl"
    gold = toy.gold(30, seed=1)
    texts.write_text("".join(json.dumps({"text": one.sentence.text}) + "\n" for one in gold), encoding="utf-8")
    zerotag.succeeds("label", model, texts, "--out", own)
    cues = [
        [0.9 if any(flags) else 0.6 if n == 0 else 0.0 for n, flags in enumerate(one.word_labels or ())] for one in gold
    ]
    other.write_text("".join(json.dumps(words) + "\n" for words in cues), encoding="utf-8")
    threshold = load(model).rules[0].word_threshold
    given = ("--scores", own, "--scores", other, "--json", out)
    shown = zerotag.succeeds("evaluate", model, gold_file, *given, "--threshold", threshold)
    rows = [line.split() for line in shown.splitlines() if " words " in line and "percent" not in line]
    assert [row[0] for row in rows[:3]] == [model.name, own.name, other.name]
    assert rows[0][-4:] == rows[1][-4:]
    found = json.loads(out.read_text())
    measured = found["scores"][own.name]["labels"]["hedge"]
    assert measured["measures"] == found["labels"]["hedge"]["measures"]
    by_hand = found["scores"][other.name]["labels"]["hedge"]
    positive = sum(flag for one in gold for (flag,) in one.word_labels or ())
    wrong = sum(not (one.word_labels or ())[0][0] for one in gold)
    assert by_hand["measures"]["word_precision"] == positive / (positive + wrong)
    assert by_hand["measures"]["word_recall"] == by_hand["measures"]["map"] == 1
    assert by_hand["measures"]["sentence_f1"] is None


def test_scores_without_a_model(zerotag: CommandLine, gold_file: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.tsv"
    lines = gold_file.read_text().replace("\tO", "\t0.1").replace("\thedge", "\t0.4")
    scores.write_text(lines)
    shown = zerotag.succeeds("evaluate", gold_file, "--scores", scores, "--threshold", 0.3)
    (row,) = [line.split() for line in shown.splitlines() if "hedge: words" in line]
    assert row[-4:] == ["100.0"] * 4
    assert "word threshold 0.30 (given)" in shown
    assert "forward passes" not in shown


def test_mistakes_with_scores(zerotag: CommandLine, model: Path, gold_file: Path, tmp_path: Path) -> None:
    scores = tmp_path / "scores.jsonl"
    scores.write_text("[0]\n")
    assert zerotag.fails("evaluate", model, gold_file, "--scores", scores).startswith(f"{scores}:1: 1 scores for the 7")
    assert "is one path: give a model folder and" in zerotag.fails("evaluate", gold_file)
    assert "3 paths: give a model folder and one file" in zerotag.fails("evaluate", model, gold_file, gold_file)
    line = zerotag.fails("evaluate", gold_file, "--scores", scores, "--faithfulness")
    assert line.startswith("--faithfulness asks a model, and there is none")
    line = zerotag.fails("evaluate", model, gold_file, "--scores", scores, "--tune-on", gold_file)
    assert line.startswith("--tune-on needs scores of other sentences")
    line = zerotag.fails("evaluate", model, gold_file, "--scores", scores, "--json", scores, "--overwrite")
    assert line == f"{scores} is an input, which --json would replace: choose another name"
    assert scores.read_text() == "[0]\n"
