"""The memory that `zerotag label` takes for 10,000 and for 1,000,000 lines.

    python benchmarks/memory.py                     # about 10 minutes on a quiet core
    python benchmarks/memory.py --lines 50000       # a quick look

A tiny network that was never trained stands in for the encoder, behind the packaged tokenizer: whether memory grows
does not depend on what the scores mean, and a million lines take minutes. The lines are sentences of the demo corpus,
cut to a few words, and one in a thousand is not UTF-8. Every run is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from itertools import cycle, islice
from pathlib import Path

from results_file import command_line, write_results

FEW = 10_000
WORDS = 6
TARGET = 1.10


def make_model(folder: Path) -> None:
    """A network of one narrow layer, and a head."""
    import torch
    from transformers import AutoModel, BertConfig

    from zerotag.config import ModelConfig, TrainConfig
    from zerotag.io.model_folder import Manifest
    from zerotag.labeller import WordLabeller
    from zerotag.modeling.encoders import load_encoder
    from zerotag.modeling.network import Network
    from zerotag.types import Rule

    config = ModelConfig(depth=1)
    _, tokenizer = load_encoder(config)
    torch.manual_seed(0)
    encoder = AutoModel.from_config(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
        )
    )
    manifest = Manifest(config, TrainConfig(), ("hedge",), "O", (Rule(),), {}, {})
    WordLabeller(Network(encoder, 1, config).eval(), tokenizer, manifest).save_pretrained(folder)


def lines() -> Iterator[bytes]:
    """Any number of short sentences of different lengths."""
    records = files("zerotag.demo").joinpath("hedging.train.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(record)["text"].split() for record in records]
    for number, words in enumerate(cycle(texts)):
        good = " ".join(words[: 2 + number % WORDS]).encode()
        yield (b"\xff" if number % 1_000 == 999 else good) + b"\n"


def peak_memory(model: Path, source: Path, out: Path) -> int:
    """Bytes that a run of its own had in memory at most; its progress and summary go to standard error."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from peak import peak_bytes\n"
        "from zerotag.cli import main\n"
        f"sys.argv = ['zerotag', 'label', {str(model)!r}, {str(source)!r}, '--out', {str(out)!r}]\n"
        "main()\n"
        "print(peak_bytes())"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout)


def main() -> None:
    """Measure, print the ratio, write the results."""
    parser = command_line(__doc__)
    parser.add_argument("--lines", type=int, help="of the long run")
    options = parser.parse_args()
    few, many = (100, 200) if options.quick else (FEW, options.lines or 1_000_000)
    peaks = []
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch, "model")
        make_model(model)
        for count in (few, many):
            source = Path(scratch, f"{count}.txt")
            with source.open("wb") as file:
                file.writelines(islice(lines(), count))
            peaks.append(peak_memory(model, source, Path(scratch, f"{count}.jsonl")))
            print(f"{count:>10,} lines: {peaks[-1] / 2**20:,.0f} MiB at most")
    ratio = peaks[1] / peaks[0]
    print(f"ratio {ratio:.3f}, target at most {TARGET}")
    row = {
        "what": f"peak memory, {many:,} lines against {few:,}",
        "peer": peaks[0],
        "ours": peaks[1],
        "ratio": round(ratio, 4),
        "target": f"≤ {TARGET}",
    }
    write_results("memory", [row], folder=options.out)


if __name__ == "__main__":
    main()
