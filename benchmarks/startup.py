"""Seconds until `import zerotag` and `zerotag --help` are done, and until a model has labelled its first text.

    python benchmarks/startup.py        # two minutes

The interpreter alone is the peer of the import and of help, which import no torch: what it takes is not ours. A model
in torch is the packaged encoder at half depth, and its peer an earlier commit; importing torch alone is beside.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from earlier import COMMIT, HERE, Took, earlier_tree, python
from results_file import command_line, row, write_results

TARGET = 0.5
ROUNDS = 9
HELP = (
    "import sys; sys.argv = ['zerotag', '--help']; from zerotag.cli import main\ntry: main()\nexcept SystemExit: pass\n"
)
PROGRAMS = {"import zerotag": "import sys, zerotag\n", "zerotag --help": HELP}
MODEL = """
import sys
sys.path.insert(0, "benchmarks")
from cpu_labelling import untrained
untrained(int(sys.argv[2])).save_pretrained(sys.argv[1])
"""
FIRST = """
import sys, zerotag
print(zerotag.load(sys.argv[1]).label(["It may rain."])[0].words[0].score)
"""
CHECK = "assert not {'torch', 'transformers'} & set(sys.modules)"


def seconds(program: str, rounds: int) -> float:
    """How long an interpreter takes that does this alone."""
    taken = []
    for _ in range(rounds):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=True)
        taken.append(perf_counter() - start)
    return median(taken)


def first_words(rounds: int, *, quick: bool) -> dict[str, object]:
    """Processor seconds of a program that loads a model in torch and labels one text, of both commits in turn."""
    with tempfile.TemporaryDirectory() as scratch, earlier_tree(Path(scratch), quick=quick) as before:
        trees = {"before": before, "now": HERE}
        for name, tree in trees.items():
            python(tree, "-c", MODEL, Path(scratch, name), 1 if quick else 3)
        took: dict[str, list[Took]] = {name: [] for name in trees}
        for _ in range(rounds):
            for name, tree in trees.items():
                took[name].append(python(tree, "-c", FIRST, Path(scratch, name)))
        torch = [python(HERE, "-c", "import torch").cpu for _ in range(rounds)]
    cpu, wall = (
        {name: median(getattr(one, unit) for one in runs) for name, runs in took.items()} for unit in Took._fields[:2]
    )
    return row(
        f"seconds of a processor, first text from a cold start, torch, against {COMMIT}",
        cpu["before"],
        cpu["now"],
        "≤ 0.5",
        wall_ratio=round(wall["now"] / wall["before"], 3),
        import_of_torch_alone=round(median(torch), 3),
    )


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
    rows.append(first_words(1 if options.quick else 3, quick=options.quick))
    write_results("startup", rows, folder=options.out)


if __name__ == "__main__":
    main()
