"""Asks an endpoint for tool calls and reports which rules it breaks (`llmcore verify`)."""

from llmcore.verifying.report import VerifyReport
from llmcore.verifying.verification import request_count, time_limit, verify

__all__ = ["VerifyReport", "request_count", "time_limit", "verify"]
