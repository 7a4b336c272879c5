# SPDX-License-Identifier: BSD-2-Clause
"""Errors of Tenon as exceptions."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import ErrorCode


class Error(Exception):
    """An error of Tenon: `code` is an ErrorCode, `message` tells what was passed, what was
    expected and what to change, and `report` is the record with its call stack. Its cause is the
    exception of a user function that was thrown inside a call of Tenon.

    As in C, an error that other ranks do not know, as in Layer.apply() on several ranks, ends
    the program."""

    def __init__(self, code: ErrorCode, message: str, report: str = '') -> None:
        super().__init__(message)
        self.code, self.message, self.report = code, message, report

    def __str__(self) -> str:
        return f'[{self.code.name}] {self.message}'
