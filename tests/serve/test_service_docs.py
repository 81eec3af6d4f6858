"""The examples of docs/guides/service.md work as they stand there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from services import Service
from zerotag.serve.settings import Limits, Settings

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "service.md").read_text(encoding="utf-8")
KEY = "0123456789abcdef"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("models") / "hedges"
    tiny.labeller().save_pretrained(folder)
    with Service({"hedges": folder}) as running:
        yield running


def curl(command: str, service: Service) -> dict[str, object]:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    here = command.replace("http://127.0.0.1:8000", service.url)
    printed = subprocess.run(["bash", "-c", here], capture_output=True, check=True, env={"ZEROTAG_API_KEY": KEY})
    answer: dict[str, object] = json.loads(printed.stdout)
    return answer


def test_curl_examples(service: Service) -> None:
    label, explain, models, wrong, with_key = (
        curl(command, service) for command in blocks("bash") if "curl" in command
    )
    results = label["results"]
    assert isinstance(results, list)
    assert [len(result["words"]) for result in results] == [7, 3]
    assert (explain["model"], explain["method"]) == ("hedges", "occlusion")
    assert set(models) == {"models", "limits"}
    assert wrong["error"] == {
        "code": "invalid",
        "message": "Input should be a valid string",
        "where": "texts[0]",
    }
    assert with_key == models


def test_python_example(service: Service) -> None:
    (code,) = blocks("python")
    here = code.replace("http://127.0.0.1:8000", service.url).replace(
        "from zerotag import", "from zerotag.serve.client import"
    )
    printed = subprocess.run([sys.executable, "-c", here], capture_output=True, text=True, check=True)
    assert len(printed.stdout.splitlines()) == 2


def test_limits_and_times_are_those_of_the_settings() -> None:
    assert set(re.findall(r"`(\w+)`", PAGE.split("limits: ")[1].split(" |")[0])) == set(Limits.__slots__)
    assert f"more than {Settings().body_seconds:g} seconds to arrive" in PAGE
    assert f"no answer within {Settings().request_seconds:g} seconds" in PAGE


def test_every_code_is_explained() -> None:
    sources = [file.read_text() for file in (Path(__file__).parents[2] / "src/zerotag/serve").glob("*.py")]
    codes = {code for source in sources for code in re.findall(r'HttpError\(\s*\d+, "(\w+)"', source)}
    assert codes
    assert codes <= set(re.findall(r"`(\w+)`", PAGE))


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/nowhere", 404, "not_found"), ("GET", "/v1/label", 405, "wrong_method")],
)
def test_refusals_are_in_the_table(service: Service, method: str, path: str, status: int, code: str) -> None:
    answer = service.ask(method, path)
    assert (answer.status, answer.code) == (status, code)
    assert re.search(rf"^\| {status} \|.*`{code}`.*\|$", PAGE, flags=re.MULTILINE)
