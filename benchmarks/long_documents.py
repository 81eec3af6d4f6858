"""Seconds per word, and memory, for documents of 1,250 to 20,000 words on a processor.

    python benchmarks/long_documents.py     # about 5 minutes on two quiet cores

Attention over a whole document would cost the square of its length; windows cost as much as there are of them. Each
length is measured in a process of its own. The ratio is the cost of a word in the longest document against the
shortest: 1 is linear.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from cpu_labelling import LAYERS, exported, untrained
from results_file import command_line, write_results

LENGTHS = (1_250, 5_000, 20_000)
ROUNDS = 5
TARGET = 1.25
PROGRAM = """
import sys, time
from statistics import median
import zerotag
folder, length, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, sys.argv[4])
from peak import peak_bytes
labeller = zerotag.load(folder)
words = "Perhaps the pump that was replaced last week may leak again .".split()
document = [" ".join(words[i % len(words)] for i in range(length))]
labeller.label([" ".join(words)])
taken = []
for _ in range(rounds):
    start = time.perf_counter()
    (result,) = labeller.label(document)
    taken.append(time.perf_counter() - start)
assert len(result.words) == length
print(median(taken), peak_bytes())
"""


def measure(folder: Path, length: int, rounds: int) -> tuple[float, float]:
    """Microseconds per word, and MiB in memory at most."""
    command = [sys.executable, "-c", PROGRAM, str(folder), str(length), str(rounds), str(Path(__file__).parent)]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds) / length * 1e6, float(peak) / 2**20


def main() -> None:
    """Measure both runtimes, print, write the results."""
    options = command_line(__doc__).parse_args()
    depth, lengths, rounds = (1, (50, 100), 1) if options.quick else (LAYERS // 2, LENGTHS, ROUNDS)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folders = {"torch": Path(scratch, "torch"), "ONNX int8": Path(scratch, "onnx")}
        untrained(depth).save_pretrained(folders["torch"])
        exported(depth, folders["ONNX int8"], int8=True)
        for name, folder in folders.items():
            found = {length: measure(folder, length, rounds) for length in lengths}
            for length, (cost, peak) in found.items():
                print(f"{name:10} {length:>7,} words: {cost:7.1f} µs per word, {peak:,.0f} MiB at most")
            (shortest, _), (longest, _) = found[lengths[0]], found[lengths[-1]]
            ratio = longest / shortest
            print(f"{name:10} ratio {ratio:.2f}, target at most {TARGET}")
            rows.append(
                {
                    "what": f"µs per word, {name}, {lengths[-1]:,} words against {lengths[0]:,}",
                    "peer": round(shortest, 1),
                    "ours": round(longest, 1),
                    "ratio": round(ratio, 3),
                    "target": f"≤ {TARGET}",
                    "peak_mib": {str(length): round(peak) for length, (_, peak) in found.items()},
                }
            )
    write_results("long_documents", rows, folder=options.out)


if __name__ == "__main__":
    main()
