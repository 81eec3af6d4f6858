from zerotag.evaluation.report import Counts, LabelReport, Measures, Report
from zerotag.evaluation.tables import score_table
from zerotag.render.tables import Table
from zerotag.types import Rule

MEASURES = Measures(0.951, 0.92, 0.9352, 0.5, 0.25, 1 / 3, map=0.6, highest_word_f1=0.4)
COUNTS = Counts(sentences=1200, positive_sentences=300, words=24000, positive_words=410)


def test_one_label() -> None:
    report = Report((LabelReport("hedge", MEASURES, COUNTS, Rule(0.43, 0.5, "dev sentences"), 0.3),), MEASURES)
    assert score_table(report, "Test set") == Table(
        "Test set",
        ("percent", "P", "R", "F1", "MAP"),
        (
            ("hedge: sentences", "95.1", "92.0", "93.5", ""),
            ("hedge: words", "50.0", "25.0", "33.3", "60.0"),
        ),
        "hedge: 300 of 1,200 sentences and 410 of 24,000 words are positive; word threshold 0.43 (dev sentences); "
        "the best one for these words, 0.30, gives F1 40.0",
    )


def test_several_labels_have_an_average_and_unknown_scores_a_dash() -> None:
    unknown = Measures(0.1, None, 0.3)
    labels = (
        LabelReport("hedge", MEASURES, COUNTS, Rule(), 0.3),
        LabelReport("doubt", unknown, Counts(10, 4, 0, 0), Rule()),
    )
    table = score_table(Report(labels, MEASURES), "")
    assert [row[0] for row in table.rows[2:]] == [
        "doubt: sentences",
        "doubt: words",
        "average: sentences",
        "average: words",
    ]
    assert table.rows[2:4] == (
        ("doubt: sentences", "10.0", "–", "30.0", ""),
        ("doubt: words", "–", "–", "–", "–"),
    )
    assert table.note.splitlines()[1] == "doubt: 4 of 10 sentences are positive; no word labels"
