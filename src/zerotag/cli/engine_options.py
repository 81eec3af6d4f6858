"""Options that say who does the work: this process, or the workers of Ray."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from zerotag.errors import ZerotagError
from zerotag.extras import needed

if TYPE_CHECKING:
    from zerotag.parallel.ray_pool import Cluster

PANEL = "More than one machine"


@dataclass(frozen=True)
class EngineOptions:
    """An engine, where it is, and what its workers get."""

    engine: Annotated[
        str | None,
        typer.Option(help="ray: hand the work out to the workers of Ray. [this process]", rich_help_panel=PANEL),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(help="Of Ray's cluster: auto, or host:port. [one of this machine alone]", rich_help_panel=PANEL),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Workers of Ray. [as many as there is room for]", rich_help_panel=PANEL),
    ] = None
    gpus: Annotated[
        float, typer.Option(help="GPUs for each worker of Ray, or a share of one.", rich_help_panel=PANEL)
    ] = 1.0

    def cluster(self) -> Cluster | None:
        """Where Ray is, if it is to be used."""
        from zerotag.parallel.ray_pool import Cluster

        if self.engine not in (None, "ray"):
            raise ZerotagError(f"there is no engine {self.engine!r}; there is: ray")
        if self.engine is None and (self.address is not None or self.workers is not None):
            raise ZerotagError("--address and --workers are Ray's: give --engine ray")
        if self.engine is None:
            return None
        if self.gpus <= 0 or (self.gpus > 1 and not self.gpus.is_integer()):
            raise ZerotagError(f"--gpus {self.gpus:g}: a worker gets a share of one GPU, or a whole number of them")
        needed("--engine ray", "ray", "ray")  # before anything is written
        return Cluster(self.address, self.workers, self.gpus)
