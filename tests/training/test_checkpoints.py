"""Unfinished trainings on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.optim import AdamW

import tiny
from crashes import crashes, make
from zerotag.errors import ZerotagError
from zerotag.modeling.network import Network
from zerotag.training.checkpoints import Checkpoints, EpochRecord, Position, position_in


def network() -> Network:
    return tiny.labeller().network


def trained(seed: int) -> tuple[Network, AdamW]:
    """A network and an optimizer after two steps with random gradients."""
    its_network = network()
    optimizer = AdamW(its_network.parameters(), lr=0.1)
    torch.manual_seed(seed)
    for _ in range(2):
        for parameter in its_network.parameters():
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    return its_network, optimizer


def same_weights(a: Network, b: Network) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


POSITION = Position(
    epoch=2,
    step=3,
    loss_sum=0.1 + 0.2,
    history=[EpochRecord(0.7, 0.5, 0.4), EpochRecord(1 / 3, 0.6, 0.2)],
    best_epoch=1,
)


def test_everything_comes_back_bit_for_bit(tmp_path: Path) -> None:
    saved, its_optimizer = trained(1)
    Checkpoints(tmp_path, "print").save(saved, its_optimizer, POSITION)
    other, other_optimizer = trained(2)
    assert not same_weights(saved, other)
    assert Checkpoints(tmp_path, "print").resume(other, other_optimizer) == POSITION
    assert same_weights(saved, other)
    for both in (saved, other):
        for parameter in both.parameters():
            parameter.grad = torch.ones_like(parameter)
    its_optimizer.step()
    other_optimizer.step()
    assert same_weights(saved, other)


def test_a_new_training_starts_at_the_beginning(tmp_path: Path) -> None:
    its_network, optimizer = trained(1)
    before = [parameter.clone() for parameter in its_network.parameters()]
    assert Checkpoints(tmp_path, "print").resume(its_network, optimizer) == Position()
    assert all(torch.equal(x, y) for x, y in zip(its_network.parameters(), before, strict=True))


def test_of_a_finished_training_the_best_weights_are_left(tmp_path: Path) -> None:
    best, optimizer = trained(1)
    last, _ = trained(2)
    checkpoints = Checkpoints(tmp_path, "print")
    checkpoints.save_best(best.state_dict(), 0)
    checkpoints.save(last, optimizer, Position(epoch=2, best_epoch=0, finished=True))
    assert [path.name for path in tmp_path.rglob("*.safetensors")] == ["network.safetensors"]
    other, its_optimizer = trained(3)
    position = Checkpoints(tmp_path, "print").resume(other, its_optimizer)
    assert position == Position(epoch=2, best_epoch=0, finished=True)
    checkpoints.load_best(other, position.best_epoch)
    assert same_weights(other, best)


def test_only_the_newest_checkpoint_and_the_best_weights_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "print")
    first, optimizer = trained(1)
    second, _ = trained(2)
    (tmp_path / ".step-0000-00000001-killed").mkdir()
    checkpoints.save_best(first.state_dict(), 0)
    checkpoints.save(first, optimizer, Position(epoch=1, best_epoch=0))
    checkpoints.save_best(second.state_dict(), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best-0000", "best-0001", "step-0001-00000000"]
    checkpoints.save(second, optimizer, Position(epoch=2, best_epoch=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best-0001", "step-0002-00000000"]
    checkpoints.load_best(first, 1)
    assert same_weights(first, second)


def test_the_newest_counts_where_a_kill_left_two(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "print")
    first, optimizer = trained(1)
    checkpoints.save(first, optimizer, Position(epoch=9, step=1))
    kept = tmp_path.rename(tmp_path.with_name("kept")) / "step-0009-00000001"
    tmp_path.mkdir()
    Checkpoints(tmp_path, "print").save(first, optimizer, Position(epoch=9, step=12))
    kept.rename(tmp_path / kept.name)
    assert Checkpoints(tmp_path, "print").resume(first, optimizer).step == 12


def test_a_position_can_be_read_without_the_training(tmp_path: Path) -> None:
    its_network, optimizer = trained(1)
    position = Position(epoch=2, history=[EpochRecord(0.5, 0.7, 0.4), EpochRecord(0.4, 0.8, 0.3)], best_epoch=1)
    assert position_in(tmp_path) == Position()
    Checkpoints(tmp_path, "print").save(its_network, optimizer, position)
    assert position_in(tmp_path) == position
    (tmp_path / "step-0002-00000000" / "position.json").write_text("{}")
    with pytest.raises(ZerotagError, match="an unfinished training, is damaged"):
        position_in(tmp_path)


@pytest.mark.parametrize("of_teacher", [True, False])
def test_another_fingerprint_is_refused_at_once(tmp_path: Path, of_teacher: bool) -> None:
    its_network, optimizer = trained(1)
    whole = Checkpoints(tmp_path, "print")
    (whole.of_teacher(0) if of_teacher else whole).save(its_network, optimizer, Position())
    with pytest.raises(ZerotagError) as caught:
        Checkpoints(tmp_path, "another")
    message = str(caught.value)
    assert message.startswith(
        f"{tmp_path} holds an unfinished training with other settings or data, or of another zerotag: "
    )
    assert "\n" not in message


# The teacher's


def test_a_teacher_and_its_network_are_kept_apart(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "print")
    teacher, its_optimizer = trained(1)
    its_network, optimizer = trained(2)
    checkpoints.of_teacher(0).save_best(teacher.state_dict(), 0)
    checkpoints.of_teacher(0).save(teacher, its_optimizer, Position(epoch=7, best_epoch=0))
    assert Checkpoints(tmp_path, "print").resume(*trained(3)) == Position()
    checkpoints.save_best(its_network.state_dict(), 0)
    checkpoints.save(its_network, optimizer, Position(epoch=1, best_epoch=0))
    checkpoints.save(its_network, optimizer, Position(epoch=2, best_epoch=0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best-0000", "step-0002-00000000", "teacher-1"]
    assert sorted(path.name for path in (tmp_path / "teacher-1").iterdir()) == ["best-0000", "step-0007-00000000"]

    for part, saved, epoch in ((checkpoints, its_network, 2), (checkpoints.of_teacher(0), teacher, 7)):
        other, other_optimizer = trained(3)
        assert part.resume(other, other_optimizer).epoch == epoch
        assert same_weights(other, saved)
        part.load_best(other, 0)
        assert same_weights(other, saved)
    assert position_in(tmp_path).epoch == 2


def test_what_is_wrong_with_a_teacher_is_wrong_with_the_training(tmp_path: Path) -> None:
    """Whoever deletes the folder that is named can start anew."""
    folder = tmp_path / "model.partial"
    folder.mkdir()
    its_network, optimizer = trained(1)
    Checkpoints(folder, "print").of_teacher(0).save(its_network, optimizer, Position())
    (folder / "teacher-1" / "step-0000-00000000" / "network.safetensors").write_bytes(b"")
    with pytest.raises(ZerotagError, match=rf"^{folder}, an unfinished training, is damaged"):
        Checkpoints(folder, "print").of_teacher(0).resume(its_network, optimizer)
    (folder / "teacher-1" / "step-0000-00000000" / "position.json").write_bytes(b"")
    with pytest.raises(ZerotagError, match=rf"^{folder}, an unfinished training, is damaged"):
        Checkpoints(folder, "print")
    (folder / "teacher-1" / "step-0000-00000000" / "position.json").unlink()
    (folder / "teacher-1" / "step-0000-00000000").rename(folder / "teacher-1" / ".step-killed")
    Checkpoints(folder, "print").of_teacher(0).delete()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("network.safetensors", b"\x00" * 50),
        ("network.safetensors", None),
        ("optimizer.safetensors", b""),
        ("position.json", b'{"fingerprint": "print"'),
        ("position.json", b'{"fingerprint": "print", "epoch": 1}'),
        ("position.json", b"[]"),
        ("position.json", b"{}"),
    ],
)
def test_damage_is_named_in_one_line(tmp_path: Path, file: str, content: bytes | None) -> None:
    its_network, optimizer = trained(1)
    Checkpoints(tmp_path, "print").save(its_network, optimizer, Position())
    damaged = tmp_path / "step-0000-00000000" / file
    if content is None:
        damaged.unlink()
    else:
        damaged.write_bytes(content)
    with pytest.raises(ZerotagError, match=r"is damaged \(.+\): delete it to start anew$") as caught:
        Checkpoints(tmp_path, "print").resume(its_network, optimizer)
    assert "\n" not in str(caught.value)


def test_missing_best_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ZerotagError, match="is damaged"):
        Checkpoints(tmp_path, "print").load_best(network(), 0)


@pytest.mark.parametrize("name", ["thesis.tex", "teacher.tex", "teachers"])
def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, name: str) -> None:
    mine = tmp_path / name
    mine.write_text("years of work")
    with pytest.raises(ZerotagError, match="is in the way"):
        Checkpoints(tmp_path, "print")
    assert mine.read_text() == "years of work"


def test_a_training_that_goes_on_meanwhile_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    its_network, optimizer = trained(1)
    checkpoints = Checkpoints(tmp_path, "print")
    checkpoints.save(its_network, optimizer, Position(epoch=1))
    read = Path.read_text

    def read_after_the_next_was_saved(path: Path) -> str:
        monkeypatch.setattr(Path, "read_text", read)
        checkpoints.save(its_network, optimizer, Position(epoch=2))
        return read(path)

    monkeypatch.setattr(Path, "read_text", read_after_the_next_was_saved)
    assert position_in(tmp_path).epoch == 2


def test_every_state_that_a_crash_can_leave_can_be_gone_on_from(tmp_path: Path) -> None:
    """With the weights of the position that it tells, and the best weights that this one speaks of."""
    root = tmp_path / "root"
    root.mkdir()
    saved = {step: trained(step) for step in range(3)}
    with crashes(root) as found:
        for step, (its_network, optimizer) in saved.items():
            checkpoints = Checkpoints(root, "print")
            checkpoints.save_best(its_network.state_dict(), step)
            checkpoints.save(its_network, optimizer, Position(epoch=step, step=1, best_epoch=step))
    assert len(found.states) > 70
    reached = set()
    other, its_optimizer = trained(9)
    for state in found.states:
        crashed = Checkpoints(make(state, tmp_path / "crashed"), "print")
        position = crashed.resume(other, its_optimizer)
        if position == Position():
            continue
        reached.add(position.epoch)
        assert same_weights(other, saved[position.epoch][0])
        crashed.load_best(other, position.best_epoch)
        assert same_weights(other, saved[position.epoch][0])
    assert reached == {0, 1, 2}
