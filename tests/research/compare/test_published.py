import pytest

from zerotag.research.compare.published import OTHER_ROWS, best_without_word_labels, others, paper

CORPORA = ("fce", "bea2019", "conll2010")
ROWS = (
    "Random baseline",
    "RoBERTa",
    "Rei & Søgaard (2018)",
    "LIME",
    "Attention heads",
    "Soft attention",
    "Weighted soft attention",
)


def test_the_last_row_of_the_main_table() -> None:
    row = [paper(corpus, ROWS[-1], measure) for corpus in CORPORA for measure in ("sentence_f1", "word_f1", "map")]
    assert row == [85.62, 33.31, 53.91, 83.68, 24.35, 41.07, 87.20, 67.28, 91.18]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("kind", ["sentence", "word"])
def test_precision_recall_and_f1_fit(corpus: str, row: str, kind: str) -> None:
    """A slip of the pen would show: F1 is close to that of the mean precision and recall over five seeds."""
    precision, recall, f1 = (paper(corpus, row, f"{kind}_{measure}") for measure in ("precision", "recall", "f1"))
    if precision is not None and recall is not None:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=0.4)


def test_thresholds() -> None:
    assert paper("conll2010", "LIME", "word_threshold") == 0.2
    assert paper("fce", "Attention heads", "word_threshold") == 0.08
    assert paper("fce", "Rei & Søgaard (2018)", "word_threshold") == 0.5
    assert paper("fce", "RoBERTa", "word_threshold") is None


def test_what_nobody_published() -> None:
    assert paper("own", "LIME", "map") is None
    assert paper("own", "LIME", "word_threshold") is None
    assert paper("fce", "Occlusion", "map") is None
    assert paper("fce", "RoBERTa", "map") is None
    assert paper("fce", "LIME", "iou_f1") is None


def test_others() -> None:
    assert [others("bea2019", row, "word_f1") for row in OTHER_ROWS] == [37.43, 18.36]
    assert others("conll2010", OTHER_ROWS[0], "word_f1") is None
    assert others("fce", OTHER_ROWS[0], "map") is None


def test_the_bar() -> None:
    """What the recipe is measured against: LIME and attention heads, which had word labels, are out of it."""
    found = {
        (corpus, measure): best_without_word_labels(corpus, measure)
        for corpus in CORPORA
        for measure in ("sentence_f1", "word_f1", "map")
    }
    paper_s = "Weighted soft attention in the paper"
    blade = "BLADE, uniCNN + BERT (Schmaltz 2021)"
    assert found == {
        ("fce", "sentence_f1"): (85.62, paper_s),
        ("fce", "word_f1"): (42.48, blade),
        ("fce", "map"): (53.91, paper_s),
        ("bea2019", "sentence_f1"): (83.68, paper_s),
        ("bea2019", "word_f1"): (37.43, blade),
        ("bea2019", "map"): (41.07, paper_s),
        ("conll2010", "sentence_f1"): (87.20, paper_s),
        ("conll2010", "word_f1"): (72.42, "Rei & Søgaard (2018) in the paper"),
        ("conll2010", "map"): (91.18, paper_s),
    }
    assert best_without_word_labels("own", "map") is None
