"""Curves of a training in the tools that people watch theirs in, through one small protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Protocol

from zerotag.errors import ZerotagError
from zerotag.registry import Registry
from zerotag.text.printable import one_line
from zerotag.training.loop import Progress


class Logger(Protocol):
    """Whoever is told of a training: what it is, then numbers while it runs, then that it is over."""

    def start(self, settings: Mapping[str, Any]) -> None:
        """All settings of the training, before its first step."""

    def log(self, values: Mapping[str, float], step: int) -> None:
        """Numbers by name, and after how many steps of the whole training."""

    def close(self) -> None:
        """The training has ended, whether it was finished or not."""


LOGGERS: Registry[Callable[[str | None], Logger]] = Registry(
    "logger",
    {
        "tensorboard": "zerotag.integrations.loggers:TensorBoard",
        "mlflow": "zerotag.integrations.loggers:MLflow",
        "wandb": "zerotag.integrations.loggers:WeightsAndBiases",
    },
)
"""What makes a logger of what stands after its name and a colon, such as a folder."""


def logger(name: str) -> Logger:
    """The logger with a name, as in `tensorboard` or `tensorboard:runs/first`.

    Raises:
        ZerotagError: there is none of that name, its package is not installed, or it cannot be started.
    """
    kind, colon, rest = name.partition(":")
    make = LOGGERS.get(kind)
    try:
        return make(rest if colon else None)
    except ZerotagError:
        raise
    except Exception as error:  # whatever is the matter with a package of others, or with its server
        said = str(error).strip().partition("\n")[0] or repr(error)
        raise ZerotagError(f"{kind} cannot be started: {one_line(said)}") from error


def values(progress: Progress) -> dict[str, float]:
    """The numbers of a training's progress; those of a teacher are named so."""
    prefix = "teacher/" if progress.of_teacher else ""
    found = {f"{prefix}loss": progress.loss, "epoch": float(progress.epoch)}
    if progress.best_f1 is not None:
        found[f"{prefix}dev_f1"] = progress.best_f1
    return found


@contextmanager
def logging_to(
    loggers: Iterable[str | Logger] | str | Logger, settings: Mapping[str, Any], tell: Callable[[Progress], None]
) -> Iterator[Callable[[Progress], None]]:
    """Also tell loggers of what `tell` is told, while this lasts."""
    names: Sequence[Any] = [loggers] if isinstance(loggers, str) or not isinstance(loggers, Iterable) else [*loggers]
    with ExitStack() as stack:
        listening = [stack.enter_context(closing(logger(one) if isinstance(one, str) else one)) for one in names]
        for one in listening:
            one.start(settings)

        def tell_all(progress: Progress) -> None:
            for one in listening:
                one.log(values(progress), progress.steps_done)
            tell(progress)

        yield tell_all
