# SPDX-License-Identifier: BSD-2-Clause
"""Errors of Tenon as exceptions."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calls import ErrorCode

VALUES = {'TENON_TRUE': 'True', 'TENON_FALSE': 'False', 'NULL': 'None'}


def in_python(message: str, names: dict[str, str]) -> str:
    """Returns a message of C with the names of Python's calls, which `names` has, and values."""
    def spoken(match: re.Match[str]) -> str:
        name = match[0]
        if name in VALUES:
            return VALUES[name]
        if name.startswith('TENON_ERR_'):
            return f'ErrorCode.{name.removeprefix("TENON_")}'
        return names.get(name, name)
    return re.sub(r'\b(?:Tenon[A-Z]\w+(?=\(\))|TENON_(?:TRUE|FALSE|ERR_\w+)|NULL)\b', spoken, message)


class Error(Exception):
    """An error of Tenon: `code` is an ErrorCode, `message` tells what was passed, what was
    expected and what to change, and `report` is Tenon's record of it, with its call stack in C. Its cause is the
    exception of a user function that was thrown inside a call of Tenon.

    As in C, an error that other ranks do not know, as in Layer.apply() on several ranks, ends
    the program."""

    def __init__(self, code: ErrorCode, message: str, report: str = '') -> None:
        super().__init__(message)
        self.code, self.message, self.report = code, message, report

    def __str__(self) -> str:
        return f'[{self.code.name}] {self.message}'
