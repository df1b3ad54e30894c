"""Run an A2A (Agent2Agent protocol) agent on functions: turns that survive the process."""

from __future__ import annotations

__version__ = "0.1.0"
