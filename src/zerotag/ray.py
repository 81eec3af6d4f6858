"""The labeller of Ray Data under its short name: `from zerotag.ray import Labeller`."""

from zerotag.integrations.ray import Labeller

__all__ = ["Labeller"]
