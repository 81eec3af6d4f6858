"""Languages end to end on made-up sentences: train on sentence labels, find the words."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import AutoModel, BertConfig, PreTrainedTokenizerFast

import zerotag
from zerotag.config import ModelConfig, TrainConfig

# Words between which the cues stand, and the cues.
LANGUAGES = {
    "German": ("standard", "die pumpe größe läuft im wüsten übrigens öl dass motor", "vielleicht möglicherweise"),
    "Czech": ("standard", "čerpadlo běží žlutý kůň řeka město dům večer", "možná snad"),
    "Italian": ("standard", "la pompa funziona città perché più l'acqua sera", "forse probabilmente"),
    "Swedish": ("standard", "pumpen går över ån på kvällen motorn är här", "kanske möjligen"),
    "Chinese": ("jieba", "机器 工作 今天 下雨 城市 北京 我们 看见", "也许 可能"),
    "Japanese": ("fugashi", "東京 機械 今日 雨 水 山 川 車", "多分"),
    "Thai": ("pythainlp", "ประเทศ วันนี้ ฝน เครื่อง น้ำ เมือง บ้าน เรา", "อาจจะ"),
}
_SPACELESS = ("jieba", "fugashi", "pythainlp")


def encoder(folder: Path, words: list[str]) -> Path:
    """A tiny encoder that knows the words and their characters."""
    characters = sorted({character for word in words for character in word})
    known = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *sorted({*words, *characters}),
        *(f"##{c}" for c in characters),
    ]
    raw = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(dict.fromkeys(known))}, unk_token="[UNK]"))
    raw.normalizer = normalizers.NFC()
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    torch.manual_seed(0)
    shape = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_attention_heads=4, intermediate_size=64, num_hidden_layers=2,
        max_position_embeddings=128,
    )  # fmt: skip
    AutoModel.from_config(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_end_to_end(language: str, tmp_path: Path) -> None:
    segmenter, others, cues = LANGUAGES[language]
    if segmenter in _SPACELESS:
        pytest.importorskip(segmenter)
    joint = "" if segmenter in _SPACELESS else " "
    draw = random.Random(0)
    texts, labels = [], []
    for number in range(120):
        words = draw.choices(others.split(), k=5)
        if number % 2:
            words[draw.randrange(5)] = draw.choice(cues.split())
        texts.append(joint.join(words))
        labels.append(bool(number % 2))
    labeller = zerotag.train(
        texts,
        labels,
        label="hedge",
        segmenter=segmenter,
        model=ModelConfig(encoder=str(encoder(tmp_path / "encoder", f"{others} {cues}".split())), depth=1),
        training=TrainConfig(teacher_epochs=0, epochs=6, batch_size=8, learning_rate=5e-3),
        progress=False,
    )
    labeller.save_pretrained(tmp_path / "model")
    again = zerotag.load(tmp_path / "model")
    found = again.label(texts)
    assert all(one.text == text for one, text in zip(found, texts, strict=True))
    right = sum(bool(one.labels) == label for one, label in zip(found, labels, strict=True))
    assert right >= 0.9 * len(texts)
    best = [max(one.words, key=lambda word: word.score) for one, label in zip(found, labels, strict=True) if label]
    in_cue = sum(any(word.text in cue or cue in word.text for cue in cues.split()) for word in best)
    assert in_cue >= 0.8 * len(best)
