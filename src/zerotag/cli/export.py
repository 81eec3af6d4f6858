"""`zerotag export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import Overwrite, require_absent
from zerotag.errors import ZerotagError

_TARGETS = ("onnx",)


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL_DIR", help="Model folder that `zerotag train` wrote.")],
    out: Annotated[Path, typer.Option(help="Model folder to write.")],
    to: Annotated[str, typer.Option(help="What to export to: onnx.")],
    int8: Annotated[
        bool, typer.Option("--int8", help="Weights of 8 bits: smaller and faster, and scores differ a little.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Export a model to ONNX, to run without torch.

    The folder works wherever a model folder does, with the model's own scores; other methods need the original. The two
    are compared before it is written.
    """
    if to not in _TARGETS:
        raise ZerotagError(f"cannot export to {to[:40]!r}; allowed: {', '.join(_TARGETS)}")
    if out.resolve() == model.resolve():
        raise ZerotagError(f"{out} is the model that is exported, which --out would replace: choose another folder")
    require_absent(out, overwrite)
    import torch

    from zerotag.inference.onnx_export import export as write
    from zerotag.labeller import WordLabeller

    exported = write(WordLabeller.from_pretrained(model, device=torch.device("cpu")), out, int8=int8).export
    assert exported is not None
    size = sum(file.stat().st_size for file in out.iterdir()) / 1e6
    typer.echo(
        f"{out}: ONNX, {exported.precision}, {size:.1f} MB; "
        f"scores differ by at most {exported.difference:.2g} from those of {model}"
    )
