#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: house_counts.py [COMMIT...]

Prints counts of Tenon's sources (files, lines, comments, ...) as a table in Markdown. It has a column for
each COMMIT of the repository in the current folder; without COMMIT, one for the working tree. Commits are
read from the repository, and nothing is checked out.

Counted are the files in C, C++, CUDA, Fortran and Python in src. Files in folders named `generated`, also
those in include, are counted separately. A comment line has a comment and no code. The share of comments
is relative to the lines that are not empty; the licence line is not counted.
"""
import collections
import io
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile

HEADERS = (".hpp", ".h", ".cuh")
SOURCES = (".cpp", ".cu")
FILES = HEADERS + SOURCES + (".c", ".inc", ".f90", ".py")

OF_ROOM = "comment lines of .cpp, "
TEXT_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
MARK = "\N{PILCROW SIGN}"
CALL = re.compile(r"\bTENON_EXTERN\s+[\w\s*]+?\b(Tenon\w+)\s*\(")


def git(*words):
    return subprocess.run(("git",) + words, check=True, stdout=subprocess.PIPE).stdout


def files_of_commit(commit):
    """The files of src and include in a commit: {path: text}."""
    archive = tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit, "src", "include")))
    return {member.name: archive.extractfile(member).read().decode()
            for member in archive if member.isfile() and member.name.endswith(FILES)}


def files_of_tree():
    """The same of the working tree, with files that are new but not those that git ignores."""
    root = pathlib.Path(git("rev-parse", "--show-toplevel").decode().rstrip("\n"))
    listed = git("-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                 "src", "include")
    return {path: (root / path).read_text() for path in sorted(set(listed.decode().split("\0")))
            if path.endswith(FILES) and (root / path).is_file()}


def comment_share(texts):
    """(comment lines, lines that are not empty), without the line of the licence."""
    comments = filled = 0
    for text in texts:
        text = re.sub(r"[^\n]*SPDX-License-Identifier[^\n]*", "", text)
        # Of each line of a comment a mark is left, so that what is beside it is code.
        marked = TEXT_OR_COMMENT.sub(
            lambda match: match.group() if match.group().startswith('"') else
            re.sub(r"[^\n]+", MARK, match.group()), text)
        for line in marked.split("\n"):
            comments += set("".join(line.split())) == {MARK}
            filled += bool(line.strip())
    return comments, filled


def percent(share):
    comments, filled = share
    return f"{100 * comments / filled:.1f} %" if filled else "-"


def median(values):
    return f"{statistics.median(values):g}" if values else "-"


def folders(paths):
    """The median of the files in a folder, and the most with the folder that has them."""
    count = collections.Counter(path.rpartition("/")[0] for path in paths)
    if not count:
        return "-"
    fullest = min(count, key=lambda folder: (-count[folder], folder))
    return f"{median(count.values())}, at most {count[fullest]} ({fullest})"


def counts(files):
    """The rows of a column: {what: value}."""
    own = {path: text for path, text in files.items()
           if path.startswith("src/") and "/generated/" not in path}
    headers = [path for path in own if path.endswith(HEADERS)]
    public = {path: text for path, text in files.items()
              if path.startswith("include/") and path.endswith(".h")}
    lines = {path: text.count("\n") for path, text in files.items()}
    rows = {
        "files": len(own),
        "headers": len(headers),
        "lines written by hand": sum(lines[path] for path in own),
        "lines generated": sum(lines[path] for path in files if "/generated/" in path),
        "lines of a file, median": median([lines[path] for path in own]),
        "lines of a header, median": median([lines[path] for path in headers]),
        "files in a folder, median": folders(own),
        "sources (.cpp, .cu) in a folder, median": folders(p for p in own if p.endswith(SOURCES)),
        "public headers in C": len(public),
        "public C calls": sum(len(set(CALL.findall(text))) for path, text in public.items()
                              if path.startswith("include/tenon/")),
    }
    sources = collections.defaultdict(list)
    for path, text in own.items():
        if path.endswith(".cpp"):
            sources[path.split("/")[1]].append(text)
    rows["comment lines of .cpp"] = percent(comment_share(sum(sources.values(), [])))
    for room in sorted(sources):
        rows[OF_ROOM + room] = percent(comment_share(sources[room]))
    return rows


def table(columns):
    """Rows of Markdown from {column: {row: value}}; a row that one column lacks has a dash there."""
    names = dict.fromkeys(name for rows in columns.values() for name in rows)
    rooms = sorted(name for name in names if name.startswith(OF_ROOM))
    yield "| | " + " | ".join(columns) + " |"
    yield "| --- |" + " --- |" * len(columns)
    for name in [name for name in names if name not in rooms] + rooms:
        yield f"| {name} | " + " | ".join(str(rows.get(name, "-")) for rows in columns.values()) + " |"


def main():
    if any(word.startswith("-") for word in sys.argv[1:]):
        print(__doc__)
        return 2
    columns = {commit: counts(files_of_commit(commit)) for commit in sys.argv[1:]}
    if not columns:
        columns["working tree"] = counts(files_of_tree())
    print("\n".join(table(columns)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"'{' '.join(error.cmd)}' failed; run this in Tenon's repository, with commits that it has")
