"""The converters on tiny releases of our own."""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from zerotag.errors import ZerotagError
from zerotag.research.corpora import CORPORA, convert
from zerotag.research.corpora.checked import Counts

XML = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE Annotation PUBLIC "-//Uncertainty//DTD" "Uncertainty.dtd">
<Annotation><DocumentSet><Document><DocumentPart>
{}
</DocumentPart></Document></DocumentSet></Annotation>
"""


def expect(monkeypatch: pytest.MonkeyPatch, name: str, **expected: Counts) -> None:
    """Let a tiny release pass the checks."""
    facts = dataclasses.replace(CORPORA[name].FACTS, expected=expected, digests={})
    monkeypatch.setattr(CORPORA[name], "FACTS", facts)


def write_fce(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        text = f"{split}\tc\nare\ti\n\nfine\tc\n"
        (folder / f"fce-public.{split}.original.tsv").write_text(text, encoding="utf-8")


def write_bea(folder: Path) -> None:
    for part in "ABC":
        sentences = [f"S {part}{i} word" for i in (1, 2)]
        sentences[1] += "\nA 2 2|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0"
        (folder / f"{part}.train.gold.bea19.m2").write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
    test = "S He sing\nA 1 2|||R:VERB|||sings|||REQUIRED|||-NONE-|||0\n"
    (folder / "ABCN.dev.gold.bea19.m2").write_text(test, encoding="utf-8")
    (folder / "dev_indices_train_ABC.txt").write_text("[4, 1, 4]\n", encoding="utf-8")


def write_conll(folder: Path, test: str = "") -> None:
    abstracts = "".join(f'<sentence id="A{i}">Abstract {i}.</sentence>' for i in range(15))
    articles = "".join(f'<sentence id="F{i}">It <cue>may</cue> be {i}.</sentence>' for i in range(5))
    (folder / "task2_train_bio_abstracts_rev2.xml").write_text(XML.format(abstracts), encoding="utf-8")
    (folder / "task2_train_bio_fullarticles_rev2.xml").write_text(XML.format(articles), encoding="utf-8")
    (folder / "task2_eval_rev.xml").write_text("\ufeff" + XML.format(test), encoding="utf-8")


WRITERS: dict[str, Callable[[Path], None]] = {"fce": write_fce, "bea2019": write_bea, "conll2010": write_conll}


def conll_test_set(folder: Path, sentences: str) -> list[list[tuple[str, bool]]]:
    """What the converter makes of these sentences."""
    write_conll(folder, sentences)
    return [list(sentence) for sentence in CORPORA["conll2010"].read_splits(folder)["test"]]


def problem(name: str, source: Path, out: Path) -> str:
    """The one line with which a conversion fails, after which no trace of it is left."""
    with pytest.raises(ZerotagError) as caught:
        convert(name, source, out)
    assert "\n" not in str(caught.value)
    assert not list(out.parent.glob(f".{out.name}*"))
    return str(caught.value)


def test_fce_keeps_the_splits_of_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts(sentences=2, positive_sentences=1, words=3, positive_words=1)
    expect(monkeypatch, "fce", train=counts, dev=counts, test=counts)
    nested = tmp_path / "release" / "tsv"
    nested.mkdir(parents=True)
    write_fce(nested)
    conversion = convert("fce", tmp_path / "release", tmp_path / "new" / "fce")
    assert conversion.folder == tmp_path / "new" / "fce"
    assert conversion.counts == {"train": counts, "dev": counts, "test": counts}
    assert sorted(path.name for path in conversion.folder.iterdir()) == ["dev.tsv", "test.tsv", "train.tsv"]
    assert (conversion.folder / "dev.tsv").read_bytes() == b"dev\tc\nare\ti\n\nfine\tc\n\n"
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["fce"]


def test_bea_dev_is_as_listed_and_train_is_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bea(tmp_path)
    expect(monkeypatch, "bea2019", train=Counts(4, 2, 8, 2), dev=Counts(3, 1, 6, 1), test=Counts(1, 1, 2, 1))
    out = convert("bea2019", tmp_path, tmp_path / "out").folder
    assert (out / "train.tsv").read_text() == "A1\tc\nword\tc\n\nB1\tc\nword\tc\n\nB2\tc\nword\ti\n\nC2\tc\nword\ti\n\n"
    assert (out / "dev.tsv").read_text() == "C1\tc\nword\tc\n\nA2\tc\nword\ti\n\nC1\tc\nword\tc\n\n"
    assert (out / "test.tsv").read_text() == "He\tc\nsing\ti\n\n"


def test_conll_first_tenth_of_the_shuffled_training_sentences_is_dev(tmp_path: Path) -> None:
    write_conll(tmp_path)
    splits = CORPORA["conll2010"].read_splits(tmp_path)
    sentences = [f"Abstract {i} ." for i in range(15)] + [f"It may be {i} ." for i in range(5)]
    random.seed(123)
    random.shuffle(sentences)
    got = [" ".join(word for word, _ in sentence) for sentence in splits["dev"] + splits["train"]]
    assert got == sentences
    assert len(splits["dev"]) == 2
    assert all(positive == (word == "may") for sentence in splits["train"] for word, positive in sentence)


def test_conll_words_inside_cues_are_positive(tmp_path: Path) -> None:
    text = 'We <xcope id="x"><cue ref="x">suggest that</cue> it <xcope><cue>may</cue> rain</xcope></xcope>.'
    (sentence,) = conll_test_set(tmp_path, f"ignored<sentence>{text}</sentence>")
    assert [word for word, _ in sentence] == ["We", "suggest", "that", "it", "may", "rain", "."]
    assert [word for word, positive in sentence if positive] == ["suggest", "that", "may"]


def test_conll_sentences_without_words_are_left_out(tmp_path: Path) -> None:
    sentences = conll_test_set(tmp_path, "<sentence>One.</sentence><sentence> \n</sentence><sentence/>")
    assert sentences == [[("One", False), (".", False)]]


def test_conll_tags_and_character_references_end_a_piece_of_text(tmp_path: Path) -> None:
    (sentence,) = conll_test_set(tmp_path, "<sentence>un<cue>likely</cue>: Frost, A.&amp; Thaw &lt;1</sentence>")
    assert [word for word, _ in sentence] == ["un", "likely", ":", "Frost", ",", "A", ".", "&", "Thaw", "<", "1"]


def test_conll_a_word_across_two_blocks_is_in_two_parts(tmp_path: Path) -> None:
    head = len(XML.split("{}")[0].encode()) + len("\ufeff".encode()) + len("<!---->")
    filler = "x" * (65_516 - head - len("<sentence>It sn"))
    (sentence,) = conll_test_set(tmp_path, f"<!--{filler}--><sentence>It snows.</sentence>")
    assert [word for word, _ in sentence] == ["It", "sn", "ows", "."]


@pytest.mark.parametrize(
    ("doctype", "entity"),
    [
        ('<!DOCTYPE A [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>', "'a'"),
        ('<!DOCTYPE A [<!ENTITY x SYSTEM "file:///etc/hostname">]>', "'x'"),
        ('<!DOCTYPE A [<!ENTITY % p SYSTEM "http://localhost/p">%p;]>', "'p'"),
        ('<!DOCTYPE A PUBLIC "-//A" "A.dtd">', "'unknown'"),
    ],
)
def test_conll_entities_are_refused(tmp_path: Path, doctype: str, entity: str) -> None:
    write_conll(tmp_path)
    path = tmp_path / "task2_eval_rev.xml"
    path.write_text(f"\n{doctype}<A><sentence>&unknown;</sentence></A>", encoding="utf-8")
    line = problem("conll2010", tmp_path, tmp_path / "out")
    assert line.startswith(f"{path}:2: entity {entity}")


def test_conll_broken_xml_is_named_with_its_line(tmp_path: Path) -> None:
    write_conll(tmp_path, "<sentence>\n</cue>")
    line = problem("conll2010", tmp_path, tmp_path / "out")
    assert line == f"{tmp_path / 'task2_eval_rev.xml'}:5: not well-formed XML: mismatched tag"


@pytest.mark.parametrize("name", CORPORA)
def test_other_counts_than_the_paper_s_are_refused(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path)
    line = problem(name, tmp_path, tmp_path / "out")
    assert line.startswith(f"{name} train: found ")
    assert f"expected {CORPORA[name].FACTS.expected['train'].sentences:,} sentences (" in line
    assert not (tmp_path / "out").exists()


def test_the_right_number_of_sentences_with_other_words_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fce(tmp_path)
    counts = Counts(2, 1, 3, 1)
    expect(monkeypatch, "fce", train=counts, dev=counts, test=dataclasses.replace(counts, positive_words=2))
    line = problem("fce", tmp_path, tmp_path / "out")
    assert "fce test: found 2 sentences (1 positive), 3 words (1 positive), expected 2 sentences (1 positive), " in line
    assert "3 words (2 positive);" in line


def test_a_word_that_is_not_the_release_s_is_refused_though_counts_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fce(tmp_path)
    counts = Counts(2, 1, 3, 1)
    # printf 'dev\t0\nare\t1\n\nfine\t0\n\n' | sha256sum
    digests = {"dev": "af0ff967e8de08b0a9992e6c4a36e0f098fcbd618dc5bfafd473243d09d6549e"}
    facts = dataclasses.replace(
        CORPORA["fce"].FACTS, expected=dict.fromkeys(("train", "dev", "test"), counts), digests=digests
    )
    monkeypatch.setattr(CORPORA["fce"], "FACTS", facts)
    convert("fce", tmp_path, tmp_path / "out")
    dev = tmp_path / "fce-public.dev.original.tsv"
    dev.write_text(dev.read_text(encoding="utf-8").replace("fine", "good"), encoding="utf-8")
    line = problem("fce", tmp_path, tmp_path / "other")
    assert line.startswith("fce dev: the counts are right, but a word or label is not that of the release; ")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", CORPORA)
def test_missing_files_are_named_with_where_to_get_them(tmp_path: Path, name: str) -> None:
    facts = CORPORA[name].FACTS
    WRITERS[name](tmp_path)
    (tmp_path / facts.files[1]).unlink()
    line = problem(name, tmp_path, tmp_path / "out")
    assert line == f"{tmp_path}: {name} needs {facts.files[1]}; {facts.obtain}"


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write_fce(tmp_path)
    (tmp_path / "copy").mkdir()
    write_fce(tmp_path / "copy")
    line = problem("fce", tmp_path, tmp_path / "out")
    assert "2 files named fce-public.train.original.tsv (copy/fce-public.train.original.tsv, fce-public.tr" in line


def test_a_source_that_is_no_folder(tmp_path: Path) -> None:
    archive = tmp_path / "fce.tar.gz"
    archive.touch()
    assert "not a folder; unpack the archive first" in problem("fce", archive, tmp_path / "out")
    assert "no such folder" in problem("fce", tmp_path / "nowhere", tmp_path / "out")


def test_an_unknown_corpus(tmp_path: Path) -> None:
    line = problem("conll2003", tmp_path, tmp_path / "out")
    assert line == "no corpus is called 'conll2003'; choose one of fce, bea2019, conll2010"


def test_an_output_that_exists_is_left_alone(tmp_path: Path) -> None:
    write_fce(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    assert problem("fce", tmp_path, out).startswith(f"{out}: exists already")
    assert list(out.iterdir()) == []


def test_nothing_is_left_of_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bea(tmp_path)
    expect(monkeypatch, "bea2019")
    reason = "no space left on this device"

    def fail(*_: object) -> None:
        raise OSError(28, reason)

    monkeypatch.setattr(Path, "rename", fail)
    out = tmp_path / "out"
    assert problem("bea2019", tmp_path, out) == f"{out}: cannot write the folder: {reason}"
    assert not out.exists()


@pytest.mark.parametrize("row", ["word", "word\tx", "\tc", "word\tc\tc", "word c"])
def test_fce_bad_rows_are_named_with_their_line(tmp_path: Path, row: str) -> None:
    write_fce(tmp_path)
    path = tmp_path / "fce-public.dev.original.tsv"
    path.write_text(f"fine\tc\n\n{row}\n", encoding="utf-8")
    line = problem("fce", tmp_path, tmp_path / "out")
    assert line == f"{path}:3: expected word<TAB>c or word<TAB>i, found {row!r}"


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ("[1, 6]", "6 is not a sentence number in 0..5"),
        ("[-1]", "-1 is not a sentence number in 0..5"),
        ("[true]", "True is not a sentence number in 0..5"),
        ('["1"]', "1 is not a sentence number in 0..5"),
        ("[" + "1" * 5000 + "]", "expected a list of sentence numbers such as [3, 17, 42]"),
        ("1 2 3", "expected a list of sentence numbers such as [3, 17, 42]"),
        ('{"dev": [1]}', "expected a list of sentence numbers such as [3, 17, 42]"),
        ("[" * 100_000, "expected a list of sentence numbers such as [3, 17, 42]"),
    ],
)
def test_bea_bad_indices(tmp_path: Path, indices: str, message: str) -> None:
    write_bea(tmp_path)
    path = tmp_path / "dev_indices_train_ABC.txt"
    path.write_text(indices, encoding="utf-8")
    assert problem("bea2019", tmp_path, tmp_path / "out") == f"{path}: {message}"


def test_the_facts_add_up_to_the_paper_s() -> None:
    totals = {
        name: {split: counts.sentences for split, counts in corpus.FACTS.expected.items()}
        for name, corpus in CORPORA.items()
    }
    assert sum(totals["fce"].values()) == 33_673
    assert sum(totals["conll2010"].values()) == 19_542
    repeated = 30  # of the 3,430 development indices, 3,400 are different
    assert sum(totals["bea2019"].values()) - repeated == 38_692


@pytest.mark.parametrize(
    ("name", "sentences", "words"), [("fce", 67.90, 15.20), ("bea2019", 65.15, 10.10), ("conll2010", 15.80, 0.82)]
)
def test_the_facts_have_the_known_rates_of_positives(name: str, sentences: float, words: float) -> None:
    test = CORPORA[name].FACTS.expected["test"]
    assert 100 * test.positive_sentences / test.sentences == pytest.approx(sentences, abs=0.006)
    assert 100 * test.positive_words / test.words == pytest.approx(words, abs=0.006)
