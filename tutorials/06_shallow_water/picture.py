#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws what `06_shallow_water -fields NAME` has written: NAME.fields.png, the vorticity of truth, bare and closed
coarse grid and their errors, and NAME.errors.png, the error of the velocity over time.

usage: picture.py NAME
"""
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("picture.py: no pictures without matplotlib (python3-matplotlib)")
matplotlib.use("agg")
import matplotlib.pyplot as plt


def columns(path):
    with open(path) as lines:
        rows = [[float(word) for word in line.split()] for line in lines if not line.startswith("#")]
    return list(zip(*rows))


def draw_fields(name):
    x, y, *flows = columns(f"{name}.fields.txt")
    cells = len(set(x))
    length = cells * (x[1] - x[0])
    grid = lambda values: [values[row * cells : (row + 1) * cells] for row in range(cells)]
    truth, bare, closed = flows
    errors = [[a - b for a, b in zip(flow, truth)] for flow in (bare, closed)]
    largest = max(map(abs, truth))
    figure, axes = plt.subplots(2, 3, figsize=(9.5, 6), layout="constrained")
    panels = [("truth", truth, axes[0][0]), ("bare coarse grid", bare, axes[0][1]),
              ("with the closure", closed, axes[0][2]), ("bare - truth", errors[0], axes[1][1]),
              ("closure - truth", errors[1], axes[1][2])]
    for title, values, place in panels:
        signed = "-" in title
        image = place.imshow(grid(values), origin="lower", extent=(0, length, 0, length), vmin=-largest, vmax=largest,
                             cmap="RdBu_r" if signed else "cividis")
        place.set_title(title)
        if title in ("with the closure", "closure - truth"):
            label = "error of the vorticity / f" if signed else "vorticity / f"
            figure.colorbar(image, ax=axes[1 if signed else 0], label=label, shrink=0.85)
    axes[1][0].set_axis_off()
    for place in axes[0][0], axes[1][1]:
        place.set_ylabel("y / radius of deformation")
    for place in axes[0][0], axes[1][1], axes[1][2]:
        place.set_xlabel("x / radius of deformation")
    figure.savefig(f"{name}.fields.png", dpi=80)


def draw_errors(name):
    time, *models = columns(f"{name}.errors.txt")
    figure, place = plt.subplots(figsize=(6, 3.8), layout="constrained")
    names = ["bare coarse grid", "regression, fitted offline", "closure, single steps", "closure, through 8 steps"]
    for label, errors, style, color in zip(names, models, ["-", ":", "--", "-"],
                                           ["0.5", "tab:brown", "tab:blue", "tab:blue"]):
        place.semilogy(time[1:], errors[1:], style, color=color, label=label)
    place.set_xlabel("time f")
    place.set_ylabel("rms error of the velocity / wave speed")
    place.set_ylim(1e-3, 1)  # a model that blows up leaves the picture
    place.grid(alpha=0.3)
    place.legend()
    figure.savefig(f"{name}.errors.png", dpi=80)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw_fields(sys.argv[1])
    draw_errors(sys.argv[1])
