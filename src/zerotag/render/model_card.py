"""The model card: README.md of a model folder, from a template, with the front matter that hubs read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from string import Template

from zerotag.calibration import Calibration, calibration_error
from zerotag.config import PACKAGED_ENCODER
from zerotag.io.model_folder import CARD, PLOT, Manifest
from zerotag.render.charts import Chart, Line, svg
from zerotag.types import ReliabilityBin

_PACKAGED_BASE = f"sentence-transformers/{PACKAGED_ENCODER}"
_LARGEST_DOT = 7.0


def write_model_card(folder: Path, manifest: Manifest, name: str = "path/to/this/folder") -> None:
    """Write the card into a model folder and, where there is something to draw, its picture.

    Args:
        folder: the model folder.
        manifest: all that is known of the model.
        name: what the model is loaded by, in the card's example.
    """
    (folder / CARD).write_text(model_card(manifest, name), encoding="utf-8")
    if manifest.reliability:
        (folder / PLOT).write_text(svg(reliability_chart(manifest.reliability)), encoding="utf-8")


def model_card(manifest: Manifest, name: str) -> str:
    """The text of the card."""
    settings = {**asdict(manifest.model), **asdict(manifest.training)}
    template = Template(files(__package__).joinpath("model_card.md").read_text(encoding="utf-8"))
    return (
        template.substitute(
            base_model=_base_model(manifest.model.encoder),
            name=name,
            labels=", ".join(map(_cell, manifest.label_names)),
            supervision=(
                f"{manifest.supervision}: it is not zero-shot"
                if manifest.word_labels
                else "sentence labels alone: its training read no word label"
            ),
            data="\n".join(_data(manifest)),
            scores=_rows((measure, f"{value:.4g}") for measure, value in manifest.scores.items()),
            calibration="\n".join(_calibration(manifest.reliability)),
            decisions=_rows(
                (label, f"{rule.word_threshold:g}", interval, f"{rule.sentence_threshold:g}", rule.origin)
                for label, rule, interval in zip(
                    manifest.label_names, manifest.rules, _intervals(manifest), strict=True
                )
            ),
            settings=_rows(settings.items()),
            created=manifest.created,
            versions=", ".join(f"{package} {number}" for package, number in manifest.versions.items()),
            export=f"\nExported for ONNX Runtime, precision {manifest.export.precision}.\n" if manifest.export else "",
        ).rstrip("\n")
        + "\n"
    )


def reliability_chart(reliability: Mapping[str, Sequence[ReliabilityBin]], scores: str = "sentence score") -> Chart:
    """How many of the sentences with a score truly have the label: on the diagonal if scores are probabilities."""
    most = max(one.size for bins in reliability.values() for one in bins)
    lines = tuple(
        Line(
            f"{label} (calibration error {calibration_error(bins):.3f})",
            [(one.score, one.positive) for one in bins],
            hue=number,
            sizes=[max(2.0, _LARGEST_DOT * (one.size / most) ** 0.5) for one in bins],
        )
        for number, (label, bins) in enumerate(reliability.items())
    )
    return Chart("Calibration", scores, "share truly positive", lines, diagonal="scores that are probabilities")


def _base_model(encoder: str) -> str:
    """The line of the front matter that names the encoder, where it has a name on the hub."""
    if encoder == PACKAGED_ENCODER:
        encoder = _PACKAGED_BASE
    return f"base_model: {json.dumps(encoder)}\n" if encoder.count("/") == 1 and not Path(encoder).exists() else ""


def _data(manifest: Manifest) -> Iterator[str]:
    yield "| part | sentences |\n|---|---|"
    yield _rows((part, f"{count:,}") for part, count in manifest.sentences.items())
    for label, bins in manifest.reliability.items():
        positive, count = sum(one.size * one.positive for one in bins), sum(one.size for one in bins)
        yield _rows([(f"dev, with {label}", f"{positive:,.0f} of {count:,}")])


def _intervals(manifest: Manifest) -> list[str]:
    """Of word thresholds, by label, as far as they are known."""
    known = manifest.calibration or (Calibration(),) * len(manifest.label_names)
    return ["–" if one.lowest is None else f"{one.lowest:.2g} to {one.highest:.2g}" for one in known]


def _calibration(reliability: Mapping[str, Sequence[ReliabilityBin]]) -> Iterator[str]:
    if not reliability:
        return
    yield f"\n![How many sentences with a score have the label]({PLOT})\n"
    yield "| label | mean sentence score | truly positive | sentences |\n|---|---|---|---|"
    yield _rows(
        (label, f"{one.score:.2f}", f"{100 * one.positive:.0f} %", f"{one.size:,}")
        for label, bins in reliability.items()
        for one in bins
    )
    yield ""


def _rows(rows: Iterable[Iterable[object]]) -> str:
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")
