#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: draw.py [FOLDER]
Draws the figures of the manual as SVG into FOLDER (default: the folder of this script). Uses only the standard library; a figure
has the colours of four ranks, which also differ in grey, and words in place of a legend where that is possible."""
import sys
from pathlib import Path

RANKS = ['#88b4e7', '#f0c36d', '#9ccf8f', '#d9a3c9']
INK, FAINT, PAPER = '#222222', '#8a8a8a', '#ffffff'


class Picture:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def rect(self, x, y, w, h, fill=PAPER, dash=False, line=INK, opacity=1):
        dashes = ' stroke-dasharray="4 3"' if dash else ''
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" fill-opacity="{opacity:g}" '
                          f'stroke="{line}"{dashes}/>')

    def circle(self, x, y, r, fill=PAPER, dash=False):
        dashes = ' stroke-dasharray="3 2"' if dash else ''
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill}" stroke="{INK}"{dashes}/>')

    def line(self, x1, y1, x2, y2, arrow=False, line=INK, dash=False):
        end = ' marker-end="url(#arrow)"' if arrow else ''
        dashes = ' stroke-dasharray="4 3"' if dash else ''
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{line}" stroke-width="1.3"{end}{dashes}/>')

    def text(self, x, y, text, size=13, anchor='middle', fill=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ''
        text = text.replace('&', '&amp;').replace('<', '&lt;')
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{weight}>{text}</text>')

    def svg(self):
        return '\n'.join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" font-family="Helvetica, Arial, sans-serif">',
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0,0 L10,5 L0,10 z" fill="{INK}"/></marker></defs>',
            f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>', *self.parts, '</svg>']) + '\n'


def properties():
    """What three ranks along an axis hold of a vector, by property, and the dual."""
    p = Picture(760, 330)
    for column, title in enumerate(('S0: sharded', 'B: broadcast', 'P: partial', 'R: root')):
        x = 30 + 185 * column
        p.text(x + 70, 24, title, 15, bold=True)
        for rank in range(3):
            y = 50 + 62 * rank
            if column == 0:
                p.text(x + 70, y - 4, f'rank {rank}', 11, fill=FAINT)
            for element in range(6):
                held = {0: element // 2 == rank, 1: True, 2: True, 3: rank == 0}[column]
                if held:
                    p.rect(x + 23 * element, y, 23, 24, RANKS[rank])
                    label = f'x{element}' if column != 2 else f'a{element}{rank}'
                    p.text(x + 23 * element + 11.5, y + 16, label, 10 if column != 2 else 8)
                else:
                    p.rect(x + 23 * element, y, 23, 24, dash=True, line=FAINT)
            if column == 2 and rank < 2:
                p.text(x + 70, y + 43, '+', 16)
        words = (('the value: the blocks', 'one after the other', 'its own dual'), ('the value: any one copy', '', 'dual: P'),
                 ('the value: the sum', '', 'dual: B'), ('the value: that of rank 0', '', 'its own dual'))[column]
        for i, word in enumerate(words):
            p.text(x + 70, 250 + 20 * i, word, 12, bold=i == 2)
    return p


def halo():
    """A halo exchange of width 1 between three ranks, and its adjoint."""
    p = Picture(800, 330)
    size = 34

    def row(y, title, adjoint):
        p.text(20, y - 14, title, 14, 'start', bold=True)
        for rank in range(3):
            x = 40 + 250 * rank
            low, high = rank > 0, rank < 2
            for element in range(-1, 5):
                ghost = element in (-1, 4)
                if ghost and not (low if element < 0 else high):
                    continue
                of = rank + (-1 if element < 0 else 1) if ghost else rank
                p.rect(x + size * (element + 1), y, size, 30, RANKS[of], dash=ghost)
                index = 4 * rank + element
                p.text(x + size * (element + 1) + size / 2, y + 20, f'y{index}' if adjoint else f'x{index}', 12)
            p.text(x + size * 3, y + 48, f'rank {rank}', 11, fill=FAINT)
        for rank in range(2):
            left, right = 40 + 250 * rank + size, 40 + 250 * (rank + 1) + size
            pairs = [(left + 3.5 * size, right - .5 * size), (right + .5 * size, left + 4.5 * size)]
            for k, (source, target) in enumerate(pairs):
                if adjoint:
                    source, target = target, source
                top = y + 60 + 16 * k
                p.line(source, y + 32, source, top, dash=True, line=FAINT)
                p.line(source, top, target, top, line=INK)
                p.line(target, top, target, y + 33, arrow=True)

    row(50, 'Halo exchange: each rank gets copies of its neighbours\' elements (dashed: ghost cells)', False)
    row(200, 'Its adjoint: what is in the ghost cells goes back, and is added to the elements at their owners', True)
    p.text(20, 315, 'The same messages, with senders and receivers exchanged: <F x, y> = <x, F* y>.', 13, 'start')
    return p


def product():
    """The 1.5-D product y = x W^T on a process grid of 2 x 2."""
    p = Picture(800, 320)

    def matrix(x, y, title, rows, columns, colour, w=96, h=96):
        p.text(x + w / 2, y - 26, title, 14, bold=True)
        for i in range(rows):
            for j in range(columns):
                p.rect(x + w * j / columns, y + h * i / rows, w / columns, h / rows, colour(i, j))

    p.text(20, 24, 'y[n,o] = x[n,i] W[o,i] on a 2 x 2 process grid: its rows divide the batch n, its columns the outputs o',
           13, 'start')
    for k in range(4):
        p.rect(40 + 44 * (k % 2), 100 + 44 * (k // 2), 44, 44, RANKS[k])
        p.text(62 + 44 * (k % 2), 127 + 44 * (k // 2), f'{k // 2},{k % 2}', 12)
    p.text(84, 74, 'processes', 14, bold=True)
    matrix(220, 100, 'x: S0,B', 2, 1, lambda i, j: '#dddddd' if i else '#f4f4f4')
    p.text(268, 130, 'to 0,0 and 0,1', 11)
    p.text(268, 178, 'to 1,0 and 1,1', 11)
    matrix(400, 100, 'W: B,S0', 2, 1, lambda i, j: '#dddddd' if i else '#f4f4f4')
    p.text(448, 130, 'to 0,0 and 1,0', 11)
    p.text(448, 178, 'to 0,1 and 1,1', 11)
    matrix(580, 100, 'y: S0,S1', 2, 2, lambda i, j: RANKS[2 * i + j])
    p.text(355, 152, 'times', 13)
    p.text(540, 152, 'gives', 13)
    p.text(20, 240, 'Forward: nothing is sent; each process multiplies its blocks.', 13, 'start')
    p.text(20, 262, 'Adjoint: dx is a partial sum over each row of the grid (the dual of B is P), dW over each column; one reduction each.', 13, 'start')
    p.text(20, 290, 'Batch parallelism is the grid 4 x 1, parallelism of outputs the grid 1 x 4; a plan chooses for each layer.', 13, 'start')
    return p


def levels():
    """A sum by levels: within nodes by shared memory, between nodes each rank its share."""
    p = Picture(800, 330)
    titles = ('1. in a node: reduce-scatter', '2. between nodes: all-reduce', '3. in a node: all-gather')
    for step, title in enumerate(titles):
        x = 15 + 250 * step
        p.text(x + 115, 24, title, 13, bold=True)
        for node in range(2):
            y = 55 + 130 * node
            p.rect(x, y, 230, 92, '#f6f6f6')
            p.text(x + 6, y + 86, f'node {node}', 11, 'start', FAINT)
            for rank in range(4):
                rx = x + 14 + 54 * rank
                for share in range(4):
                    mine = share == rank
                    fill = {0: RANKS[rank] if mine else PAPER, 1: RANKS[rank] if mine else PAPER, 2: RANKS[share]}[step]
                    p.rect(rx, y + 10 + 15 * share, 40, 15, fill)
        if step == 1:
            for rank in range(4):
                rx = x + 34 + 54 * rank
                p.line(rx, 148, rx, 184, arrow=True)
                p.line(rx, 184, rx, 148, arrow=True)
    p.text(15, 300, 'Each of the four ranks of a node sums one quarter, exchanges it alone with the other node, and reads the rest beside it.', 12, 'start')
    p.text(15, 320, 'The sum of an element is one fixed tree, and therefore all copies have the same bits.', 12, 'start')
    return p


def mesh():
    """A mesh on two ranks: nodes, ghosts and edges."""
    p = Picture(800, 300)
    nodes = [(0, 60, 90), (0, 60, 180), (0, 150, 60), (0, 150, 140), (0, 150, 220), (1, 250, 90), (1, 250, 190), (1, 340, 60), (1, 340, 140), (1, 340, 230)]
    edges = [(0, 1), (0, 2), (0, 3), (1, 3), (1, 4), (2, 3), (3, 4), (2, 5), (3, 5), (3, 6), (4, 6), (5, 6), (5, 7), (5, 8), (6, 8), (6, 9), (7, 8), (8, 9)]
    for a, b in edges:
        p.line(*nodes[a][1:], *nodes[b][1:], line=FAINT)
    for i, (rank, x, y) in enumerate(nodes):
        p.circle(x, y, 15, RANKS[rank])
        p.text(x, y + 4, str(10 * (i * 7 % 10) + i), 11)
    p.text(200, 28, 'a mesh, each node with an id', 14, bold=True)
    for rank, (owned, ghosts) in enumerate((([0, 1, 2, 3, 4], [5, 6]), ([5, 6, 7, 8, 9], [2, 3, 4]))):
        y = 75 + 95 * rank
        p.text(430, y - 12, f'the array of rank {rank}: its own nodes, then ghosts', 12, 'start', bold=True)
        for k, i in enumerate(owned + ghosts):
            p.rect(430 + 40 * k, y, 40, 30, RANKS[nodes[i][0]], dash=i in ghosts)
            p.text(450 + 40 * k, y + 20, str(10 * (i * 7 % 10) + i), 11)
    p.text(430, 240, 'The operator of an index map fills the ghosts; its adjoint', 12, 'start')
    p.text(430, 258, 'adds them at their owners. An edge is at the owner of its', 12, 'start')
    p.text(430, 276, 'target, and its source can be a ghost.', 12, 'start')
    return p


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (properties, halo, product, levels, mesh):
        (folder / f'{draw.__name__}.svg').write_text(draw().svg())


main()
