#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws what `11_sphere -picture NAME` has written: NAME.png, the vorticity of the truth, of the bare model and of the
model with the closure on globes, seen from far away above 30 degrees north.

usage: picture.py NAME
"""
import sys

try:
    import matplotlib
    import numpy
except ImportError:
    sys.exit("picture.py: no pictures without matplotlib and numpy (python3-matplotlib)")
matplotlib.use("agg")
import matplotlib.pyplot as plt

PIXELS, COLORS, LATITUDE, LONGITUDE = 240, 20, 30, 0


def read(name):
    with open(f"{name}.txt") as lines:
        _, rows, _, columns, *_ = next(lines).split()
        return numpy.loadtxt(lines).T.reshape(-1, int(rows), int(columns))


def positions(rows, columns):
    """Row and column, as real numbers, of what each pixel shows; not a number outside the globe."""
    right, up = numpy.meshgrid(numpy.linspace(-1, 1, PIXELS), numpy.linspace(1, -1, PIXELS))
    toward = numpy.sqrt(numpy.where(right**2 + up**2 < 1, 1 - right**2 - up**2, numpy.nan))
    tilt = numpy.radians(LATITUDE)
    north = up * numpy.cos(tilt) + toward * numpy.sin(tilt)
    outward = toward * numpy.cos(tilt) - up * numpy.sin(tilt)
    colatitude = numpy.arccos(numpy.clip(north, -1, 1))
    longitude = numpy.arctan2(right, outward) + numpy.radians(LONGITUDE)
    return colatitude / numpy.pi * rows - 0.5, longitude / (2 * numpy.pi) * columns


def globe(field):
    """The field at each pixel, linear between its rows and columns."""
    rows, columns = field.shape
    row, column = positions(rows, columns)
    shown = numpy.isfinite(row)
    row, column = numpy.clip(row[shown], 0, rows - 1), column[shown]
    above, left = numpy.floor(row).astype(int), numpy.floor(column).astype(int)
    below, right = numpy.minimum(above + 1, rows - 1), (left + 1) % columns
    down, across = row - above, column - left
    upper = field[above, left % columns] * (1 - across) + field[above, right] * across
    lower = field[below, left % columns] * (1 - across) + field[below, right] * across
    image = numpy.full(shown.shape, numpy.nan)
    image[shown] = upper * (1 - down) + lower * down
    return image


def draw(name):
    fields = read(name)
    largest = abs(fields[0]).max()
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.4), layout="constrained")
    for place, field, title in zip(axes, fields, ["truth", "bare model", "model with the closure"]):
        image = place.imshow(globe(field), extent=(-1, 1, -1, 1), vmin=-largest, vmax=largest, interpolation="nearest",
                             cmap=plt.get_cmap("RdBu_r", COLORS))
        place.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.4", linewidth=0.8))
        place.set_title(title)
        place.set_xlim(-1.02, 1.02)
        place.set_ylim(-1.02, 1.02)
        place.set_axis_off()
    figure.colorbar(image, ax=axes, label="vorticity", shrink=0.8)
    figure.savefig(f"{name}.png", dpi=80)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    draw(sys.argv[1])
