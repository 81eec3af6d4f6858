"""The labeller of Spark under its short name: `zerotag.spark.labeller("model")`."""

from zerotag.integrations.spark import labeller

__all__ = ["labeller"]
