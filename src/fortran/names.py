# SPDX-License-Identifier: BSD-2-Clause
"""Converts names of the C API to names of the Fortran module, and breaks lines of generated Fortran sources."""
import textwrap

from headers import words

MAX_NAME, WIDTH = 63, 110


def snake(name):
    """Returns a name in lower case with underscores: TenonDTensorAXPBY is tenon_dtensor_axpby, TenonLinearOp is
    tenon_linearop, and ghostsLow is ghosts_low."""
    name = name.replace('DTensor', 'Dtensor').replace('LinearOp', 'Linearop')
    return '_'.join(words(name)).lower()


def fortran_name(name):
    """Like snake(), but ends the script if a name with the longest suffix would exceed Fortran's limit."""
    result = snake(name)
    if len(result) > MAX_NAME - len('_int64_f08_c'):
        raise SystemExit(f'{name}: a name in Fortran has at most {MAX_NAME} characters')
    return result


class_name = fortran_name


def wrap(start, items, end=''):
    """Joins start, items separated by commas, and end, with continuation lines."""
    lines, line = [], start
    for i, item in enumerate(items):
        piece = item + (', ' if i + 1 < len(items) else end)
        if len(line) + len(piece) > WIDTH and line.strip():
            lines.append(line.rstrip() + ' &')
            line = ' ' * (len(start) - len(start.lstrip()) + 2)
        line += piece
    return lines + [line if items else start + end]


def comment(text):
    """Returns a text as comment lines of a module's contents."""
    return ['  ! ' + line for line in textwrap.wrap(text, WIDTH - 4)]
