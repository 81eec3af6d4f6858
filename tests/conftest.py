"""Settings for the whole suite: no network, no deadlines that a busy machine would miss."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "true"

from hypothesis import settings

settings.register_profile("zerotag", deadline=None)
settings.load_profile("zerotag")
