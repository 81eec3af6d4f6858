"""Tiny encoders of every family, built from scratch: no download, no pre-trained weights, milliseconds to run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModel,
    BertConfig,
    DebertaV2Config,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    MPNetConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

from zerotag.config import ModelConfig, TrainConfig
from zerotag.io.model_folder import Manifest
from zerotag.labeller import WordLabeller
from zerotag.modeling.network import Network
from zerotag.types import Corpus, Example, Rule, Sentence

FAMILIES = ("bert", "roberta", "distilbert", "mpnet", "electra", "deberta-v2", "modernbert")
WIDTH = 32
LAYERS = 4
POSITIONS = 64

_SUBJECTS = [
    ["the", "pump"],
    ["a", "valve"],
    ["our", "engine"],
    ["her", "report"],
    ["this", "signal"],
    ["one", "motor"],
]
_VERBS = ["fails", "leaks", "stops", "works", "runs", "holds", "breaks", "moves"]
_PLACES = [["in", "winter"], ["at", "night"], ["under", "load"], ["without", "warning"], ["after", "rain"]]
CUES = ("may", "perhaps", "possibly")


def sentences(count: int, *, cues: tuple[str, ...] = CUES) -> list[tuple[list[str], list[bool]]]:
    """Made-up sentences and, for tests of evaluation, which of their words are cues; every second one has one."""
    made = []
    for i in range(count):
        cue = [cues[(i // 2) % len(cues)]] if i % 2 else []
        words = [*_SUBJECTS[i % 6], *cue, _VERBS[i * 3 % 8], *_PLACES[i * 7 % 5], "."]
        made.append((words, [word in cues for word in words]))
    return made


def corpus(count: int = 40) -> Corpus[Example]:
    """A training corpus in which a cue word makes a sentence positive."""
    examples = tuple(Example(Sentence.from_words(words), (any(flags),)) for words, flags in sentences(count))
    return Corpus(("hedge",), examples)


def tokenizer(family: str = "bert") -> PreTrainedTokenizerFast:
    """A tokenizer of the family's kind that knows short words whole and long ones by their halves.

    Its sub-words are written down rather than trained: two trainings of WordPiece do not end alike.
    """
    if family in ("roberta", "modernbert"):
        raw = _byte_level()
    elif family == "deberta-v2":
        raw = _unigram()
    else:
        raw = _wordpiece()
    raw.add_special_tokens(_SPECIAL)
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WORDS = sorted({word for words, _ in sentences(240) for word in words})
SHORT = [word for word in _WORDS if len(word) <= 5]
_HALVES = [(word[: len(word) // 2], word[len(word) // 2 :]) for word in _WORDS if len(word) > 5]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _wordpiece() -> Tokenizer:
    inner = [*_LETTERS, *(end for _, end in _HALVES)]
    known = [*_SPECIAL, *_LETTERS, *SHORT, *(start for start, _ in _HALVES), *(f"##{piece}" for piece in inner)]
    raw = Tokenizer(models.WordPiece(_numbered(known), unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer(lowercase=True)
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return raw


def _byte_level() -> Tokenizer:
    pieces = [*(f"Ġ{word}" for word in SHORT), *(f"Ġ{start}" for start, _ in _HALVES), *(end for _, end in _HALVES)]
    merges = [(piece[:i], piece[i]) for piece in pieces for i in range(1, len(piece))]
    known = [*_SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(start + end for start, end in merges)]
    raw = Tokenizer(models.BPE(_numbered(known), list(dict.fromkeys(merges))))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    return raw


def _unigram() -> Tokenizer:
    pieces = [*(f"▁{word}" for word in SHORT), *(f"▁{start}" for start, _ in _HALVES), *(end for _, end in _HALVES)]
    scores = {
        **dict.fromkeys(_SPECIAL, 0.0),
        **dict.fromkeys(["▁", *_LETTERS, "."], -8.0),
        **dict.fromkeys(pieces, -3.0),
    }
    raw = Tokenizer(models.Unigram(list(scores.items()), unk_id=_SPECIAL.index("[UNK]")))
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    return raw


def _numbered(pieces: Iterable[str]) -> dict[str, int]:
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def shape(family: str, vocabulary: int) -> PreTrainedConfig:
    """The configuration of a tiny encoder."""
    if family == "distilbert":
        return DistilBertConfig(
            vocab_size=vocabulary,
            dim=WIDTH,
            n_heads=4,
            hidden_dim=64,
            n_layers=LAYERS,
            max_position_embeddings=POSITIONS,
        )
    kinds = {
        "bert": BertConfig,
        "roberta": RobertaConfig,
        "mpnet": MPNetConfig,
        "electra": ElectraConfig,
        "deberta-v2": DebertaV2Config,
        "modernbert": ModernBertConfig,
    }
    config: PreTrainedConfig = kinds[family](
        vocab_size=vocabulary,
        hidden_size=WIDTH,
        num_attention_heads=4,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        max_position_embeddings=POSITIONS,
        pad_token_id=0,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
    )
    if family == "electra":
        config.embedding_size = WIDTH
    if family == "deberta-v2":  # as in the published models: positions count only relative to one another
        config.relative_attention = True
        config.pos_att_type = ["p2c", "c2p"]
        config.position_biased_input = False
        config.position_buckets = 16
        config.norm_rel_ebd = "layer_norm"
        config.share_att_key = True
    return config


def encoder_folder(folder: Path, family: str = "bert") -> Path:
    """A folder with a tiny encoder and its tokenizer, as people have them on disk."""
    its_tokenizer = tokenizer(family)
    torch.manual_seed(0)
    AutoModel.from_config(shape(family, len(its_tokenizer))).save_pretrained(folder)
    its_tokenizer.save_pretrained(folder)
    return folder


def labeller(
    family: str = "bert", *, labels: tuple[str, ...] = ("hedge",), config: ModelConfig | None = None
) -> WordLabeller:
    """An untrained labeller on a tiny encoder: its scores mean nothing, but they are scores."""
    config = config or ModelConfig(encoder="tiny", depth=2, window=POSITIONS // 2)
    its_tokenizer = tokenizer(family)
    torch.manual_seed(0)
    its_shape = shape(family, len(its_tokenizer))
    its_shape.num_hidden_layers = config.depth or LAYERS
    network = Network(AutoModel.from_config(its_shape), len(labels), config).eval()
    manifest = Manifest(
        model=config,
        training=TrainConfig(),
        label_names=labels,
        negative="O",
        rules=tuple(Rule() for _ in labels),
        scores={},
        sentences={},
    )
    return WordLabeller(network, its_tokenizer, manifest)
