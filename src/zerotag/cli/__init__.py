"""The command line: each verb parses, calls one function and shows the result. Only this package prints.

Verbs import what they need when they run, so that `zerotag --help` does not wait for torch.
"""


def main() -> None:
    """Run the command line."""
    try:
        from zerotag.cli.app import main as run  # here, as Ctrl-C may come before all is imported

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
