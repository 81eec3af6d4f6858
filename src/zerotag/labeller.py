"""The word labeller as people use it: label texts, look at words and spans, save, load, share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from huggingface_hub import HfApi, snapshot_download
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from zerotag.encoders import aligner_for, empty_encoder, encoder_config
from zerotag.errors import ZerotagError
from zerotag.inference import best_device
from zerotag.model import Network
from zerotag.scorers.native import NativeScorer
from zerotag.storage import DAMAGED, WEIGHTS, Manifest, read_manifest, write_folder
from zerotag.types import Labelled, Rule, Scored, Sentence, decide
from zerotag.words import split

Text = str | Sequence[str] | Sentence


class WordLabeller:
    """A trained network with its tokenizer and all that is known of it."""

    def __init__(self, network: Network, tokenizer: PreTrainedTokenizerBase, manifest: Manifest) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.manifest = manifest
        self.aligner = aligner_for(manifest.model, tokenizer)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels it knows."""
        return self.manifest.label_names

    @property
    def rules(self) -> tuple[Rule, ...]:
        """How scores become decisions, one rule per label."""
        return self.manifest.rules

    def with_rules(self, rules: Sequence[Rule]) -> WordLabeller:
        """The same labeller with other decision rules."""
        return WordLabeller(self.network, self.tokenizer, replace(self.manifest, rules=tuple(rules)))

    def label(self, texts: Iterable[Text]) -> list[Labelled]:
        """Label texts; each is a string, a list of words that are already split, or a Sentence."""
        if isinstance(texts, str):
            raise TypeError("label() takes a list of texts; for a single one write label([text])[0]")
        return list(self.stream(map(as_sentence, texts)))

    def stream(self, sentences: Iterable[Sentence]) -> Iterator[Labelled]:
        """Label any number of sentences in their order, in bounded memory."""
        for scored in self.score(sentences):
            yield decide(scored, self.label_names, self.rules)

    def score(self, sentences: Iterable[Sentence]) -> Iterator[Scored]:
        """Scores without decisions."""
        return NativeScorer(self.network, self.aligner).score(sentences)

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write everything that `load` needs into a folder."""

        def write_files(folder: Path) -> None:
            save_file(self.network.state_dict(), folder / WEIGHTS, metadata={"format": "pt"})
            self.network.encoder.config.save_pretrained(folder)
            try:
                self.tokenizer.save_pretrained(folder)
            except Exception as error:  # tokenizers has no better name for a full disk
                raise OSError(str(error)) from error

        write_folder(Path(save_directory), self.manifest, write_files)

    @classmethod
    def from_pretrained(cls, name_or_folder: str | Path, *, device: torch.device | None = None) -> WordLabeller:
        """Load a model folder, or one from the Hugging Face hub by its name."""
        folder = Path(name_or_folder)
        if not folder.exists() and str(name_or_folder).count("/") == 1:
            folder = _download(str(name_or_folder))
        manifest = read_manifest(folder)
        try:
            network = Network(empty_encoder(encoder_config(folder)), len(manifest.label_names), manifest.model)
            network.load_state_dict(load_file(folder / WEIGHTS))
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())[:160]
            raise ZerotagError(f"{folder} cannot be loaded ({reason}): {DAMAGED}") from error
        return cls(network.to(device or best_device()).eval(), tokenizer, manifest)

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the model to the Hugging Face hub; returns its address."""
        api = HfApi(token=token)
        address = api.create_repo(repo_id, private=private, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "model")
            self.save_pretrained(folder)
            api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message="Upload a zerotag word labeller")
        return str(address)


def load(name_or_folder: str | Path, *, device: torch.device | None = None) -> WordLabeller:
    """Load a word labeller from a folder, or from the Hugging Face hub by its name."""
    return WordLabeller.from_pretrained(name_or_folder, device=device)


def as_sentence(text: Text) -> Sentence:
    """A string is split into words, a list of words is kept as it is."""
    if isinstance(text, Sentence):
        return text
    return split(text) if isinstance(text, str) else Sentence.from_words(text)


def _download(name: str) -> Path:
    try:
        return Path(snapshot_download(name))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ZerotagError(
            f"{name!r} is neither a folder nor a model that could be fetched from the hub ({reason})"
        ) from error
