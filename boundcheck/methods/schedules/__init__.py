"""Schedules: how long clients work, when the server aggregates, and the rounds that follow from both."""

from boundcheck.methods.schedules.drawn import drawn_timetable as drawn_timetable
from boundcheck.methods.schedules.merge import fixed_timetable as fixed_timetable
from boundcheck.methods.schedules.plan import Plan as Plan
from boundcheck.methods.schedules.plan import plan_of as plan_of
from boundcheck.methods.schedules.policies import TIES as TIES
from boundcheck.methods.schedules.policies import Buffer as Buffer
from boundcheck.methods.schedules.policies import FirstToArrive as FirstToArrive
from boundcheck.methods.schedules.policies import Policy as Policy
from boundcheck.methods.schedules.policies import Ties as Ties
from boundcheck.methods.schedules.policies import WaitForAll as WaitForAll
from boundcheck.methods.schedules.policies import Window as Window
from boundcheck.methods.schedules.times import F0 as F0
from boundcheck.methods.schedules.times import F80 as F80
from boundcheck.methods.schedules.times import F80_LITERAL as F80_LITERAL
from boundcheck.methods.schedules.times import Exponential as Exponential
from boundcheck.methods.schedules.times import Fixed as Fixed
from boundcheck.methods.schedules.times import Spread as Spread
from boundcheck.methods.schedules.times import Times as Times
from boundcheck.methods.schedules.timetable import Timetable as Timetable
