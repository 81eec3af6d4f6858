"""The scikit-learn estimator under its short name: `from zerotag.sklearn import WordLabeller`."""

from zerotag.integrations.sklearn import WordLabeller

__all__ = ["WordLabeller"]
