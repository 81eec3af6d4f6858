"""Seconds until `import zerotag` and `zerotag --help` are done, and whether they import torch.

    python benchmarks/startup.py        # a few seconds

The interpreter alone is the peer: what it takes is not ours.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

from results_file import command_line, write_results

TARGET = 0.5
ROUNDS = 9
HELP = (
    "import sys; sys.argv = ['zerotag', '--help']; from zerotag.cli import main\ntry: main()\nexcept SystemExit: pass\n"
)
PROGRAMS = {"import zerotag": "import sys, zerotag\n", "zerotag --help": HELP}
CHECK = "assert not {'torch', 'transformers'} & set(sys.modules)"


def seconds(program: str, rounds: int) -> float:
    """How long an interpreter takes that does this alone."""
    taken = []
    for _ in range(rounds):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
        taken.append(perf_counter() - start)
    return median(taken)


def main() -> None:
    """Measure, print, write the results."""
    options = command_line(__doc__).parse_args()
    rounds = 1 if options.quick else ROUNDS
    alone = seconds("pass", rounds)
    rows = []
    for name, program in PROGRAMS.items():
        took = seconds(program + CHECK, rounds)
        print(f"{name:16} {took:.3f} s (the interpreter alone {alone:.3f} s), target under {TARGET} s")
        rows.append(
            {
                "what": f"seconds, {name}, no torch",
                "peer": round(alone, 3),
                "ours": round(took, 3),
                "ratio": round(took / alone, 2),
                "target": f"< {TARGET} s",
            }
        )
    write_results("startup", rows, folder=options.out)


if __name__ == "__main__":
    main()
