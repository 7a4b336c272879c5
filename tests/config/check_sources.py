#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_sources.py ROOT

Checks how ROOT/src is divided into files, and prints each fault with what to do:

  folder   a folder has at most 25 sources (.cpp and .cu; headers are not counted)
  header   a header has at least two users besides its own source. A header with one user is accepted if
           the two merged would have more than 350 lines, or two unnamed namespaces (two subjects)
  opening  a source (.cpp or .cu) begins, after the licence line, with a comment of at least two sentences
  declared the opening of a source without a header of its name, and without main(), names an existing header:
           that which declares what the source defines

A header's own source is the file with its name in the same folder. The users of a header are the other
files of ROOT/src and ROOT/tests that include it and name something that it declares; an include without
such a use does not count. Also accepted are a header whose only user is in another folder or in the
tests, and a header that is read by both compilers (C++ and CUDA). If one file is the only user of
several headers, either all of them can be merged into it, or none is reported.
"""
import collections
import pathlib
import re
import sys

MOST_SOURCES = 25
MOST_LINES = 350
SENTENCES = 2

SOURCES = (".cpp", ".cu")
HEADERS = (".hpp", ".h", ".cuh")
OF_DEVICE = (".cu", ".cuh")
READ = SOURCES + HEADERS + (".c", ".inc")

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# What looks like a declared name: of a type, a function, a macro, or a variable or constant.
DECLARED = re.compile(r"\b(?:class|struct|enum|union|concept|using)\s+(?:(?:class|struct)\s+)?(\w+)"
                      r"|\b(\w+)\s*\(|#\s*define\s+(\w+)|\b(\w+)\s*(?:\[[^\]]*\]\s*)?[={;,]")
WORDS = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "static_assert", "requires",
         "noexcept", "default", "delete", "const", "override", "final", "tenon", "once", "0"}
ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|al|eq|sec|sect|fig|no|resp|approx)\.",
                           re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?][)\"'*]*(?:\s|$)")
HEADER_NAME = re.compile(r"[\w/]+\.(?:hpp|cuh|h)\b")


def code(text):
    return COMMENT_OR_TEXT.sub(" ", text)


def words(text):
    return set(re.findall(r"\w+", text))


def declared(text):
    names = {name for match in DECLARED.finditer(code(text)) for name in match.groups() if name}
    return names - WORDS


class House:
    """The files below ROOT/src and ROOT/tests, by their paths from ROOT, and who uses which header."""

    def __init__(self, root):
        self.text = {path.relative_to(root).as_posix(): path.read_text()
                     for folder in ("src", "tests") for path in sorted((root / folder).rglob("*"))
                     if path.suffix in READ and path.is_file()}
        self.names = {path: words(code(text)) for path, text in self.text.items()}
        self.header_paths = {path for path in self.text if path.startswith("src/") and path.endswith(HEADERS)}
        self.header_paths |= {path.relative_to(root).as_posix() for path in (root / "include").rglob("*.h*")}
        self.users = self.find_users()

    def find_users(self):
        includers = collections.defaultdict(set)
        for path, text in self.text.items():
            for included in INCLUDE.findall(text):
                for found in (f"src/{included}", f"{path.rpartition('/')[0]}/{included}"):
                    if found in self.text and found != path:
                        includers[found].add(path)
        return {header: {path for path in paths if declared(self.text[header]) & self.names[path]}
                for header, paths in includers.items()}

    def sources(self):
        return [path for path in self.text if path.startswith("src/") and path.endswith(SOURCES)]

    def headers(self):
        """The headers of src but the public ones, which programs include."""
        return [path for path in self.text
                if path.startswith("src/") and path.endswith(HEADERS) and "/include/" not in path]

    def own_sources(self, header):
        stem = header.rpartition(".")[0]
        return [stem + suffix for suffix in SOURCES + (".c",) if stem + suffix in self.text]

    def lines(self, paths):
        return sum(self.text[path].count("\n") for path in paths)


def crowded_folders(house):
    count = collections.Counter(path.rpartition("/")[0] for path in house.sources())
    for folder, sources in sorted(count.items()):
        if sources > MOST_SOURCES:
            yield (f"{folder}: has {sources} sources (.cpp and .cu; headers are not counted); a folder "
                   f"has at most {MOST_SOURCES}. Divide it into folders by subject, or merge sources")


def room_of(path):
    return path.split("/")[1] if path.startswith("src/") else "tests"


def lone_headers(house):
    """The headers that one file alone uses, by that file: {user: [header]}; None for no user."""
    lone = collections.defaultdict(list)
    for header in house.headers():
        own = house.own_sources(header)
        users = house.users.get(header, set())
        others = users - set(own)
        readers = users | set(own) | {header}
        if len(others) > 1 or len({path.endswith(OF_DEVICE) for path in readers}) > 1:
            continue
        if not others:
            lone[own[0] if users else None].append(header)
        elif room_of(*others) == room_of(header):
            lone[others.pop()].append(header)
    return lone


def merged_lines(house, user, headers):
    """The lines of the longest file if the headers and their sources become part of the user and its."""
    own = {path for header in headers for path in house.own_sources(header)}
    if user.endswith(HEADERS):
        return max(house.lines([user, *headers]), house.lines(own | set(house.own_sources(user))))
    return house.lines({user, *headers} | own)


def merged_subjects(house, user, headers):
    """The unnamed namespaces of the source that merging makes: each has what is one subject's own."""
    sources = {path for header in headers for path in house.own_sources(header)}
    sources |= set(house.own_sources(user)) if user.endswith(HEADERS) else {user}
    return sum(len(re.findall(r"^namespace \{", house.text[path], re.MULTILINE)) for path in sources)


def unearned_headers(house):
    for user, headers in lone_headers(house).items():
        if user is None:
            for header in headers:
                yield f"{header}: no file uses it. Remove it, and what it declares"
            continue
        lines = merged_lines(house, user, headers)
        if lines > MOST_LINES or merged_subjects(house, user, headers) > 1:
            continue
        for header in headers:
            with_source = " with its source" if set(house.own_sources(header)) - {user} else ""
            others = f" ({len(headers)} headers that it alone uses)" if len(headers) > 1 else ""
            yield (f"{header}: is used by {user} alone; a header has two users beside its own source. "
                   f"Merge it{with_source} into that file, which then has at most {lines} lines{others}; "
                   f"above {MOST_LINES} it may stay")


def opening(text):
    """The text of the comments before anything else, but the licence."""
    text = re.sub(r"\A(?:.*\n)??.*SPDX-License-Identifier.*\n", "", text)
    comments = re.match(r"(?:\s*(?://[^\n]*|/\*.*?\*/))*", text, re.DOTALL).group()
    return re.sub(r"^\s*(?://+|/?\*+/?)|\*/", " ", comments, flags=re.MULTILINE)


def sentences(text):
    """How many sentences of two words or more the text has."""
    text = ABBREVIATIONS.sub("", text).replace("...", ",")
    ends = [match.end() for match in SENTENCE_END.finditer(text.strip())]
    pieces = [text.strip()[begin:end] for begin, end in zip([0, *ends], ends)]
    return sum(len(re.findall(r"\w+", piece)) >= 2 for piece in pieces)


def poor_openings(house):
    for path in house.sources():
        count = sentences(opening(house.text[path]))
        if count < SENTENCES:
            yield (f"{path}: opens with {('no sentence', 'one sentence')[count]}; write a comment of two or "
                   "more between the line of the licence and the first include: what the file does, and "
                   "the one thing to know about it")


def unnamed_headers(house):
    for path in house.sources():
        text, stem = house.text[path], path.rpartition(".")[0]
        if any(stem + suffix in house.text for suffix in HEADERS) or re.search(r"^int main\(", text, re.MULTILINE):
            continue
        named = HEADER_NAME.findall(opening(text))
        if sentences(opening(text)) >= SENTENCES and not any(
                f"/{header}".endswith(f"/{name}") for name in named for header in house.header_paths):
            yield (f"{path}: has no header of its name, and its opening names {' and '.join(named) or 'no header'}; "
                   "say there which header declares what this file defines, such as "
                   "\"The functions are members of class Layer (layer.hpp).\"")


def main():
    house = House(pathlib.Path(sys.argv[1]))
    faults = [f"fault: {rule}: {text}"
              for rule, found in (("folder", crowded_folders(house)), ("header", unearned_headers(house)),
                                  ("opening", poor_openings(house)), ("declared", unnamed_headers(house)))
              for text in found]
    if not house.sources():
        faults = [f"fault: {sys.argv[1]}/src has no sources"]
    print("\n".join(faults) if faults else
          f"{len(house.sources())} sources and {len(house.headers())} headers are divided as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
