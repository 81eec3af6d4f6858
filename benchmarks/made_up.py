"""Sentences and models for benchmarks: of the lengths and shapes of real ones, with nothing to download."""

from __future__ import annotations

import json
import os
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # torch is imported on use: worker processes import what the main module imports, and need none
    import torch
    from transformers import MPNetConfig, PreTrainedTokenizerBase

    from zerotag.labeller import WordLabeller

ENCODER = "all-mpnet-base-v2"
LAYERS = 12
FCE_WORDS = (2.03, 7.26)  # 1 + gamma: mean and deviation of FCE's training sentences, 15.8 and 10.4 words
POSITIVE_WORDS = 0.15  # as in FCE
CUES = ("perhaps", "may", "possibly", "seems")


def texts(count: int, *, seed: int = 0) -> list[str]:
    """Words of the demo corpus in sentences as long as those of FCE."""
    records = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    words = np.array([word for record in records for word in json.loads(record)["text"].split()])
    random = np.random.default_rng(seed)
    lengths = 1 + random.gamma(*FCE_WORDS, count).astype(int)
    starts = random.integers(0, len(words) - lengths.max(), count)
    return [" ".join(words[start : start + length].tolist()) for start, length in zip(starts, lengths, strict=True)]


def tokenizer_and_shape(*, quick: bool) -> tuple[PreTrainedTokenizerBase, MPNetConfig]:
    """Those of all-mpnet-base-v2 in the folder ZEROTAG_ENCODERS, or made up if it is not there; a tiny one if quick."""
    from transformers import AutoConfig, AutoTokenizer, MPNetConfig

    folder = Path(os.environ.get("ZEROTAG_ENCODERS", "."), ENCODER)
    if folder.is_dir() and not quick:
        return AutoTokenizer.from_pretrained(folder), AutoConfig.from_pretrained(folder)
    tokenizer = _made_up_tokenizer()
    if not quick:
        return tokenizer, MPNetConfig()  # whose defaults are its shape
    tiny = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    return tokenizer, MPNetConfig(vocab_size=len(tokenizer), **tiny)


def _made_up_tokenizer() -> PreTrainedTokenizerBase:
    """A tokenizer of the same kind that knows the frequent words of the demo corpus and spells the others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    counted = Counter(" ".join(texts(20_000)).lower().split())
    known = [word for word, count in counted.most_common(2_000) if word.isalpha()]
    signs = sorted({character for word in counted for character in word})
    pieces = [*special, *dict.fromkeys([*signs, *known, *(f"##{sign}" for sign in signs)])]
    model = models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="<unk>")
    made = Tokenizer(model)
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def encoder_folder(scratch: Path, *, quick: bool) -> Path:
    """A folder that can be trained from: the encoder if its weights are there, else one of its shape, untrained."""
    folder = Path(os.environ.get("ZEROTAG_ENCODERS", "."), ENCODER)
    if not quick and (folder / "model.safetensors").exists():
        return folder
    import torch
    from transformers import MPNetModel

    tokenizer, shape = tokenizer_and_shape(quick=quick)
    torch.manual_seed(0)
    made = scratch / "encoder"
    MPNetModel(shape).save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def labeller(depth: int, device: torch.device, *, quick: bool) -> WordLabeller:
    """A labeller of that shape whose weights are random, which takes the same time."""
    import torch
    from transformers import MPNetModel

    from zerotag.config import ModelConfig, TrainConfig
    from zerotag.io.model_folder import Manifest
    from zerotag.labeller import WordLabeller
    from zerotag.modeling.network import Network
    from zerotag.text.segmentation import split
    from zerotag.types import Rule

    tokenizer, shape = tokenizer_and_shape(quick=quick)
    shape.num_hidden_layers = depth
    torch.manual_seed(0)
    config = ModelConfig(encoder=ENCODER, depth=depth)
    network = Network(MPNetModel(shape, add_pooling_layer=False), 1, config).to(device).eval()
    manifest = Manifest(config, TrainConfig(), ("hedge",), "O", (Rule(),), {}, {})
    made = WordLabeller(network, tokenizer, manifest)
    scores = np.concatenate([scored.word_scores for scored in made.score(map(split, texts(100)))])
    return made.with_rules([Rule(word_threshold=float(np.quantile(scores, 1 - POSITIVE_WORDS)))])
