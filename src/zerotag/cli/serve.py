"""`zerotag serve`."""

from __future__ import annotations

import logging
import os
import re
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer

from zerotag.cli.options import Device, chosen_device
from zerotag.errors import ZerotagError
from zerotag.extras import needed
from zerotag.io.locks import only_us

_KEY_VARIABLE = "ZEROTAG_API_KEY"
_SHORTEST_KEY = 16
_NAME = re.compile(r"[\w.-]{1,100}")


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL_DIR...]", help="Model folders; NAME=DIR gives one another name."),
    ] = None,
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
    request_seconds: Annotated[
        float, typer.Option(help="Time limit of a request; its work then ends, with status 504.", min=0.1)
    ] = 60.0,
    shutdown_seconds: Annotated[
        float, typer.Option(help="Time for accepted requests to finish after Ctrl-C or SIGTERM.", min=0.0)
    ] = 30.0,
    workspace: Annotated[
        Path | None,
        typer.Option(
            help="Folder for files, trainings, models and corrections of the page. "
            "[on this machine alone: zerotag's folder among your settings]"
        ),
    ] = None,
    no_workspace: Annotated[
        bool, typer.Option("--no-workspace", help="Only label: nothing is trained, and nothing is stored.")
    ] = False,
    device: Device = None,
) -> None:
    """Show words on a page, train there, and label over HTTP.

    Ctrl-C or SIGTERM ends it after the requests it has accepted, or after --shutdown-seconds.
    """
    folders = _folders(models or [])
    if no_workspace and (workspace is not None or not folders):
        raise ZerotagError("--no-workspace needs a MODEL_DIR to label with, and no --workspace")
    key = _api_key(api_key_file)
    needed("the service", "serve", "fastapi", "httptools", "prometheus_client", "uvicorn")
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
        from zerotag.serve.workspace.settings import WorkspaceSettings

        logging.basicConfig(format="%(message)s", level=logging.WARNING)
        logging.getLogger("zerotag.serve").setLevel(logging.INFO)
        settings = Settings(
            api_key=key,
            host_names=LOOPBACK_NAMES | {host.lower()} if local else None,
            request_seconds=request_seconds,
            shutdown_seconds=shutdown_seconds,
        )
        place = _workspace(workspace, needed=not folders, local=local, unwanted=no_workspace)
        app = create_app(
            folders,
            settings,
            device=chosen_device(device),
            workspace=None if place is None else WorkspaceSettings(folder=place),
        )
        address = address_of(bound)
        typer.echo(f"{', '.join(folders) or 'no model yet'}: {address} (Ctrl-C ends it)")
        if open_page or (open_page is None and local and sys.stdout.isatty()):
            import webbrowser

            webbrowser.open(address)
        server = make_server(app)
        # Whoever presses Ctrl-C again is spared the tracebacks of all that did not end by itself.
        logging.getLogger("uvicorn.error").addFilter(lambda _: not server.force_exit)
        with suppress(KeyboardInterrupt):  # it has ended by then
            server.run(sockets=[bound])
        if not app.state.registry.is_idle:
            # Torch must not be met by the end of the interpreter in the midst of a batch.
            sys.stdout.flush()
            os._exit(130)


def _workspace(given: Path | None, *, needed: bool, local: bool, unwanted: bool) -> Path | None:
    """The folder of the workspace, if there is one: by default a person's own, which others do not get to use."""
    if unwanted:
        return None
    if given is not None:
        return given
    if not local:
        if needed:
            raise ZerotagError("others can reach this address: name a MODEL_DIR, or a --workspace that they may use")
        return None
    own = Path(typer.get_app_dir("zerotag")) / "workspace"
    try:
        with only_us(own / "workspace") if own.exists() else nullcontext():
            return own
    except ZerotagError:
        if needed:
            raise
        typer.echo(f"another service uses {own}: this one only labels; give it a --workspace of its own", err=True)
        return None


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
