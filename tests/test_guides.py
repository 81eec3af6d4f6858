"""The guides do what they say: their commands and their Python run as they stand there, on a tiny encoder."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tiny
import toy
from commands import CommandLine
from zerotag.config import ModelConfig, TrainConfig
from zerotag.modeling import encoders
from zerotag.training.recipe import train
from zerotag.types import GoldExample

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
CHECKED = (
    "../first-result",
    "corpus-report",
    "curves",
    "documents",
    "evaluating",
    "install",
    "explaining",
    "improve",
    "notebooks",
    "scale",
    "scikit-learn",
    "tables",
    "training-data",
    "classes",
    "spacy",
    "annotation-tools",
    "languages",
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.encoder_folder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    folder = tmp_path_factory.mktemp("models") / "model"
    settings = TrainConfig(teacher_epochs=0, epochs=5, batch_size=8, learning_rate=5e-3)
    labeller = train(toy.corpus(120), model=ModelConfig(encoder=str(encoder), depth=1), training=settings)
    labeller.save_pretrained(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, model: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that guides speak of; the packaged encoder is a tiny one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(encoders, "packaged_folder", lambda: encoder)
    Path("model").symlink_to(model)
    gold = toy.gold(40, seed=3)
    toy.write_tsv(Path("gold.tsv"), gold)
    toy.write_tsv(Path("words.tsv"), gold, "1")
    toy.write_tsv(Path("dev.tsv"), toy.gold(20, seed=4))
    scores = [[float(any(flags)) for flags in one.word_labels or ()] for one in gold]
    Path("other-tool.jsonl").write_text("".join(f"{record}\n" for record in scores), encoding="utf-8")
    Path("new.txt").write_text("".join(f"{one.sentence.text}\n" for one in gold), encoding="utf-8")
    rows = "".join(f"{one.sentence.text},{int(one.labels[0])}\n" for one in toy.gold(60))
    Path("sentences.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    Path("corpus").mkdir()
    for name in ("a", "b"):
        Path("corpus", f"{name}.txt").write_text("the pump may fail in winter .\n" * 20, encoding="utf-8")
    names = "".join(f"{one.sentence.text},{'rude' if one.labels[0] else 'calm'}\n" for one in toy.gold(60))
    Path("reviews.csv").write_text(f"text,sentiment\n{names}", encoding="utf-8")
    toy.write_tsv(Path("entities.tsv"), toy.gold(40), label="B-CUE")
    as_conll = Path("entities.tsv").read_text(encoding="utf-8").replace("\t", " NN ")
    Path("entities.conll").write_text(f"-DOCSTART- -X- O\n\n{as_conll}", encoding="utf-8")
    toy.write_tsv(Path("cues.tsv"), toy.gold(20, seed=4), label="cue")
    write_hub_file(Path("entities.parquet"), toy.gold(40))
    write_exports(Path("export.json"), Path("export.jsonl"), gold)
    Path("articles.csv").write_text('id,text\n1,"It works. It may fail."\n2,\n', encoding="utf-8")
    Path("comments.csv").write_text(f"comment,toxic\n{rows}", encoding="utf-8")
    return tmp_path


def write_exports(labelstudio: Path, doccano: Path, gold: Sequence[GoldExample]) -> None:
    """What people made of suggestions, as two annotation tools export it."""
    tasks, lines = [], []
    for one in gold:
        marked = [span for span, flags in zip(one.sentence.spans, one.word_labels or (), strict=True) if any(flags)]
        spans = [
            {"type": "labels", "value": {"start": start, "end": end, "labels": ["hedge"]}} for start, end in marked
        ]
        tasks.append({"data": {"text": one.sentence.text}, "annotations": [{"result": spans}]})
        lines.append(json.dumps({"text": one.sentence.text, "label": [[*span, "hedge"] for span in marked]}))
    labelstudio.write_text(json.dumps(tasks), encoding="utf-8")
    doccano.write_text("\n".join(lines), encoding="utf-8")


def write_hub_file(path: Path, gold: Sequence[GoldExample]) -> None:
    """Words and tags by number, as the hub has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = {"feature": {"names": ["O", "B-CUE"], "_type": "ClassLabel"}, "_type": "List"}
    told = json.dumps({"info": {"features": {"ner_tags": names}}})
    tags = [[int(word[0]) for word in one.word_labels or ()] for one in gold]
    table = pa.table({"tokens": [[*one.sentence.words] for one in gold], "ner_tags": tags})
    pq.write_table(table.replace_schema_metadata({"huggingface": told}), path)


@pytest.mark.parametrize("name", CHECKED)
def test_a_guide(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    text = (GUIDES / f"{name}.md").read_text(encoding="utf-8")
    known: dict[str, Any] = {"__name__": "__main__"}
    blocks = re.findall(r"^ *```(bash|python)\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    for language, indented in blocks:
        code = textwrap.dedent(indented)  # those of tabs are
        if language == "python":
            exec(compile(code, f"{name}.md", "exec"), known)
        else:
            for command in commands(code):
                CommandLine(capsys).succeeds(*command)


def commands(code: str) -> Iterator[list[str]]:
    """The commands of zerotag in a block; what installs something is left out."""
    for line in code.replace("\\\n", " ").splitlines():
        match shlex.split(line, comments=True):
            case ["zerotag", *arguments]:
                yield arguments
            case ["pip" | "pipx" | "uv", *_] | []:
                pass
            case other:
                raise AssertionError(f"a command that no test runs: {other}")
