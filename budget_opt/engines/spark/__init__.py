"""Releases with Spark: `spark.randomize(dataframe, allocation, release, row_id="id")`."""

from budget_opt.engines.spark.releasing import randomize
from budget_opt.engines.spark.sessions import local_session

__all__ = ["local_session", "randomize"]
