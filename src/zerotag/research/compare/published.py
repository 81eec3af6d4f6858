"""Numbers that others published, in percent as printed, to stand beside ours."""

from __future__ import annotations

from collections.abc import Mapping

CORPUS_TITLES = {
    "fce": "FCE",
    "bea2019": "BEA 2019",
    "conll2010": "CoNLL 2010",
    "toxic": "Toxic posts",
    "sst": "SST",
    "movies": "Movies",
}

PAPER = "Bujel, Yannakoudakis & Rei (2021)"
CLASSIFIER = "RoBERTa"
HEADS = "Attention heads"
BILSTM = "Rei & Søgaard (2018)"

_SENTENCES = ("sentence_f1", "sentence_precision", "sentence_recall")
_WORDS = ("word_precision", "word_recall", "word_f1", "map")

# The appendix "Full test set results" of the paper; the main table has the same F1 and MAP.
_PAPER_SENTENCES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "fce": {
        CLASSIFIER: (84.51, 84.25, 84.93),
        BILSTM: (84.75,),
        "LIME": (84.51, 84.25, 84.93),
        HEADS: (84.51, 84.25, 84.93),
        "Soft attention": (85.62, 86.92, 84.42),
        "Weighted soft attention": (85.62, 86.88, 84.45),
    },
    "bea2019": {
        CLASSIFIER: (83.66, 82.29, 85.15),
        BILSTM: (81.27,),
        "LIME": (83.66, 82.29, 85.15),
        HEADS: (83.66, 82.29, 85.15),
        "Soft attention": (83.41, 81.47, 85.54),
        "Weighted soft attention": (83.68, 79.95, 87.91),
    },
    "conll2010": {
        CLASSIFIER: (86.66, 84.90, 88.63),
        BILSTM: (84.16,),
        "LIME": (86.66, 84.90, 88.63),
        HEADS: (86.66, 84.90, 88.63),
        "Soft attention": (86.25, 85.75, 86.89),
        "Weighted soft attention": (87.20, 89.17, 85.37),
    },
}
_PAPER_WORDS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "fce": {
        "Random baseline": (15.11, 49.81, 23.19, 33.95),
        BILSTM: (29.16, 29.04, 28.73, 48.56),
        "LIME": (19.06, 34.70, 24.60, 37.90),
        HEADS: (26.67, 22.38, 24.34, 48.04),
        "Soft attention": (19.84, 85.38, 32.16, 48.90),
        "Weighted soft attention": (20.76, 85.36, 33.31, 53.91),
    },
    "bea2019": {
        "Random baseline": (10.05, 50.00, 16.73, 27.01),
        BILSTM: (10.93, 61.63, 18.53, 31.69),
        "LIME": (13.49, 1.13, 2.09, 31.41),
        HEADS: (18.48, 21.07, 19.69, 40.55),
        "Soft attention": (13.20, 87.19, 22.92, 35.79),
        "Weighted soft attention": (14.20, 85.49, 24.35, 41.07),
    },
    "conll2010": {
        "Random baseline": (0.83, 49.70, 1.63, 14.15),
        BILSTM: (78.99, 67.06, 72.42, 87.82),
        "LIME": (63.25, 52.11, 57.14, 78.44),
        HEADS: (22.33, 30.11, 25.64, 79.82),
        "Soft attention": (4.48, 86.14, 8.45, 20.04),
        "Weighted soft attention": (58.80, 78.89, 67.28, 91.18),
    },
}
_PAPER_DEV: Mapping[str, Mapping[str, float]] = {
    "fce": {
        CLASSIFIER: 84.49,
        "LIME": 84.49,
        HEADS: 84.49,
        "Soft attention": 84.82,
        "Weighted soft attention": 85.56,
    },
    "bea2019": {
        CLASSIFIER: 83.65,
        "LIME": 83.65,
        HEADS: 83.65,
        "Soft attention": 83.47,
        "Weighted soft attention": 83.64,
    },
    "conll2010": {
        CLASSIFIER: 91.77,
        "LIME": 91.77,
        HEADS: 91.77,
        "Soft attention": 92.12,
        "Weighted soft attention": 91.82,
    },
}
_PAPER_THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    "fce": {"LIME": 0.001, HEADS: 0.08},
    "bea2019": {"LIME": 0.01, HEADS: 0.08},
    "conll2010": {"LIME": 0.2, HEADS: 0.32},
}
_NATURAL_THRESHOLD = 0.5  # of all methods but the two above

# Schmaltz, Computational Linguistics 47 (2021), and the majority class as published there; sentence labels only.
_OTHERS: Mapping[str, Mapping[str, tuple[float | None, ...]]] = {
    "BLADE, uniCNN + BERT (Schmaltz 2021)": {"fce": (53.17, 35.37, 42.48), "bea2019": (37.26, 37.61, 37.43)},
    "Majority class": {"fce": (None, None, 26.39), "bea2019": (None, None, 18.36)},
}

_BY_WORD_LABELS = ("LIME", HEADS)  # their thresholds, and the head, were chosen by word labels

PAPER_ROWS = tuple(dict.fromkeys((*_PAPER_WORDS["fce"], *_PAPER_SENTENCES["fce"])))
OTHER_ROWS = tuple(_OTHERS)

PAPER_SETTINGS: Mapping[str, str] = {
    "encoder": "roberta-base",
    "epochs": "20",
    "gamma": "0.1",
    "window": "128",
    "batch_size": "16",
    "warmup": "0.1",
    "learning_rate": "2e-05",
    "weight_decay": "0.1",
    "adam_epsilon": "1e-07",
    "dropout": "0.1",
    "attention_size": "100",
    "hidden_size": "300",
}
"""The paper's appendix "Hyperparameters", by the names of our settings."""


def paper(corpus: str, row: str, measure: str) -> float | None:
    """A number of the paper, in percent (a threshold as it is); None where it has none."""
    if measure == "word_threshold" and row in _PAPER_WORDS.get(corpus, {}):
        return _PAPER_THRESHOLDS[corpus].get(row, _NATURAL_THRESHOLD)
    if measure == "dev_sentence_f1":
        return _PAPER_DEV.get(corpus, {}).get(row)
    found = {
        **dict(zip(_SENTENCES, _PAPER_SENTENCES.get(corpus, {}).get(row, ()), strict=False)),
        **dict(zip(_WORDS, _PAPER_WORDS.get(corpus, {}).get(row, ()), strict=False)),
    }
    return found.get(measure)


def used_word_labels(row: str) -> bool:
    """Whether word labels had a say in a row of the paper."""
    return row in _BY_WORD_LABELS


def others(corpus: str, row: str, measure: str) -> float | None:
    """A number that others than the paper published, in percent; None where there is none."""
    return dict(zip(_WORDS, _OTHERS[row].get(corpus, ()), strict=False)).get(measure)


def best_without_word_labels(corpus: str, measure: str) -> tuple[float, str] | None:
    """The highest published number, in percent, for which no word label was used, and whose it is."""
    candidates = [
        *((paper(corpus, row, measure), f"{row} in the paper") for row in PAPER_ROWS if not used_word_labels(row)),
        *((others(corpus, row, measure), row) for row in OTHER_ROWS),
    ]
    published = [(number, whose) for number, whose in candidates if number is not None]
    return max(reversed(published), key=lambda one: one[0], default=None)  # of equals, the later method
