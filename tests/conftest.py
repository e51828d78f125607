"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# tests carry no timing: a slow machine is not a failure
settings.register_profile("boundcheck", deadline=None)
settings.load_profile("boundcheck")
