"""The word labeller as people use it: it labels texts, learns from corrections, and is saved, loaded and shared."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerotag.errors import ZerotagError
from zerotag.io.corrections import as_corrected
from zerotag.io.hub import located, upload
from zerotag.io.integrity import WEIGHTS
from zerotag.io.model_folder import Manifest, read_manifest, write_folder
from zerotag.labelling import Labeller
from zerotag.registry import Registry
from zerotag.render.model_card import write_model_card
from zerotag.types import Corpus, CorrectedExample, Example

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

    from zerotag.modeling.network import Network

__all__ = ["LEARNERS", "Labeller", "WordLabeller", "load"]

# Torch is imported on use: a model that was exported to ONNX needs none.

Learn = Callable[["WordLabeller", Sequence[CorrectedExample], Corpus[Example] | None], "WordLabeller"]
"""Makes the labeller that has learnt from labelled words and, where there are some, sentences with sentence labels."""

LEARNERS: Registry[Learn] = Registry("learner", {"few-words": "zerotag.training.few_labels:update"})


class WordLabeller(Labeller):
    """A trained network in torch with its tokenizer."""

    is_in_torch = True

    def __init__(self, network: Network, tokenizer: PreTrainedTokenizerBase, manifest: Manifest) -> None:
        from zerotag.inference.torch_predictor import TorchPredictor
        from zerotag.modeling.encoders import aligner_for

        super().__init__(TorchPredictor(network), aligner_for(manifest.model, tokenizer), manifest)
        self.network = network
        self.tokenizer = tokenizer

    def update(self, examples: Any, sentences: Corpus[Example] | None = None) -> WordLabeller:
        """A labeller that has learnt from sentences whose words are labelled. This one stays as it is.

        Args:
            examples: what `tune` takes.
            sentences: sentences with sentence labels, as `zerotag.read` returns them, to go on learning from as well.
                By default the word scorer's last layer alone learns, which takes seconds.

        Returns:
            A labeller, which says that it has seen word labels and of how many sentences.

        Raises:
            ZerotagError: a file cannot be read, or there is no positive word among these.
            TypeError: the examples are of another kind.

        Examples:
            >>> labeller = labeller.update("corrected.jsonl")  # doctest: +SKIP
        """
        learn = LEARNERS.get("few-words")
        return learn(self, as_corrected(examples, label_names=self.label_names), sentences)

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write everything that `load` needs into a folder."""
        from safetensors.torch import save_file

        from zerotag.modeling.model_loading import write_shape

        def write_files(folder: Path) -> None:
            save_file(self.network.state_dict(), folder / WEIGHTS, metadata={"format": "pt"})
            write_shape(self.network.encoder.config, folder)
            try:
                self.tokenizer.save_pretrained(folder)
            except Exception as error:  # tokenizers has no better name for a full disk
                raise OSError(str(error)) from error

        write_folder(Path(save_directory), self.manifest, write_files, write_model_card)

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
        from zerotag.inference.devices import best_device, usable_device
        from zerotag.modeling.model_loading import read_model

        place = best_device() if device is None else usable_device(device)
        network, tokenizer = read_model(folder, manifest)
        return cls(network.to(place), tokenizer, manifest)

    def push_to_hub(self, repo_id: str, *, private: bool = False, token: str | None = None) -> str:
        """Upload the model with its card to the Hugging Face hub, where `zerotag.load(repo_id)` finds it.

        Args:
            repo_id: the name there, as in `user/model`.
            private: whether a new repository is for its owner alone.
            token: by default the one that `hf auth login` has stored.

        Returns:
            The address of the repository.

        Raises:
            ZerotagError: the hub does not take it.
        """
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "model")
            self.save_pretrained(folder)
            write_model_card(folder, self.manifest, repo_id)
            return upload(folder, repo_id, private=private, token=token)


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
