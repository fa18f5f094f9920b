"""Fixtures of the cases. A case is one small file: what a user did, the right value, and the source in a line.

A case speaks of what users see: it calls the package against the sandbox or a server of raw sockets, and names no
private module. A case that fails is a defect of the product, not of the case.
"""

from __future__ import annotations

from support.environment import no_settings_from_outside, now, sandbox, time_scale
from support.fast_clock import short_pauses

__all__ = ["no_settings_from_outside", "now", "sandbox", "short_pauses", "time_scale"]
