import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["zerotag", "zerotag.types", "zerotag.config", "zerotag.text.alignment", "zerotag.cli.app"]
)
def test_torch_is_not_imported_before_it_is_needed(module: str) -> None:
    program = f"import sys, {module}; print(sorted({{'torch', 'transformers'}} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_functions_of_the_package_stay_functions_when_their_modules_are_imported() -> None:
    program = "import zerotag; zerotag.train; zerotag.load; print(all(map(callable, (zerotag.train, zerotag.load))))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "True"


def test_results_are_written_without_torch_and_without_rich() -> None:
    """Each writer is in a module that is imported with it; `text` imports rich once it writes in colour."""
    program = (
        "import sys; from zerotag.io.writers import WRITERS; loaded = [*map(WRITERS.get, WRITERS.names())]; "
        "print(len(loaded), sorted({'rich', 'torch', 'transformers', 'sklearn'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, modules = answer.stdout.split(maxsplit=1)
    assert (int(count) >= 8, modules.strip()) == (True, "[]")


def test_what_the_package_has_can_be_listed_before_it_is_loaded() -> None:
    program = "import sys, zerotag; print(set(zerotag.__all__) <= set(dir(zerotag)), 'zerotag.labeller' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["True", "False"]
