"""A real MLflow and a real Weights & Biases, offline, are told of a training, and have its curves.

    python -m drills.loggers [PYTHON]

PYTHON is that of an environment with mlflow, wandb and what zerotag needs; without one, the first two are installed
into an environment that sees the packages of this one. Everything runs on this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRAINED = """
import json
import struct
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import tiny, toy, zerotag

points = {}

class Recorder:
    def start(self, settings):
        pass

    def log(self, values, step):
        points.update(values)

    def close(self):
        pass

encoder = tiny.encoder_folder("encoder")
zerotag.train(
    toy.corpus(40),
    model=zerotag.ModelConfig(encoder=str(encoder), depth=2),
    training=zerotag.TrainConfig(teacher_epochs=1, epochs=2, batch_size=8),
    progress=False,
    log_to=["mlflow:drill", "wandb:drill", Recorder()],
)

import mlflow, wandb
from wandb.proto.wandb_internal_pb2 import Record

(run,) = mlflow.search_runs(experiment_names=["drill"], output_format="list")
assert run.info.status == "FINISHED", run.info.status
assert run.data.params["epochs"] == "2", run.data.params
assert run.data.metrics == points, (run.data.metrics, points)
print("mlflow", mlflow.__version__, "has", ", ".join(sorted(points)))
(kept,) = Path("wandb").glob("offline-run-*/*.wandb")
data, place, record, found = kept.read_bytes(), 7, b"", {}
while place < len(data):  # a log as LevelDB has them: records in parts, each with a header, that cross no block
    if (left := 32_768 - place % 32_768) < 7:
        place += left
        continue
    length, part = struct.unpack("<HB", data[place + 4 : place + 7])
    record += data[place + 7 : place + 7 + length]
    place += 7 + length
    if part in (1, 4):  # whole, or the last part
        for item in Record.FromString(record).history.item:
            found[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        record = b""
assert {name: found.get(name) for name in points} == points, (found, points)
print("wandb", wandb.__version__, "has the same")
"""


def installed(folder: Path) -> Path:
    """The Python of an environment with both, which sees the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    place = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    ours = f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n"
    Path(place, "of_zerotag.pth").write_text(ours)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "mlflow>=3.0", "wandb>=0.20"], check=True)
    return python


def main() -> None:
    """Run the drill."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        python = Path(sys.argv[1]) if len(sys.argv) > 1 else installed(folder / "environment")
        quiet = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
        command: list[str | Path] = [python, "-c", TRAINED, ROOT / "tests"]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **quiet}, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
        print(done.stdout, end="")


if __name__ == "__main__":
    main()
