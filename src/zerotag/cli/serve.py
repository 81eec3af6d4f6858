"""`zerotag serve`."""

from __future__ import annotations

import logging
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import Device, chosen_device
from zerotag.errors import ZerotagError

_KEY_VARIABLE = "ZEROTAG_API_KEY"
_SHORTEST_KEY = 16
_NAME = re.compile(r"[\w.-]{1,100}")


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL_DIR...", help="Model folders; NAME=DIR gives one another name.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on; one that others can reach needs an API key.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on; 0 is any free one.", min=0, max=65535)] = 8000,
    open_page: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Show the page in a browser. [in a terminal]")
    ] = None,
    api_key_file: Annotated[
        Path | None, typer.Option(help=f"File with the API key that clients must send. [{_KEY_VARIABLE}]")
    ] = None,
    device: Device = None,
) -> None:
    """Show the words on a page, and label over HTTP.

    Ctrl-C or SIGTERM ends it after the requests it has accepted.
    """
    folders = _folders(models)
    key = _api_key(api_key_file)
    try:
        import fastapi  # noqa: F401
        import httptools  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise ZerotagError(f"the service needs {error.name}: pip install 'zerotag[serve]'") from None
    from zerotag.serve.server import address_of, is_loopback, listen, make_server
    from zerotag.serve.settings import LOOPBACK_NAMES, Settings

    bound = listen(host, port)
    with bound:
        local = is_loopback(bound)
        if not local and key is None:
            raise ZerotagError(
                f"others can reach {host}: set an API key in {_KEY_VARIABLE} or --api-key-file, or leave --host out"
            )
        from zerotag.serve.app import create_app

        logging.basicConfig(format="%(message)s", level=logging.WARNING)
        logging.getLogger("zerotag.serve").setLevel(logging.INFO)
        settings = Settings(api_key=key, host_names=LOOPBACK_NAMES | {host.lower()} if local else None)
        app = create_app(folders, settings, device=chosen_device(device))
        address = address_of(bound)
        typer.echo(f"{', '.join(folders)}: {address} (Ctrl-C ends it)")
        if open_page or (open_page is None and local and sys.stdout.isatty()):
            import webbrowser

            webbrowser.open(address)
        server = make_server(app)
        # Whoever presses Ctrl-C again is spared the tracebacks of all that did not end by itself.
        logging.getLogger("uvicorn.error").addFilter(lambda _: not server.force_exit)
        with suppress(KeyboardInterrupt):  # it has ended by then
            server.run(sockets=[bound])


def _folders(models: list[str]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for given in models:
        name, equals, folder = given.partition("=")
        path = Path(folder if equals else given)
        name = name if equals else path.absolute().name
        if not _NAME.fullmatch(name):
            raise ZerotagError(
                f"{name!r} is no name for a model; write NAME=DIR with letters, digits, . _ and - in NAME"
            )
        if name in folders:
            raise ZerotagError(f"two models are called {name!r}; write NAME=DIR to call one of them something else")
        folders[name] = path
    return folders


def _api_key(file: Path | None) -> str | None:
    if file is None:
        key, source = os.environ.get(_KEY_VARIABLE, ""), _KEY_VARIABLE
        if not key:
            return None
    else:
        try:
            key, source = file.read_text(encoding="utf-8").strip(), str(file)
        except (OSError, ValueError) as error:
            raise ZerotagError(f"{file} cannot be read as an API key: {error}") from None
    if not re.fullmatch(rf"[!-~]{{{_SHORTEST_KEY},}}", key):
        raise ZerotagError(
            f"the API key in {source} should be {_SHORTEST_KEY} or more letters, digits or signs without spaces"
        )
    return key
