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
