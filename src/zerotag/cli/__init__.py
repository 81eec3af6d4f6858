"""The command line: each verb parses, calls one function and shows the result. Only this room prints.

Verbs import what they need when they run, so that `zerotag --help` does not wait for torch.
"""

from zerotag.cli.app import main

__all__ = ["main"]
