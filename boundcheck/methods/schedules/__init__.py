"""Schedules: how long clients work, when the server aggregates, and the rounds that follow from both."""

from boundcheck.methods.schedules.drawn import drawn_timetable
from boundcheck.methods.schedules.merge import fixed_timetable
from boundcheck.methods.schedules.plan import Plan, plan_of
from boundcheck.methods.schedules.policies import TIES, Buffer, FirstToArrive, Policy, Ties, WaitForAll, Window
from boundcheck.methods.schedules.times import F0, F80, F80_LITERAL, Exponential, Fixed, Spread, Times
from boundcheck.methods.schedules.timetable import Timetable

__all__ = [
    "F0",
    "F80",
    "F80_LITERAL",
    "TIES",
    "Buffer",
    "Exponential",
    "FirstToArrive",
    "Fixed",
    "Plan",
    "Policy",
    "Spread",
    "Ties",
    "Times",
    "Timetable",
    "WaitForAll",
    "Window",
    "drawn_timetable",
    "fixed_timetable",
    "plan_of",
]
