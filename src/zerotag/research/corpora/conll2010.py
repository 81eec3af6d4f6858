"""CoNLL-2010: biomedical abstracts and articles, with the cues of uncertainty (`C`) marked.

The XML files are the biomedical part of task 2 of the CoNLL-2010 shared task on hedges (Farkas, Vincze, Móra, Csirik &
Szarvas), https://rgai.sed.hu/node/118, for research use; nothing is downloaded here. As in the paper, a tenth of
the training sentences is the development set.
"""

from __future__ import annotations

import random
from pathlib import Path
from xml.parsers import expat

from zerotag.errors import ZerotagError
from zerotag.research.corpora.checked import CorpusFacts, Counts, Splits, TaggedSentence, find_files
from zerotag.research.corpora.penn import tokenize

FACTS = CorpusFacts(
    name="conll2010",
    label="uncertainty",
    positive="C",
    negative="O",
    files=(
        "task2_train_bio_abstracts_rev2.xml",
        "task2_train_bio_fullarticles_rev2.xml",
        "task2_eval_rev.xml",
    ),
    obtain="the files of the shared task are on https://rgai.sed.hu/node/118 (research use)",
    expected={
        "train": Counts(13_087, 2339, 343_589, 3436),
        "dev": Counts(1454, 281, 38_168, 412),
        "test": Counts(5001, 790, 140_644, 1159),
    },
    digests={
        "train": "c6140aaa773f6a7c00fa52e6c5670a18b0f15b58c2d17f7a562d52ca682b626f",
        "dev": "111e246da0db54618675209109016453761c46691a4766386b3d91882cf61dda",
        "test": "7ab65893ef6a9ebec4a0490d250ea901a66b1410fc150de434247c7f39c4ceb2",
    },
)

# The paper's files were tokenised piece by piece as a SAX parser handed the text over, and such a parser reads blocks
# of this many bytes: the few words that lie across two blocks are in two parts. Reading alike gives the same words.
_BLOCK = 65_516


def read_splits(source: Path) -> Splits:
    """Read the XML files and shuffle the training sentences as was done for the paper."""
    abstracts, articles, test = map(_read_sentences, find_files(source, FACTS))
    sentences = [*abstracts, *articles]
    random.Random(123).shuffle(sentences)
    dev_size = len(sentences) // 10
    return {"train": sentences[dev_size:], "dev": sentences[:dev_size], "test": test}


def _read_sentences(path: Path) -> list[TaggedSentence]:
    reader = _Reader(path)
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                reader.parser.Parse(block)
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ZerotagError(f"{path}:{error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}") from None
    except OSError as error:
        raise ZerotagError(f"{path}: cannot read the file: {error.strerror}") from None
    return reader.sentences


class _Reader:
    """Collects the `sentence` elements; words inside a `cue` are positive, a sentence without words is left out."""

    def __init__(self, path: Path) -> None:
        self.sentences: list[TaggedSentence] = []
        self._path = path
        self._words: list[tuple[str, bool]] = []
        self._in_sentence = False
        self._open_cues = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # The release names a DTD that nobody needs: it is not fetched. Entities could fetch or swell without end.
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.SkippedEntityHandler = self._refuse_entity

    def _start(self, tag: str, _attributes: dict[str, str]) -> None:
        self._in_sentence |= tag == "sentence"
        self._open_cues += tag == "cue"

    def _end(self, tag: str) -> None:
        self._open_cues -= tag == "cue"
        if tag == "sentence":
            self._in_sentence = False
            if self._words:
                self.sentences.append(tuple(self._words))
            self._words = []

    def _text(self, text: str) -> None:
        if self._in_sentence:
            self._words.extend((word, self._open_cues > 0) for word in tokenize(text))

    def _refuse_entity(self, name: str, *_declaration: object) -> None:
        raise ZerotagError(
            f"{self._path}:{self.parser.CurrentLineNumber}: entity {name[:40]!r}; entities other than the five of "
            "XML itself are refused; use the unchanged files of the release"
        )
