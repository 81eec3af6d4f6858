"""Teachers of one training that learn side by side, each in a worker of Ray, as they would one after another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import torch

from zerotag.errors import ZerotagError
from zerotag.io.locks import BusyError, only_us
from zerotag.parallel.ray_pool import Cluster, DeathError, GivenUp, Patience, RayPool, Returned, Tell, Told, Work
from zerotag.parallel.threads import computing_with
from zerotag.training.checkpoints import Checkpoints
from zerotag.training.loop import Progress
from zerotag.training.processor import quick_products
from zerotag.training.pseudo_labels import PseudoLabels
from zerotag.training.reproducible import reproducible

if TYPE_CHECKING:
    from zerotag.config import ChosenTrainConfig
    from zerotag.training.recipe import Course, Lessons

_PATIENCE = Patience(deaths=20, not_counted=(BusyError,), seconds_to_stop=20.0)


def said_side_by_side(course: Course, lessons: Lessons, cluster: Cluster) -> list[PseudoLabels]:
    """What each teacher of a course says of the words.

    Checkpoints are in the folder of the training, so that a teacher whose worker died goes on elsewhere.
    """
    count = course.training.teachers
    said: dict[int, PseudoLabels] = {}
    given_up: tuple[int, Exception] | None = None
    progress = Together(course.training, course.on_progress)
    threads = torch.get_num_threads()
    begin = partial(_begin, dataclasses.replace(course, on_progress=_nobody), lessons, threads)
    pool = RayPool[int](begin, cluster, _PATIENCE, on_gpus=course.device.type == "cuda", processors=threads)
    with pool:
        for happened in pool.do(range(count)):
            match happened:
                case Told(number, reached):
                    progress.hear(number, reached)
                case Returned(number, result):
                    said[number] = result
                case GivenUp(number, error):
                    given_up = number, error
                    break
                case None:
                    progress.show()
    if given_up:
        give_up(course.checkpoints, *given_up)
    return [said[number] for number in range(count)]


def give_up(checkpoints: Checkpoints, number: int, error: Exception) -> NoReturn:
    """End the training, as one teacher cannot be had."""
    if isinstance(error, DeathError):
        raise ZerotagError(f"teacher {number + 1} is given up: {error}; the same command goes on")
    if not checkpoints.of_teacher(number).folder.exists():  # it diverged: nobody will go on with the others
        checkpoints.delete()
    raise error


def _nobody(_: Progress) -> None:
    """Whom the progress of a teacher is told before a worker has it."""


def _begin(course: Course, lessons: Lessons, threads: int) -> Work[int]:
    """A worker for teachers of a course, in a process of Ray."""
    with torch.device("meta"):  # transformers learns from making a model, and not from unpickling it, what it can tell
        type(lessons.encoder)(lessons.encoder.config)
    folder = course.checkpoints.folder
    if not folder.is_dir():
        raise ZerotagError(f"{folder} is not there on all nodes: --out must be in a folder that they share")

    def teach(number: int, tell: Tell) -> PseudoLabels:
        device = torch.device(course.device.type)  # a worker sees the GPUs that it has
        its_course = dataclasses.replace(course, on_progress=tell, device=device)
        # A node that the cluster has lost may go on alone: two are not to write the checkpoints of one teacher.
        checkpoints = course.checkpoints.of_teacher(number).folder
        seed = course.training.seed
        with only_us(checkpoints), computing_with(threads), reproducible(seed, device), quick_products(device):
            return its_course.said(number, lessons)

    return teach


class Together:
    """The progress of several teachers as that of one training, whose student follows."""

    def __init__(self, training: ChosenTrainConfig, show: Callable[[Progress], None]) -> None:
        self._training = training
        self._show = show
        self._steps_done: dict[int, int] = {}  # of its own, by teacher
        self._last: Progress | None = None

    def hear(self, number: int, reached: Progress) -> None:
        """Take in how far a teacher is."""
        per_epoch = reached.steps // reached.epochs
        each = self._training.teacher_epochs * per_epoch
        all_teachers = self._training.teachers * each
        self._steps_done[number] = reached.steps_done - number * each  # it counts those of the teachers before it
        done = sum(self._steps_done.values())
        busy = max(1, sum(own < each for own in self._steps_done.values()))
        pace = (reached.seconds_left or 0.0) / max(1, reached.steps - reached.steps_done)
        self._last = dataclasses.replace(
            reached,
            epoch=min(done // per_epoch + 1, self._training.teachers * self._training.teacher_epochs),
            epochs_done=done // per_epoch,
            steps_done=done,
            seconds_left=pace * ((all_teachers - done) / busy + reached.steps - all_teachers),
            stopped=False,
        )
        self.show()

    def show(self) -> None:
        """Say again how far they are: whoever is told may want to stop."""
        if self._last is not None:
            self._show(self._last)
