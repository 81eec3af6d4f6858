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
from zerotag.labeller import WordLabeller, load
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


def test_a_single_text_is_not_taken_for_many(labeller: WordLabeller) -> None:
    with pytest.raises(TypeError, match=r"write label\(\[text\]\)\[0\]"):
        labeller.label("the pump may leak")


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
