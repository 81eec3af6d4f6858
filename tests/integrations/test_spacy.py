"""The spaCy component, on blank pipelines, which need no model of spaCy's."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

import tiny
from zerotag.errors import ZerotagError
from zerotag.integrations.spacy import create
from zerotag.labeller import WordLabeller, load
from zerotag.labelling import Labeller
from zerotag.types import Labelled, Rule, Sentence

TEXT = "The pump may  fail.\n\nIt isn't \U0001f600 raining, perhaps!"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    labeller: WordLabeller = tiny.labeller(labels=("hedge", "wet"))
    labeller.with_rules([Rule(word_threshold=0.5), Rule(word_threshold=0.6)]).save_pretrained(folder)
    return folder


def pipeline(model: Path, *, sentences: bool = True, **config: object) -> spacy.language.Language:
    nlp = spacy.blank("en")
    if sentences:
        nlp.add_pipe("sentencizer")
    nlp.add_pipe("zerotag", config={"model": str(model), **config})
    return nlp


def test_each_sentence_is_labelled_by_itself_on_the_tokens_of_spacy(model: Path) -> None:
    doc = pipeline(model)(TEXT)
    labeller = load(model)
    parts = [[token for token in sentence if not token.is_space] for sentence in doc.sents]
    assert [token.text for token in parts[1]] == ["It", "is", "n't", "\U0001f600", "raining", ",", "perhaps", "!"]
    offsets = [
        (sentence.start_char, [(token.idx, token.idx + len(token)) for token in part])
        for sentence, part in zip(doc.sents, parts, strict=True)
    ]
    results = labeller.label(
        [
            Sentence.from_spans(sentence.text, [(start - first, end - first) for start, end in words])
            for sentence, (first, words) in zip(doc.sents, offsets, strict=True)
        ]
    )
    spans = []
    for sentence, part, result in zip(doc.sents, parts, results, strict=True):
        assert sentence._.zerotag_scores == pytest.approx(result.scores, abs=1e-5)
        for token, word in zip(part, result.words, strict=True):
            assert token._.zerotag_scores == pytest.approx(word.scores, abs=1e-5)
        start = sentence.start_char
        spans += [(start + s.start, start + s.end, s.label, pytest.approx(s.score, abs=1e-5)) for s in result.spans]
    found = doc.spans["zerotag"]
    assert spans
    assert [
        (s.start_char, s.end_char, s.label_, score) for s, score in zip(found, found.attrs["scores"], strict=True)
    ] == spans
    assert doc.cats == {name: max(s._.zerotag_scores[name] for s in doc.sents) for name in ("hedge", "wet")}
    assert doc._.zerotag_scores == doc.cats


def test_without_sentences_a_document_is_one(model: Path) -> None:
    doc = pipeline(model, sentences=False, spans_key="words", threshold=0.0)("A pump. A valve")
    assert [(span.text, span.label_) for span in doc.spans["words"]] == [(doc.text, "hedge"), (doc.text, "wet")]
    for text in ("", " \n"):
        empty = pipeline(model)(text)
        assert len(empty.spans["zerotag"]) == 0
        assert empty.cats == {"hedge": 0.0, "wet": 0.0}


def test_many_documents_go_through_in_batches(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline(model)
    texts = [TEXT, "", "a pump may leak", "rain. snow. hail."] * 3
    one_by_one = [nlp(text) for text in texts]
    calls: list[int] = []
    stream = Labeller.stream

    def counted(self: Labeller, sentences: Iterable[Sentence]) -> Iterator[Labelled]:
        given = [*sentences]
        calls.append(len(given))
        return stream(self, given)

    monkeypatch.setattr(Labeller, "stream", counted)
    together = list(nlp.pipe(texts, batch_size=5))
    sentences = [len(list(one.sents)) for one in one_by_one]
    assert calls == [sum(sentences[start : start + 5]) for start in (0, 5, 10)]
    for one, other in zip(one_by_one, together, strict=True):
        assert [span.text for span in one.spans["zerotag"]] == [span.text for span in other.spans["zerotag"]]
        assert other.cats == pytest.approx(one.cats, abs=1e-5)


def test_a_pipeline_is_saved_with_its_model(model: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    load(model).save_pretrained(moved)  # type: ignore[attr-defined]
    nlp = pipeline(moved, threshold=0.4)
    nlp.to_disk(tmp_path / "pipeline")
    expected = nlp(TEXT)
    shutil.rmtree(moved)
    again = spacy.load(tmp_path / "pipeline")
    found = again(TEXT)
    assert [(s.text, s.label_) for s in found.spans["zerotag"]] == [
        (s.text, s.label_) for s in expected.spans["zerotag"]
    ]
    assert found.spans["zerotag"].attrs == expected.spans["zerotag"].attrs
    assert again.get_pipe("zerotag").labels == ("hedge", "wet")  # type: ignore[attr-defined]


def test_a_model_of_the_hub_is_fetched_once_and_saved_with_its_pipeline(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def snapshot_download(name: str) -> str:
        fetched.append(name)
        return str(model)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    nlp = pipeline(Path("user/hedges"))
    expected = nlp(TEXT).cats
    nlp.to_disk(tmp_path / "pipeline")
    assert spacy.load(tmp_path / "pipeline")(TEXT).cats == expected
    assert fetched == ["user/hedges"]


def test_documents_keep_their_spans(model: Path) -> None:
    nlp = pipeline(model)
    doc = nlp(TEXT)
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(nlp.vocab)
    assert isinstance(again, Doc)
    assert [span.text for span in again.spans["zerotag"]] == [span.text for span in doc.spans["zerotag"]]
    assert again[0]._.zerotag_scores == doc[0]._.zerotag_scores
    assert again.cats == doc.cats


def test_a_component_without_a_model_says_so(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("zerotag")
    with pytest.raises(ZerotagError, match="there is no model: nlp"):
        nlp("A pump.")
    with pytest.raises(ZerotagError, match="/nowhere/model is not a folder"):
        pipeline(Path("/nowhere/model"))("A pump.")
    with pytest.raises(ZerotagError, match="is not a zerotag model folder"):
        pipeline(tmp_path)


def test_spacy_finds_it_by_its_entry_point() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, attribute = project["entry-points"]["spacy_factories"]["zerotag"].partition(":")
    assert getattr(import_module(module), attribute) is create
