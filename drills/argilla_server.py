"""Argilla's server without the services that it needs beside its database; runs in Argilla's environment, not in ours.

    python -P argilla_server.py PORT

Redis is a double of it in memory, and the search engine finds nothing: what is imported and exported lies in the
database.
"""

from __future__ import annotations

import sys
from typing import Any

import fakeredis
import redis
import uvicorn

_MEMORY = fakeredis.FakeServer()


def _connected(*_: object, **__: object) -> Any:
    return fakeredis.FakeStrictRedis(server=_MEMORY)


redis.from_url = _connected  # before Argilla asks for it

from argilla_server._app import create_server_app  # noqa: E402
from argilla_server.search_engine import SearchEngine  # noqa: E402


async def _done(*_: object, **__: object) -> bool:
    return True


async def _made(cls: Any) -> Any:
    return cls()


_methods = dict.fromkeys(SearchEngine.__abstractmethods__, _done) | {"new_instance": classmethod(_made)}
SearchEngine.registered_classes["elasticsearch"] = type("NoSearch", (SearchEngine,), _methods)

uvicorn.run(create_server_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
