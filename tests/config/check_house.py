#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_house.py ROOT [--record]

Compares measures of ROOT with the limits in its tests/config/house_limits.json. A value worse than its limit is a fault. A value
better than its limit becomes the new limit with --record, which rewrites the file; limits only become stricter. For a measure
with a goal, the file lists the files, functions or folders that do not meet the goal yet, with their present values as limits:

  lines of a file       goal: at most 500
  lines of a function   goal: at most 50, in .cpp and .cu, from its opening brace to its closing one at the beginning of a line
  files of a folder     goal: at most 30 sources and headers
  comments of a room    goal: at least 6 % of the lines of its .cpp that are not empty
  columns               lines of C and C++ above 100 columns in src, include, tests and tutorials
  calls                 functions that the headers of include/tenon and of include/tenon/ext declare
  dynamic_casts         in src outside capi
  circles               pairs of modules of the Python package that import each other, goal: none
  words                 uses, in the sources and the manual, of unusual words for which WORDS has the usual one
"""
import collections
import json
import re
import sys
from pathlib import Path

from house_counts import CALL, comment_share

GOALS = {'lines of a file': 500, 'lines of a function': 50, 'files of a folder': 30, 'comments of a room': 6, 'circles': 0}
AT_LEAST = {'comments of a room'}
WORDS = {  # what is searched for, and the field's word
    'addend': (r'[Aa]ddend', 'contribution, partial sum'),
    'letter': (r'\b(?:letters?(?! of |,|")|Letters?\b(?! are lowered))', 'label'),
    'lodging': (r'[Ll]odg(?:ing|ed)', 'memory plan'),
    'crossing': (r'\bCrossing (?!c)|layer/core/crossing', 'staging of arguments'),
    'kMost, kLeast': (r'\bk(?:Most|Least)', 'kMax, kMin'),
    'asked': (r'\bAsked\b|\basked[_.(]', 'request, requested'),
    'follower': (r'[Ff]ollower', 'dependent layer'),
    'home': (r'\bHome\b', 'native layout'),
    'way to sum': (r'WayToSum|[Ww]ays? to sum', 'reduction method'),
    'patience': (r'\bPatience\b', 'wait policy'),
    'joint agreement': (r'JointAgreement', 'batched agreement'),
    'trials': (r'Trials', 'autotuning'),
    "callers'": (r"\bcallers'|Callers[A-Z]", "user's"),
    'word': (r'(?:layer|network)s? (?:has|have) words?\b|\bWordLists|\bFieldWord', 'parallelization'),
    'ghosts of a layer': (r'whyNoGhosts|[Cc]hoice(?:::|\.)ghosts', 'computed halo'),
    'so that': (r'\b[Ss]o that\b', 'to, such that'),
    'as ever': (r'\bas ever\b', 'as usual'), 'anew': (r'\banew\b', 'again'),
    'is no': (r'\b(?:is|are) no [a-z]', 'is not a'),
    'lies, stands': (r'\b(?:lies?|stands?)\b', 'is stored, is listed'),
    'room': (r'\b[Rr]ooms?\b', 'module'),
    'kept': (r'\bkept\b|\bKept', 'saved'),
}
CODE = ('.cpp', '.hpp', '.cu', '.cuh', '.h', '.c')
HEAD = re.compile(r'^[A-Za-z~][^=]*?([\w:~]+)\(')


def functions(text):
    """(name, lines) of the functions at the outermost level of a formatted source."""
    start = name = None
    for number, line in enumerate(text.split('\n')):
        if start is not None:
            if line.startswith('}'):
                yield name, number - start
                start = name = None
            continue
        if re.match(r'\S', line):
            head = HEAD.match(line)
            name = head[1] if head and not line.startswith(('namespace', 'class ', 'struct ', 'enum ', 'union ')) else None
        if name and line.endswith('{'):
            start = number
        elif line.endswith((';', '}')):
            name = None



def circles(package):
    imports = {}
    for path in package.rglob('*.py'):
        text = path.read_text()
        imports[path.stem] = set(re.findall(r'^\s*from \.(\w+) import', text, re.M)) | {
            name.strip() for names in re.findall(r'^\s*from \. import ([\w, ]+)', text, re.M) for name in names.split(',')}
    return {f'{a}, {b}': 1 for a in imports for b in imports[a] if a < b and a in imports.get(b, ())}


def measures(root):
    texts = {path.relative_to(root).as_posix(): path.read_text() for folder in ('src', 'include', 'tests', 'tutorials')
             for path in (root / folder).rglob('*') if path.suffix in CODE and 'generated' not in path.parts}
    own = {path: text for path, text in texts.items() if path.startswith('src/')}
    found = {measure: {} for measure in GOALS}
    found['lines of a file'] = {path: text.count('\n') for path, text in own.items()}
    rooms, folders = collections.defaultdict(list), collections.Counter()
    for path, text in own.items():
        folders[path.rpartition('/')[0]] += 1
        if path.endswith('.cpp'):
            rooms[path.split('/')[1]].append(text)
        if path.endswith(('.cpp', '.cu')):
            for name, lines in functions(text):
                key = f'{path} {name}'
                found['lines of a function'][key] = max(lines, found['lines of a function'].get(key, 0))
    found['files of a folder'] = dict(folders)
    for room, sources in rooms.items():
        comments, filled = comment_share(sources)
        found['comments of a room'][room] = round(100 * comments / filled, 1)
    found['circles'] = circles(root / 'src/interfaces/python/tenon')
    headers = {path: set(CALL.findall(text)) for path, text in texts.items() if path.startswith('include/tenon/')}
    found['columns'] = {'all': sum(len(line) > 100 for text in texts.values() for line in text.split('\n'))}
    found['calls'] = {'tenon': sum(len(calls) for path, calls in headers.items() if '/ext/' not in path),
                      'tenon/ext': sum(len(calls) for path, calls in headers.items() if '/ext/' in path)}
    prose = [path.read_text() for folder in ('src', 'doc') for path in (root / folder).rglob('*.md')]
    read = '\n'.join([*prose, *(text for path, text in texts.items() if path.startswith(('src/', 'include/')))])
    found['words'] = {f'{word} ({field})': len(re.findall(pattern, read)) for word, (pattern, field) in WORDS.items()}
    found['dynamic_casts'] = {'outside capi': sum(text.count('dynamic_cast<') for path, text in own.items()
                                                  if not path.startswith('src/capi/'))}
    return found


def meets(measure, value, limit):
    return value >= limit if measure in AT_LEAST else value <= limit


def record(found, limits):
    """The limits that hold from now on: today's values, no worse than those that held."""
    anew = {}
    for measure, values in found.items():
        goal = GOALS.get(measure)
        pick = max if measure in AT_LEAST else min
        held = limits.get(measure, values) # what had no limit of its own has the goal as its limit
        anew[measure] = {key: pick(value, held.get(key, value)) for key, value in sorted(values.items())
                         if goal is None or (key in held and not meets(measure, value, goal))}
    return anew


def main():
    root = Path(sys.argv[1])
    file = root / 'tests/config/house_limits.json'
    limits = json.loads(file.read_text()) if file.exists() else {}
    found = measures(root)
    if sys.argv[2:] == ['--record']:
        file.write_text(json.dumps(record(found, limits), indent=1) + '\n')
        return 0
    faults = stale = 0
    for measure, values in found.items():
        for key, value in values.items():
            limit = limits.get(measure, {}).get(key, GOALS.get(measure, 0))
            if limit is None or not meets(measure, value, limit):
                print(f'fault: {measure}: {key} has {value}, {"at least" if measure in AT_LEAST else "at most"} {limit} '
                      'is wanted')
                faults += 1
        goal = GOALS.get(measure)
        stale += sum(key not in values or (goal is not None and meets(measure, values[key], goal)) or values[key] != limit
                     for key, limit in limits[measure].items())
    if stale and not faults:
        print(f'{stale} limits are no longer reached; run: tests/config/check_house.py . --record')
    return int(faults > 0)


if __name__ == '__main__':
    sys.exit(main())
