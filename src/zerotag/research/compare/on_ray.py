"""Many runs on many machines: workers of Ray, each of which takes group after group."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial

import torch

from zerotag.parallel.ray_pool import Cluster, GivenUp, Patience, RayPool, Told, Work
from zerotag.parallel.ray_pool import Tell as TellDriver
from zerotag.parallel.threads import computing_with
from zerotag.research.compare.messages import Bench, Failed, Finished, Group, Said, Tell
from zerotag.research.compare.schedule import NowAndThen

PATIENCE = Patience(deaths=5, seconds_to_stop=20.0)


def on_ray(groups: Sequence[Group], bench: Bench, cluster: Cluster, tell: Tell, deadline: float | None) -> None:
    """Make all runs in a cluster; at the deadline they are stopped where they are, to go on another time.

    Where there are no GPUs, a worker has as many processors as torch uses here, so that its numbers are those of a run
    here.
    """
    threads = torch.get_num_threads()
    untold = [set(group.runs) for group in groups]  # a group whose worker died is made again
    with RayPool[Group](partial(_begin, bench, threads), cluster, PATIENCE, on_gpus=None, processors=threads) as pool:
        for happened in pool.do(groups):
            match happened:
                case Told(_, Said() as said):
                    tell(said)
                case Told(number, message) if message.run in untold[number]:
                    untold[number].remove(message.run)
                    tell(message)
                case GivenUp(number, error):
                    for run in untold[number]:
                        tell(Failed(run, f"{error}: start again to repeat it"))
            if deadline is not None and time.monotonic() > deadline:
                return


def _begin(bench: Bench, threads: int) -> Work[Group]:
    """A worker for groups, in a process of Ray."""
    sound = True

    def make(group: Group, tell_driver: TellDriver) -> None:
        nonlocal sound
        if not sound:  # after an unexpected failure the GPU may be out of order for this process: Ray starts a new one
            os._exit(1)

        def tell(message: Said | Finished | Failed) -> None:
            nonlocal sound
            sound = sound and not (isinstance(message, Failed) and message.unexpected)
            tell_driver(message)

        with computing_with(threads):
            bench.carry_out(group, NowAndThen(tell).say, tell)

    return make
