from dataclasses import replace
from pathlib import Path

import pytest

from hand_made import TOML, experiment, record, run_of, write_all
from zerotag.evaluation.significance import Summary
from zerotag.research.compare.cells import p_value, published_number, setting, shown
from zerotag.research.compare.layout import Cell, Row, Table, latex, markdown
from zerotag.research.compare.record import write_record
from zerotag.research.compare.results import load_results, run_path
from zerotag.research.compare.significance import read_significance
from zerotag.research.compare.summary import write_summary
from zerotag.research.compare.tables import all_tables, write_tables


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Table]:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    return {" ".join((one.caption, *one.groups)): one for one in all_tables(results, read_significance(tmp_path))}


def rows(table: Table) -> list[str]:
    return markdown(table).split("\n\n")[1].splitlines()


def test_main_table(tables: dict[str, Table]) -> None:
    assert rows(tables["Results on the test sets FCE own"]) == [
        "|  | FCE Sent F1 | FCE F1 | FCE MAP | own Sent F1 | own F1 | own MAP |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| RoBERTa | 81.00 ± 1.41 | – | – | – | – | – |",
        "| *paper: RoBERTa* | *84.51* | *–* | *–* | *–* | *–* | *–* |",
        "| LIME † (2 test sentences) | 90.00 (n=1) | 90.00 (n=1) | 90.00 (n=1) | – | – | – |",
        "| *paper: LIME †* | *84.51* | *24.60* | *37.90* | *–* | *–* | *–* |",
        "| Soft attention | **82.00 ± 0.00** | 31.00 ± 1.41 | 40.00 ± 0.00 | 50.00 (n=1) | 25.00 (n=1) | 50.00 (n=1) |",
        "| *paper: Soft attention* | *85.62* | *32.16* | *48.90* | *–* | *–* | *–* |",
        "| Weighted soft attention | **82.00 ± 0.00** | **38.00 ± 4.24** | **51.00 ± 1.41** | – | – | – |",
        "| *paper: Weighted soft attention* | *85.62* | *33.31* | *53.91* | *–* | *–* | *–* |",
        "| *BLADE, uniCNN + BERT (Schmaltz 2021)* | *–* | *42.48* | *–* | *–* | *–* | *–* |",
        "| *Majority class* | *–* | *26.39* | *–* | *–* | *–* | *–* |",
        "| *Best published without word labels* | *85.62* | *42.48* | *53.91* | *–* | *–* | *–* |",
    ]


def test_whose_the_best_published_numbers_are(tables: dict[str, Table]) -> None:
    assert tables["Results on the test sets FCE own"].note.endswith(
        "Best published without word labels: FCE Sent F1, FCE MAP by Weighted soft attention in the paper; "
        "FCE F1 by BLADE, uniCNN + BERT (Schmaltz 2021)."
    )


def test_a_method_that_uses_word_labels_is_never_in_bold(tmp_path: Path) -> None:
    hand = experiment(tmp_path, TOML.replace("test_sentences = 2", ""))
    for method, word_f1 in (("LIME", 0.9), ("Soft attention", 0.5), ("Weighted soft attention", 0.6)):
        for seed in (1,) if method == "LIME" else (1, 2):
            run = run_of(hand, "fce", method, seed)
            write_record(run_path(tmp_path, run), record(hand, run, word_f1=word_f1))
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    main = all_tables(results, read_significance(tmp_path))[0]
    assert "| LIME † | – | 90.00 (n=1) |" in markdown(main)
    assert "| Weighted soft attention | – | **60.00 ± 0.00ᵗ** |" in markdown(main)
    assert "† uses word labels" in main.note
    assert "Bold: the highest of our rows without †, where several have the whole test set and all seeds." in main.note
    assert r"\textit{paper: LIME $^\dagger$}" in latex(main)


def tables_of(folder: Path, f1_by_seed: dict[str, tuple[float, ...]]) -> list[Table]:
    hand = experiment(folder)
    for method, f1s in f1_by_seed.items():
        for seed, f1 in enumerate(f1s, start=1):
            run = run_of(hand, "fce", method, seed)
            write_record(run_path(folder, run), record(hand, run, word_f1=f1))
    results = load_results(hand, folder)
    write_summary(results, folder)
    return all_tables(results, read_significance(folder))


@pytest.mark.parametrize(("f1s", "cell"), [((0.6,), "60.00 (n=1)"), ((0.6, 0.6), "**60.00 ± 0.00**")])
def test_a_mean_over_fewer_seeds_does_not_compete(tmp_path: Path, f1s: tuple[float, ...], cell: str) -> None:
    main, *_ = tables_of(tmp_path, {"Soft attention": (0.5, 0.3), "Weighted soft attention": f1s})
    assert f"| Weighted soft attention | – | {cell} |" in markdown(main)
    assert "| Soft attention | – | 40.00 ± 14.14 |" in markdown(main)


def test_without_the_reference_nothing_is_said_of_a_difference_from_it(tmp_path: Path) -> None:
    main, *_, p_values = tables_of(tmp_path, {"Weighted soft attention": (0.5, 0.4)})
    assert "Differs from" not in main.note
    assert "randomisation" not in p_values.note
    assert p_values.caption == "p-values of the difference from the best published"
    assert "paper: Soft attention" not in markdown(main)  # as ours is not there


SUPERVISED = """
[trainings.supervised]
word_labels = true

[[methods]]
name = "Taught"
training = "supervised"

[[methods]]
name = "Tuned"
training = "supervised"
threshold = "dev-word-f1"
"""


def test_every_table_marks_an_upper_line_and_none_has_it_compete(tmp_path: Path) -> None:
    hand = experiment(tmp_path, TOML + SUPERVISED)
    write_all(hand, tmp_path)
    for method in ("Taught", "Tuned"):
        run = run_of(hand, "fce", method, 1)
        write_record(run_path(tmp_path, run), record(hand, run, sentence_f1=0.99, word_f1=0.99, average_precision=0.99))
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    tables = all_tables(results, read_significance(tmp_path))
    names = [row.name for table in tables for row in table.rows if row.name.startswith("T")]
    assert set(names) == {"Taught † (of the training set)", "Tuned † (of the training and development sets)"}
    assert len(names) >= 2 * 8
    main = markdown(tables[0])
    assert "| Taught † (of the training set) | 99.00 (n=1) | 99.00 (n=1) | 99.00 (n=1) | – | – | – |" in main
    assert "| Weighted soft attention | **82.00 ± 0.00** | **38.00 ± 4.24** | **51.00 ± 1.41** |" in main
    assert "† uses word labels, of the development set where it does not say which." in main
    settings = {row.name: [cell.text for cell in row.cells] for table in tables for row in table.rows}
    assert settings["word labels"] == ["–", "no", "no", "no", "no", "yes"]
    assert settings["training sentences"] == ["–", "all", "all", "all", "all", "all"]


def test_significance_marks(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    (tmp_path / "significance.json").write_text(
        """{"p_values": {"fce": {"Weighted soft attention": {
            "word_f1": {"t_test": 0.04, "randomisation": 0.06, "seeds": 2},
            "map": {"t_test": 0.0001, "randomisation": 0.049, "seeds": 2}},
            "LIME": {"map": {"t_test": null, "randomisation": 0.2, "seeds": 1}}}}}"""
    )
    main, *_, p_values = all_tables(load_results(hand, tmp_path), read_significance(tmp_path))
    assert "| **38.00 ± 4.24ᵗ** | **51.00 ± 1.41ᵗʳ** |" in markdown(main)
    assert rows(p_values)[2:4] == [
        "| LIME † (2 test sentences) | – | – | – | – | 0.200 (n=1) | – | – | – | – | – |",
        "| Weighted soft attention | – | 0.040 | 0.060 | <0.001 | 0.049 | – | – | – | – | – |",
    ]


def test_p_values_of_the_difference_from_what_was_published(tables: dict[str, Table]) -> None:
    """By hand: of RoBERTa's sentence F1, 80 and 82, t is (81 - 85.62) / (√2 / √2), and p 1 - 2 atan(4.62) / π."""
    found = [
        row for row in rows(tables["p-values of the difference from Soft attention FCE own"]) if "published" in row
    ]
    assert found == [
        "| RoBERTa, from the best published | 0.136 | – | – | – | – | – | – | – | – | – |",
        "| Soft attention, from the best published | <0.001 | 0.055 | – | <0.001 | – | – | – | – | – | – |",
        "| Weighted soft attention, from the best published | <0.001 | 0.376 | – | 0.211 | – | – | – | – | – | – |",
        "| β = 4, from the best published | <0.001 | <0.001 | – | <0.001 | – | – | – | – | – | – |",
    ]


def test_thresholds(tables: dict[str, Table]) -> None:
    assert rows(tables["Word thresholds, from which on a word is positive FCE own"])[2:] == [
        "| LIME † (2 test sentences) | 0.013 (n=1) | – |",
        "| *paper: LIME †* | *0.001* | *–* |",
        "| Soft attention | 0.500 | 0.500 (n=1) |",
        "| *paper: Soft attention* | *0.500* | *–* |",
        "| Weighted soft attention | 0.500 | – |",
        "| *paper: Weighted soft attention* | *0.500* | *–* |",
    ]


def test_sweep(tables: dict[str, Table]) -> None:
    assert rows(tables["Soft attention by its sharpness β FCE own"])[2:] == [
        "| β = 1 | **80.00 ± 0.00** | 82.00 ± 0.00 | 31.00 ± 1.41 | 40.00 ± 0.00 "
        "| 80.00 (n=1) | 50.00 (n=1) | 25.00 (n=1) | 50.00 (n=1) |",
        "| β = 2 | **80.00 ± 0.00** | 82.00 ± 0.00 | **38.00 ± 4.24** | 51.00 ± 1.41 | – | – | – | – |",
        "| β = 4 | **80.00 ± 0.00** | **83.00 ± 0.00ᵗ** | 36.00 ± 0.00 | **52.00 ± 0.00ᵗ** | – | – | – | – |",
    ]


def test_cost(tables: dict[str, Table]) -> None:
    table = tables["Cost: training, and scoring test sentences FCE own"]
    assert rows(table)[2] == "| RoBERTa | 2.0 | 1.5 | 1.50 | 1,000 | – | – | – | – |"
    assert table.note.startswith("Times are means over the runs on the device that most runs of the cell were made on")
    assert ": abacus. Processes that shared it: 2. Passes are" in table.note


def test_times_of_another_device_are_marked(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    for seed in (1, 2):
        run = run_of(hand, "fce", "RoBERTa", seed)
        made = record(hand, run, sentence_f1=0.8)
        write_record(
            run_path(tmp_path, run), replace(made, made={**made.made, "device": "slide rule", "side_by_side": 1})
        )
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    (cost,) = (one for one in all_tables(results, read_significance(tmp_path)) if one.caption.startswith("Cost"))
    assert rows(cost)[2] == "| RoBERTa | 2.0 | 1.5‡ | 1.50‡ | 1,000 | – | – | – | – |"
    assert sum("‡" in row for row in rows(cost)) == 1
    assert ": abacus; ‡ slide rule. Processes that shared it: 1, 2, which is not the same for all cells" in cost.note


def test_settings(tables: dict[str, Table]) -> None:
    found = {row.name: [cell.text for cell in row.cells] for row in tables["Settings of the trainings "].rows}
    assert tables["Settings of the trainings "].columns == ("paper", "cls", "sa", "w-sa", "beta-4")
    assert found["beta"] == ["–", "–", "1", "2", "4"]  # the classifier has the default, and no use for it
    assert found["learning rate"] == ["2e-05", "–", "–", "–", "–"]
    assert "seed" not in found


def test_a_table_for_each_corpus(tables: dict[str, Table]) -> None:
    assert rows(tables["Sentences of the test set FCE"])[0] == "|  | Sent F1 | Sent P | Sent R |"
    assert "| *paper: Soft attention* | *19.84* | *85.38* | *32.16* | *–* | *48.90* |" in rows(
        tables["Words of the test set FCE"]
    )


def test_files(tmp_path: Path) -> None:
    hand = experiment(tmp_path)
    write_all(hand, tmp_path)
    results = load_results(hand, tmp_path)
    write_summary(results, tmp_path)
    write_tables(results, tmp_path)
    assert (tmp_path / "tables.md").read_text(encoding="utf-8").startswith("**Results on the test sets**\n")
    assert (tmp_path / "tables.tex").read_text(encoding="utf-8").count(r"\begin{tabular}") == len(
        all_tables(results, read_significance(tmp_path))
    )


def test_markdown_with_one_group() -> None:
    table = Table("Words", ("FCE",), ("P|R", "F1"), (Row("a|b", (Cell("1|2"), Cell("–")), quoted=True),), "Note.")
    assert markdown(table) == (
        "**Words, FCE**\n\n|  | P\\|R | F1 |\n| --- | ---: | ---: |\n| *a\\|b* | *1\\|2* | *–* |\n\nNote.\n"
    )


def test_latex() -> None:
    table = Table(
        "Results_1",
        ("FCE", "BEA"),
        ("Sent F1", "MAP"),
        (
            Row("Soft & hard †", (Cell("1.00 ± 0.50ᵗ", 1.0), Cell("–"), Cell("3"), Cell("4"))),
            Row("Worse", (Cell("0", 0.0), Cell("–"), Cell("3"), Cell("4"))),
            Row("Rei & Søgaard", (Cell("1"), Cell("2"), Cell("<0.001"), Cell("4%")), quoted=True),
        ),
        "β = 2",
    )
    assert latex(table) == (
        "\\begin{table*}[t]\n"
        "\\small\n"
        "\\centering\n"
        "\\setlength{\\tabcolsep}{3pt}\n"
        "\\begin{tabular}{r|cc|cc}\n"
        "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{FCE} & \\multicolumn{2}{c}{BEA} \\\\\n"
        " & Sent $F_1$ & MAP & Sent $F_1$ & MAP \\\\\n"
        "\\hline\n"
        "Soft \\& hard $^\\dagger$ & \\textbf{1.00 $\\pm$ 0.50$^{t}$} & -- & 3 & 4 \\\\\n"
        "Worse & 0 & -- & 3 & 4 \\\\\n"
        "\\textit{Rei \\& S{\\o}gaard} & \\textit{1} & \\textit{2} & \\textit{$<$0.001} & \\textit{4\\%} \\\\\n"
        "\\end{tabular}\n"
        "\\caption{Results\\_1. $\\beta$ = 2}\n"
        "\\end{table*}\n"
    )


def test_cells() -> None:
    assert shown("map", Summary(0.12345, None, 1)) == "12.35"
    assert [shown("word_threshold", Summary(x, None, 1)) for x in (0.5, 0.0005, -0.00012345, 0.0)] == [
        "0.500",
        "0.001",
        "-0.00012",
        "0.000",
    ]
    assert shown("map", Summary(0.5, 0.01, 2)) == "50.00 ± 1.00"
    assert shown("passes_per_1000", Summary(4999.6, 1.0, 2)) == "5,000"
    assert shown("training_seconds", Summary(90, 1.0, 2)) == "1.5"
    assert (published_number("map", 5), published_number("word_threshold", 0.2)) == ("5.00", "0.200")
    assert (p_value(None), p_value(0.0009), p_value(0.05)) == ("–", "<0.001", "0.050")
    assert (setting(1e-7), setting(12), setting(None), setting("cls")) == ("1e-07", "12", "–", "cls")
    assert (setting(True), setting(False), setting(1)) == ("yes", "no", "1")
