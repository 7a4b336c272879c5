#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_elements.py ROOT

Checks that in ROOT/src only kernels, HostView and DTensor itself read or write the elements of a tensor.
Other code may only pass a pointer to elements on. Prints each line outside src/kernels that reads or
writes through such a pointer, with [], *, -> or an algorithm of the standard library.
"""
import pathlib
import re
import sys

ROOMS = ("declaration", "dtensor", "linop", "layer", "train", "io")
ALLOWED = ("dtensor/dtensor.hpp", "dtensor/dtensor.cpp", "dtensor/host_view.hpp",
           "layer/networks/model_proof.cpp")  # compares the numbers of a file

TYPE = r"(?:const\s+)?(?:T|U|S|float|double|std::u?int64_t)(?:\s+const)?"
POINTER = re.compile(rf"(?<![\w:<]){TYPE}\s*\*\s*(?:const\s+|__restrict\s+)?(\w+)")
FURTHER = re.compile(r",\s*\*\s*(\w+)")
AUTO = re.compile(r"auto\s*\*\s*(?:const\s+)?(\w+)\s*=[^;]*(?:mutableData|data)<")
ELEMENTS = r"(?:mutableData|data)<[^<>()]*>\(\)"
ALGORITHM = re.compile(r"(?:std::(?:copy|fill|transform|accumulate|inner_product|for_each|generate|swap_ranges"
                       r"|equal|max_element|min_element|reduce|iota)(?:_n)?|std::mem(?:cpy|set|move))\(")


def code(text):
    """The text without comments and strings, lines kept."""
    keep_lines = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', keep_lines, text, flags=re.DOTALL)


def blank(text, start, end):
    return text[:start] + " " * (end - start) + text[end:]


def scope(text, declared):
    """Where a name is known that is declared at an offset: in the block around it, or of a parameter in
    the body that follows."""
    depth = parentheses = 0
    for end in range(declared, len(text)):
        mark = text[end]
        parentheses += {"(": 1, ")": -1}.get(mark, 0)
        if mark == ";" and parentheses < 0 and depth == 0:
            return declared, declared  # a parameter of a function without a body
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth < 0 or depth == 0 and mark == "}" and parentheses < 0:
            return declared, end
    return declared, len(text)


def pointers(text):
    """Names of pointers to elements with their scopes, and the text without their declarators."""
    known = []
    for match in POINTER.finditer(text):
        known.append((match.group(1), *scope(text, match.end())))
        text = blank(text, match.start(), match.end())
        if not re.match(r"\s*[=,;]", text[match.end():]) or scope_is_parameter(text, match.end()):
            continue  # a parameter has no further declarators
        stop = text.find(";", match.end())
        for further in FURTHER.finditer(text, match.end(), stop):
            known.append((further.group(1), *scope(text, further.end())))
            text = blank(text, further.start(), further.end())
    for match in AUTO.finditer(text):
        known.append((match.group(1), *scope(text, match.end())))
    return known, AUTO.sub(lambda match: match.group().replace("*", " ", 1), text)


def scope_is_parameter(text, declared):
    opened = text[:declared].rpartition(";")[2].rpartition("{")[2].rpartition("}")[2]
    return opened.count("(") > opened.count(")")


def algorithm_arguments(text, start):
    depth, end = 1, start
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[start:end - 1]


def touches(name, text, begin, end):
    """Offsets in [begin, end) where elements are touched through that name."""
    found = {match.start() for match in re.compile(
        rf"(?<![\w.>:]){name}\s*\[|(?<![\w)\]])\*{name}\b(?!\s*[.(])").finditer(text, begin, end)}
    for match in ALGORITHM.finditer(text, begin, end):
        if re.search(rf"(?<![\w.>]){name}\b(?!\s*[.(])", algorithm_arguments(text, match.end())):
            found.add(match.start())
    return found


def faults(text):
    """Offsets where elements are touched."""
    text = code(text)
    known, text = pointers(text)
    found = {match.start() for match in
             re.finditer(rf"{ELEMENTS}\s*\[|(?<![\w)\]>])\*[\w.>()\[\]-]*\b{ELEMENTS}", text)}
    for match in ALGORITHM.finditer(text):
        if re.search(ELEMENTS, algorithm_arguments(text, match.end())):
            found.add(match.start())
    for name, begin, end in known:
        found |= touches(re.escape(name), text, begin, end)
    return sorted(found)


def main():
    source = pathlib.Path(sys.argv[1]) / "src"
    count = files = 0
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.[ch]pp")):
            name = path.relative_to(source).as_posix()
            files += 1
            text = path.read_text()
            for offset in [] if name in ALLOWED else faults(text):
                line = text.count("\n", 0, offset) + 1
                print(f"fault: src/{name}:{line}: {text.splitlines()[line - 1].strip()}")
                count += 1
    if not files:
        print(f"fault: {source} has no sources of {', '.join(ROOMS)}")
    elif not count:
        print(f"only kernels and HostView touch elements, in {files} files")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
