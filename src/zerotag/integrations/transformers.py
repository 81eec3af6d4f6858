"""Model folders for transformers: importing this module makes `transformers.pipeline` understand them.

    import zerotag.integrations.transformers
    pipe = transformers.pipeline("token-classification", "path/to/model", aggregation_strategy="simple")

It registers an architecture with the Auto classes. `import zerotag` alone cannot: to register anything, transformers
has to be imported first, which takes seconds. Folders never bring code along (`auto_map`); all of it is here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import TokenClassifierOutput

from zerotag.labeller import WordLabeller
from zerotag.modeling.model_loading import MODEL_TYPE
from zerotag.modeling.network import Network

NO_LABEL = "O"
_SPACES = ("Ġ", "▁")  # as byte-level and unigram tokenizers write the space before a word
_EDGE = 1e-6  # of logits that would be infinite: thresholds of 0 and 1


class ZerotagConfig(PreTrainedConfig):
    """What config.json says; labels and thresholds come with the weights, from zerotag.json."""

    model_type = MODEL_TYPE


class ZerotagForTokenClassification(PreTrainedModel):
    """A word labeller that gives one of its labels, or `O` for none, to each sub-word.

    The words that it labels are those that `zerotag.load(...).label` labels: logits are moved so that a label is as
    probable as `O` at its threshold. Where a word has several labels, the one furthest above its threshold is given.
    """

    config_class = ZerotagConfig
    threshold_logits: Tensor
    begins_word: Tensor
    is_special: Tensor
    base_model_prefix = "network"

    def __init__(self, config: ZerotagConfig, labeller: WordLabeller) -> None:
        super().__init__(config)
        thresholds = torch.tensor([rule.word_threshold for rule in labeller.rules])
        self.network: Network = labeller.network
        self.window = labeller.manifest.model.window
        self.register_buffer("threshold_logits", torch.logit(thresholds, eps=_EDGE))
        self.register_buffer("begins_word", _begin_words(labeller.tokenizer))
        special = set(labeller.tokenizer.all_special_ids)
        self.register_buffer("is_special", torch.tensor([number in special for number in range(len(self.begins_word))]))

    @classmethod
    def from_pretrained(  # type: ignore[override]  # options of weights that are read elsewhere
        cls, name_or_folder: str | Path, *_: Any, **options: Any
    ) -> Self:
        """Load a model folder, or one from the hub by its name, with all checks of `zerotag.load`."""
        labeller = WordLabeller.from_pretrained(name_or_folder, device="cpu")
        if not labeller.manifest.model.scores_words:
            raise ValueError(f"{name_or_folder} is a plain sentence classifier (head cls) and does not score words")
        names = [NO_LABEL, *labeller.label_names]
        config = options.get("config") or ZerotagConfig()
        config.id2label = dict(enumerate(names))
        config.label2id = {name: number for number, name in enumerate(names)}
        config.architectures = [cls.__name__]
        config.name_or_path = str(name_or_folder)
        model = cls(config, labeller)
        model.eval()  # type: ignore[no-untyped-call]
        return model

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: Any) -> TokenClassifierOutput:
        """Logits (S, T, 1 + labels), of which the first, of no label, is 0."""
        if input_ids.shape[1] > self.window:
            raise ValueError(
                f"the text has {input_ids.shape[1]:,} sub-words, and this model reads {self.window} at once in "
                f"transformers: zerotag.load({self.config.name_or_path!r}).label(text) takes texts of any length"
            )
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        encoded = self.network.encoder(input_ids=input_ids, attention_mask=mask).last_hidden_state
        logits = self.network.head(encoded.float(), mask.bool()).token_logits
        logits = self._same_within_words(logits - self.threshold_logits, input_ids)
        return TokenClassifierOutput(logits=nn.functional.pad(logits, (1, 0)))  # type: ignore[arg-type]

    def _same_within_words(self, logits: Tensor, input_ids: Tensor) -> Tensor:
        """The highest logits of its sub-words for each word: (S, T, K)."""
        begins = self.begins_word[input_ids]
        begins[:, 1:] |= self.is_special[input_ids[:, :-1]]  # no space stands before the first word of a text
        word = begins.cumsum(dim=1).unsqueeze(-1).expand_as(logits)
        highest = logits.new_full((logits.shape[0], logits.shape[1] + 1, logits.shape[2]), -torch.inf)
        return highest.scatter_reduce(1, word, logits, "amax").gather(1, word)


def _begin_words(tokenizer: Any) -> Tensor:
    """Which sub-words do not go on with the word before them, by the ways that tokenizers write it."""
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    prefix = getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None)
    if prefix:
        return torch.tensor([not piece.startswith(prefix) for piece in pieces])
    return torch.tensor([piece[:1] in _SPACES or not piece[:1].isalnum() for piece in pieces])


AutoConfig.register(MODEL_TYPE, ZerotagConfig, exist_ok=True)
AutoTokenizer.register(ZerotagConfig, fast_tokenizer_class=PreTrainedTokenizerFast, exist_ok=True)
AutoModelForTokenClassification.register(ZerotagConfig, ZerotagForTokenClassification, exist_ok=True)
