"""A model folder that is replaced while the service runs."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import tiny
from services import Service, until
from zerotag.config import ModelConfig
from zerotag.io.writers.jsonl import record
from zerotag.labeller import WordLabeller
from zerotag.serve.settings import Settings

TEXT = "the pump may fail"
QUICK = Settings(watch_seconds=0.05)
OLD = tiny.labeller()
NEW = tiny.labeller("roberta", labels=("other",))


def result_of(labeller: WordLabeller) -> dict[str, Any]:
    return record(labeller.label([TEXT])[0], labeller.label_names)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    OLD.save_pretrained(tmp_path / "one")
    return tmp_path / "one"


def test_a_new_model_takes_over_without_a_dropped_request(folder: Path) -> None:
    statuses: list[int] = []
    results: list[dict[str, Any]] = []
    enough = threading.Event()

    def keep_asking(service: Service) -> None:
        while not enough.is_set():
            reply = service.label([TEXT])
            statuses.append(reply.status)
            results.extend(reply.json.get("results", []))

    with Service({"one": folder}, QUICK) as service:
        clients = [threading.Thread(target=keep_asking, args=(service,)) for _ in range(4)]
        for client in clients:
            client.start()
        until(lambda: len(statuses) > 20)
        NEW.save_pretrained(folder)
        until(lambda: service.get("/v1/models").json["models"][0]["labels"] == ["other"])
        seen = len(statuses)
        until(lambda: len(statuses) > seen + 20)
        enough.set()
        for client in clients:
            client.join()
        assert service.metric('zerotag_reloads_total{model="one",outcome="loaded"}') == 1
    assert set(statuses) == {200}
    assert results[0] == result_of(OLD)
    assert results[-1] == result_of(NEW)
    assert all(result in (result_of(OLD), result_of(NEW)) for result in results)


def test_a_damaged_folder_leaves_the_earlier_model_at_work(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Service({"one": folder}, QUICK) as service:
        weights = folder / "model.safetensors"
        whole = weights.read_bytes()
        weights.write_bytes(whole[:-1] + b"x")
        until(lambda: "cannot be loaded" in service.get("/readyz").json["models"]["one"])
        ready = service.get("/readyz")
        assert ready.status == 200
        assert str(folder) not in ready.body.decode()
        assert "the earlier one goes on" in caplog.text
        assert service.label([TEXT]).json["results"] == [result_of(OLD)]

        weights.unlink()
        (folder / "zerotag.json").unlink()
        assert service.label([TEXT]).json["results"] == [result_of(OLD)]

        NEW.save_pretrained(folder.with_name("new"))
        for file in folder.iterdir():
            file.unlink()
        for file in folder.with_name("new").iterdir():  # file by file, as people copy
            (folder / file.name).write_bytes(file.read_bytes())
        until(lambda: service.get("/readyz").json["models"]["one"] == "ready")
        assert service.label([TEXT]).json["results"] == [result_of(NEW)]


def test_a_model_of_another_kind_brings_its_own_methods(folder: Path) -> None:
    with Service({"one": folder}, QUICK) as service:
        tiny.labeller(config=ModelConfig(encoder="tiny", depth=2, window=32, head="cls")).save_pretrained(folder)
        until(lambda: "native" not in service.get("/v1/models").json["models"][0]["methods"])
        assert service.label([TEXT]).json["method"] == "occlusion"


def test_a_folder_that_cannot_be_loaded_at_all_is_refused_at_the_start(folder: Path) -> None:
    from zerotag.errors import ZerotagError
    from zerotag.serve.app import create_app

    (folder / "zerotag.json").write_text("{}")
    with pytest.raises(ZerotagError, match="does not say its format"):
        create_app({"one": folder})
