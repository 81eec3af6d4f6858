"""An S3 of this machine: moto's server, in a thread."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest


@contextmanager
def bucket() -> Iterator[str]:
    """The URL of a folder in a new bucket; skips where moto or s3fs is not installed."""
    server_module = pytest.importorskip("moto.server", reason="moto and s3fs are installed by make test-all")
    pytest.importorskip("s3fs", reason="moto and s3fs are installed by make test-all")
    pytest.importorskip("upath")
    import s3fs

    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    try:
        with mock.patch.dict(os.environ, environment):
            s3fs.S3FileSystem.clear_instance_cache()
            name = f"bucket-{uuid.uuid4().hex}"
            s3fs.S3FileSystem().mkdir(name)
            yield f"s3://{name}/store"
            s3fs.S3FileSystem.clear_instance_cache()
    finally:
        server.stop()
