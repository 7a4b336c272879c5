#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: filter.py PAGE
Prints a page of Markdown as Doxygen needs it, whose labels of headings are those of all pages together: each heading gets the label
PAGE-ANCHOR, and links to an anchor, of this page or of another, become links to that label. Code with an apostrophe, such as
`call f('a')`, gets two backticks, since Doxygen takes a backtick and an apostrophe for quotation marks. Other files are printed as
they are."""
import re
import sys
from pathlib import Path

path = Path(sys.argv[1])
text = path.read_text()
if path.suffix != '.md':
    sys.stdout.write(text)
    sys.exit()


def page(of):
    """A name of a page that no other has: pages of the modules are all called README."""
    of = (path.parent / of).resolve() if of else path.resolve()
    return re.sub(r'\W', '-', '-'.join(of.with_suffix('').parts[-2:])).lower()


def anchor(heading):
    return re.sub(r'[^\w\- ]', '', re.sub(r'[`*\\]', '', heading).lower()).replace(' ', '-')


def heading(match):
    return f'{match[1]} {match[2]} {{#{page("")}-{anchor(match[2])}}}'


pieces = re.split(r'(^```.*?^```$)', text, flags=re.M | re.S)
for i in range(0, len(pieces), 2):
    pieces[i] = re.sub(r'^(##+) (.+)$', heading, pieces[i], flags=re.M)
    pieces[i] = re.sub(r"(?<!`)`((?:[^`\n]|\n(?!\n))+)`(?!`)", lambda m: f'``{m[1]}``' if "'" in m[1] else m[0], pieces[i])
    pieces[i] = re.sub(r'\]\(((?:[\w./-]+\.md)?)#([\w-]+)\)', lambda m: f'](#{page(m[1])}-{m[2]})', pieces[i])
sys.stdout.write(''.join(pieces))
