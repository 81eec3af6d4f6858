"""The word labeller as people use it: label texts, look at words and spans, save, load, share."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from zerotag.errors import ZerotagError
from zerotag.explain.native import NativeScorer
from zerotag.inference.predictor import Predictor
from zerotag.io.model_folder import DAMAGED, WEIGHTS, Manifest, read_manifest, write_folder
from zerotag.text.alignment import Aligner
from zerotag.text.segmentation import split
from zerotag.types import Labelled, Rule, Scored, Sentence, decide

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

    from zerotag.modeling.network import Network

# Torch and the hub are imported on use: a model that was exported to ONNX needs neither.

Text = str | Sequence[str] | Sentence


class Labeller:
    """Labels texts by a network, whatever runs it, and has all that is known of the model."""

    def __init__(self, predictor: Predictor, aligner: Aligner, manifest: Manifest) -> None:
        self.predictor = predictor
        self.aligner = aligner
        self.manifest = manifest

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels it knows."""
        return self.manifest.label_names

    @property
    def rules(self) -> tuple[Rule, ...]:
        """How scores become decisions, one rule per label."""
        return self.manifest.rules

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """The same labeller with other decision rules."""
        other = copy.copy(self)
        other.manifest = replace(self.manifest, rules=tuple(rules))
        return other

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
        return NativeScorer(self.predictor, self.aligner).score(sentences)


class WordLabeller(Labeller):
    """A trained network in torch with its tokenizer."""

    def __init__(self, network: Network, tokenizer: PreTrainedTokenizerBase, manifest: Manifest) -> None:
        from zerotag.inference.torch_predictor import TorchPredictor
        from zerotag.modeling.encoders import aligner_for

        super().__init__(TorchPredictor(network), aligner_for(manifest.model, tokenizer), manifest)
        self.network = network
        self.tokenizer = tokenizer

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write everything that `load` needs into a folder."""
        from safetensors.torch import save_file

        def write_files(folder: Path) -> None:
            save_file(self.network.state_dict(), folder / WEIGHTS, metadata={"format": "pt"})
            self.network.encoder.config.save_pretrained(folder)
            try:
                self.tokenizer.save_pretrained(folder)
            except Exception as error:  # tokenizers has no better name for a full disk
                raise OSError(str(error)) from error

        write_folder(Path(save_directory), self.manifest, write_files)

    @classmethod
    def from_pretrained(cls, name_or_folder: str | Path, *, device: str | torch.device | None = None) -> WordLabeller:
        """Load a model folder, or one from the Hugging Face hub by its name."""
        folder = located(name_or_folder)
        manifest = read_manifest(folder)
        if manifest.export is not None:
            raise ZerotagError(
                f"{folder} was exported for ONNX Runtime and cannot run in torch: use zerotag.load, "
                "or the model folder it was exported from"
            )
        return cls._read(folder, manifest, device)

    @classmethod
    def _read(cls, folder: Path, manifest: Manifest, device: str | torch.device | None) -> WordLabeller:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
        from transformers import AutoTokenizer

        from zerotag.inference.torch_predictor import best_device, usable_device
        from zerotag.modeling.encoders import empty_encoder, encoder_config
        from zerotag.modeling.network import Network

        place = best_device() if device is None else usable_device(device)
        try:
            network = Network(empty_encoder(encoder_config(folder)), len(manifest.label_names), manifest.model)
            network.load_state_dict(load_file(folder / WEIGHTS))
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            reason = " ".join(str(error).split())[:160]
            raise ZerotagError(f"{folder} cannot be loaded ({reason}): {DAMAGED}") from error
        return cls(network.to(place).eval(), tokenizer, manifest)

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the model to the Hugging Face hub; returns its address."""
        from huggingface_hub import HfApi

        api = HfApi(token=token)
        address = api.create_repo(repo_id, private=private, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "model")
            self.save_pretrained(folder)
            api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message="Upload a zerotag word labeller")
        return str(address)


def load(name_or_folder: str | Path, *, device: str | torch.device | None = None) -> Labeller:
    """Load a labeller from a folder, or from the Hugging Face hub by its name.

    What `zerotag train` wrote comes as a `WordLabeller`; what `zerotag export` wrote runs without torch.
    """
    folder = located(name_or_folder)
    manifest = read_manifest(folder)
    if manifest.export is None:
        return WordLabeller._read(folder, manifest, device)
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise ZerotagError(f"{folder} was exported for ONNX Runtime, which runs it on the processor, not on {device}")
    from zerotag.inference.onnx_predictor import read_exported

    predictor, aligner = read_exported(folder, manifest)
    return Labeller(predictor, aligner, manifest)


def as_sentence(text: Text) -> Sentence:
    """A string is split into words, a list of words is kept as it is."""
    if isinstance(text, Sentence):
        return text
    return split(text) if isinstance(text, str) else Sentence.from_words(text)


def located(name_or_folder: str | Path) -> Path:
    """The folder itself, or where a model of the Hugging Face hub is once it is fetched."""
    folder = Path(name_or_folder)
    if folder.exists() or str(name_or_folder).count("/") != 1:
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name_or_folder)))
    except (OSError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ZerotagError(
            f"{str(name_or_folder)!r} is neither a folder nor a model that could be fetched from the hub ({reason})"
        ) from error
