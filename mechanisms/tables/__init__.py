"""Descriptions of a run as plain tables: what claim files, schedules and the command line have in common."""

from . import stated  # noqa: F401 (it registers its tables)
