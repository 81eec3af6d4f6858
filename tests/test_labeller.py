"""The word labeller as people use it."""

from __future__ import annotations

import copy
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny
import zerotag
from zerotag.errors import ZerotagError
from zerotag.explain import create
from zerotag.labeller import WordLabeller, load
from zerotag.render.progress import LiveBar
from zerotag.text.segmentation import as_sentence
from zerotag.types import Rule, Sentence


@pytest.fixture(scope="module")
def labeller() -> WordLabeller:
    """It scores at random, and says yes to everything above the middle of its scores."""
    return tiny.labeller()


def always(labeller: WordLabeller) -> WordLabeller:
    return labeller.with_rules([Rule(word_threshold=0.0, sentence_threshold=0.0)])


def never(labeller: WordLabeller) -> WordLabeller:
    return labeller.with_rules([Rule(word_threshold=2.0, sentence_threshold=2.0)])


def test_texts_words_and_sentences(labeller: WordLabeller) -> None:
    as_text, as_words, as_sentence = labeller.label(
        ["the pump  may leak.", ["the", "pump", "may", "leak", "."], Sentence("may leak", ("leak",), ((4, 8),))]
    )
    assert as_text.text == "the pump  may leak."
    assert [word.text for word in as_text.words] == [word.text for word in as_words.words]
    assert [(word.start, word.end) for word in as_text.words] == [(0, 3), (4, 8), (10, 13), (14, 18), (18, 19)]
    assert as_words.text == "the pump may leak ."
    assert [(word.text, word.start) for word in as_sentence.words] == [("leak", 4)]


def test_one_text_gives_one_result(labeller: WordLabeller) -> None:
    text = "the pump may leak"
    assert labeller.label(text) == labeller.label([text])[0]
    assert labeller.label(Sentence.from_words(text.split())) == labeller.label(text)


def test_a_threshold_can_be_given(labeller: WordLabeller) -> None:
    text = "the pump may leak"
    scores = sorted(word.score for word in labeller.label(text).words)
    some = labeller.label(text, threshold=scores[2])
    assert [word.label for word in some.words].count("hedge") == 2
    assert labeller.label(text, threshold={"hedge": scores[2]}) == some
    assert labeller.label(text, threshold=scores[2], method="native").labels == labeller.label(text).labels


@pytest.mark.parametrize("threshold", [80, -5, float("nan"), True, "0.5"])
def test_a_threshold_beyond_scores_is_refused(labeller: WordLabeller, threshold: Any) -> None:
    with pytest.raises(ZerotagError, match=r"^the threshold is .*; it must be a number from 0 to 1"):
        labeller.label("the pump", threshold=threshold)


def test_thresholds_are_for_labels_that_exist(labeller: WordLabeller) -> None:
    with pytest.raises(ZerotagError, match=r"^there is no label 'fault'; this model has: hedge$"):
        labeller.label("the pump", threshold={"fault": 0.5})


def test_other_methods_score_words_too(labeller: WordLabeller) -> None:
    texts = ["the pump may leak", "rain"]
    expected = [*create("occlusion", labeller).score(map(as_sentence, texts))]
    for batch_size in (None, 1):
        found = labeller.label(texts, method="occlusion", batch_size=batch_size)
        for one, scored in zip(found, expected, strict=True):
            assert [word.score for word in one.words] == pytest.approx(scored.word_scores[:, 0].tolist(), abs=1e-6)


def test_batches_do_not_change_scores(labeller: WordLabeller) -> None:
    texts = ["the pump may leak", "rain", "the valve holds under load at night"]
    for one, other in zip(labeller.label(texts), labeller.label(texts, batch_size=1), strict=True):
        assert [word.score for word in one.words] == pytest.approx([word.score for word in other.words], abs=1e-6)
    with pytest.raises(ZerotagError, match="batch_size is 0"):
        labeller.label(texts, batch_size=0)


def test_many_texts_with_a_bar(labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, float | None]] = []
    monkeypatch.setattr(LiveBar, "draw", lambda _self, _words, done, total: drawn.append((done, total)))
    texts = ["the pump may leak"] * 3_000
    assert len(labeller.label(texts)) == 3_000
    assert drawn == [(done, 3_000) for done in (1_024, 2_048, 3_000)]
    drawn.clear()
    labeller.label(texts, progress=False)
    labeller.label(texts[:999])
    assert drawn == []


def test_evaluation_by_hand(labeller: WordLabeller, tmp_path: Path) -> None:
    """All words and sentences are marked: precision is the share of gold ones, recall is 1."""
    path = tmp_path / "gold.tsv"
    path.write_text("may\thedge\nrain\tO\n\nthe\tO\npump\tO\n\n")
    for gold in (path, str(path), zerotag.read_gold(path)):
        measures = always(labeller).evaluate(gold).macro
        assert (measures.word_precision, measures.word_recall) == (0.25, 1.0)
        assert (measures.sentence_precision, measures.sentence_recall) == (0.5, 1.0)
    path.write_text("may\tfault\nrain\tO\n")
    with pytest.raises(ZerotagError, match="'fault'"):
        labeller.evaluate(path)


def test_rules_decide(labeller: WordLabeller) -> None:
    text = "the pump may leak"
    (yes,) = always(labeller).label([text])
    (no,) = never(labeller).label([text])
    assert (yes.label, no.label) == ("hedge", None)
    assert [word.label for word in yes.words] == ["hedge"] * 4
    assert [(span.text, span.start, span.end) for span in yes.spans] == [(text, 0, len(text))]
    assert no.spans == ()
    assert yes.score == no.score
    assert labeller.rules == (Rule(),)


def test_a_text_without_words(labeller: WordLabeller) -> None:
    (result,) = labeller.label([" "])
    assert (result.text, result.words, result.spans) == (" ", (), ())


def test_loading_needs_nothing_but_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zerotag.config import ModelConfig, TrainConfig
    from zerotag.training.recipe import train

    encoder = tiny.encoder_folder(tmp_path / "encoder")
    trained = train(tiny.corpus(20), model=ModelConfig(encoder=str(encoder)), training=TrainConfig(epochs=1))
    trained.save_pretrained(tmp_path / "model")
    shutil.rmtree(encoder)
    moved = (tmp_path / "model").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "no-cache"))
    monkeypatch.chdir(tmp_path)
    texts = ["the pump may leak .", "a valve holds at night ."]
    assert zerotag.load("elsewhere").label(texts) == trained.label(texts)
    assert WordLabeller.from_pretrained(moved).label(texts) == trained.label(texts)


@pytest.mark.parametrize("device", ["gpu", "cuda", "cuda:99", torch.device("cuda", 99)])
def test_a_device_that_is_not_there(
    labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str | torch.device
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    labeller.save_pretrained(tmp_path / "model")
    for loading in (load, WordLabeller.from_pretrained):
        with pytest.raises(ZerotagError, match=rf"^device '{device}' cannot be used here; there are: cpu$"):
            loading(tmp_path / "model", device=device)
        assert loading(tmp_path / "model", device=torch.device("cpu")).label_names == labeller.label_names


class Hub:
    """What the labeller asks of the hub, kept."""

    uploaded: dict[str, Any]

    def __init__(self, token: str | None = None) -> None:
        Hub.uploaded = {"token": token}

    def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> str:
        Hub.uploaded |= {"created": repo_id, "private": private, "exist_ok": exist_ok}
        return f"https://hub.example/{repo_id}"

    def upload_folder(self, *, repo_id: str, folder_path: Path, commit_message: str) -> None:
        files = {path.name: path.read_bytes() for path in folder_path.iterdir()}
        Hub.uploaded |= {"to": repo_id, "files": files, "message": commit_message}


def test_pushing_to_the_hub_and_loading_from_it(
    labeller: WordLabeller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    assert labeller.push_to_hub("me/hedges", private=True, token="secret") == "https://hub.example/me/hedges"
    assert (Hub.uploaded["token"], Hub.uploaded["created"], Hub.uploaded["to"]) == ("secret", "me/hedges", "me/hedges")
    assert Hub.uploaded["private"]
    assert sorted(Hub.uploaded["files"]) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "zerotag.json",
    ]

    def download(name: str) -> str:
        assert name == "me/hedges"
        for file, content in Hub.uploaded["files"].items():
            (tmp_path / file).write_bytes(content)
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert WordLabeller.from_pretrained("me/hedges").label(["may leak"]) == labeller.label(["may leak"])


def test_a_name_that_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("nobody/nothing", "no body/*"):
        with pytest.raises(ZerotagError, match=r"is neither a folder nor a model that could be fetched") as caught:
            load(name)
        assert str(caught.value).startswith(repr(name))
        assert "\n" not in str(caught.value)
    with pytest.raises(ZerotagError, match=r"^nothing is not a folder"):
        load("nothing")


def test_a_folder_wins_over_the_hub(labeller: WordLabeller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    labeller.save_pretrained("me/hedges")
    assert load("me/hedges").label_names == ("hedge",)


def test_a_labeller_can_be_copied_and_sent_to_other_processes(labeller: WordLabeller) -> None:
    special = labeller.tokenizer.sep_token
    texts = ["The pump may stop .", "It may  well stop at night .", f"the pump {special} may stop"]
    expected = labeller.label(texts)
    for other in (copy.deepcopy(labeller), pickle.loads(pickle.dumps(labeller))):
        assert other.label(texts) == expected
