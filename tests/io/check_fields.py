#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_fields.py FOLDER
Reads the series that write_fields has written in the way of ParaView: names and shapes from the XML alone, and the
data by h5dump. Compares times, grids and values with those that write_fields must have written."""
import array
import math
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

NZ, NY, NX = 4, 5, 7
TIMES = [(0, 0.0), (10, 2.5), (20, 5.0)]  # step 30 is of an interrupted run


def value(step, component, z, y, x):
    return 1000 * component + step + 100 * z + 10 * y + 0.5 * x


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f'{what}: {found}, expected {wanted}')


def numbers(text, kind=float):
    return [kind(word) for word in text.split()]


def stored(folder, item):
    """All numbers of a dataset, as its item describes them."""
    file, path = item.text.strip().split(':')
    kind = {('Float', '4'): 'f', ('Float', '8'): 'd', ('Int', '8'): 'q',
            ('Int', '4'): 'i'}[item.get('NumberType'), item.get('Precision')]
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(['h5dump', '-d', path, '-b', 'LE', '-o', raw.name, str(folder / file)], check=True,
                       stdout=subprocess.DEVNULL)
        cells = array.array(kind)
        cells.frombytes(Path(raw.name).read_bytes())
    expect(len(cells), math.prod(numbers(item.get('Dimensions'), int)), f'{path}: number of elements')
    return list(cells)


def selected(folder, item):
    """The numbers of an item, which may be a hyperslab of another."""
    if item.get('ItemType') != 'HyperSlab':
        return stored(folder, item)
    slab, whole = item.findall('DataItem')
    shape = numbers(whole.get('Dimensions'), int)
    rank = len(shape)
    words = numbers(slab.text, int)
    expect(numbers(slab.get('Dimensions'), int), [3, rank], 'dimensions of a hyperslab')
    start, stride, count = words[:rank], words[rank:2 * rank], words[2 * rank:]
    offsets = [0]
    for d in range(rank):
        step = math.prod(shape[d + 1:])
        offsets = [o + (start[d] + i * stride[d]) * step for o in offsets for i in range(count[d])]
    cells = stored(folder, whole)
    expect(len(offsets), math.prod(numbers(item.get('Dimensions'), int)), 'elements of a hyperslab')
    return [cells[o] for o in offsets]


def check(folder, name, points, origin, spacing, center, fields):
    """fields: {name: value of (step, z, y, x)}"""
    series = xml.parse(folder / f'{name}.xmf').getroot().find('Domain/Grid')
    expect((series.get('GridType'), series.get('CollectionType')), ('Collection', 'Temporal'), name)
    grids = series.findall('Grid')
    expect([float(grid.find('Time').get('Value')) for grid in grids], [time for _, time in TIMES], f'{name}: times')
    for grid, (step, _) in zip(grids, TIMES):
        topology, geometry = grid.find('Topology'), grid.find('Geometry')
        expect(topology.get('TopologyType'), '3DCoRectMesh', name)
        expect(geometry.get('GeometryType'), 'ORIGIN_DXDYDZ', name)
        expect(numbers(topology.get('Dimensions'), int), points, f'{name}: points')
        expect([numbers(item.text) for item in geometry.findall('DataItem')], [origin, spacing], f'{name}: geometry')
        values = [p - 1 for p in points] if center == 'Cell' else points
        places = [(z, y, x) for z in range(values[0]) for y in range(values[1]) for x in range(values[2])]
        found = {attribute.get('Name'): attribute for attribute in grid.findall('Attribute')}
        expect(sorted(found), sorted(fields), f'{name}: fields')
        for field, of in fields.items():
            attribute = found[field]
            expect((attribute.get('Center'), attribute.get('AttributeType')), (center, 'Scalar'), field)
            item = attribute.find('DataItem')
            expect(numbers(item.get('Dimensions'), int), values, f'{field}: dimensions')
            expect(selected(folder, item), [of(step, *place) for place in places], f'{name} {field} at step {step}')


def rows(values, columns):
    return [tuple(values[i:i + columns]) for i in range(0, len(values), columns)]


def check_mesh(folder, name, is_joined):
    """Cells of 1 x 2, the last one first, whose corners are counterclockwise from the lower left."""
    series = xml.parse(folder / f'{name}.xmf').getroot().find('Domain/Grid')
    grids = series.findall('Grid')
    expect([float(grid.find('Time').get('Value')) for grid in grids], [time for _, time in TIMES], f'{name}: times')
    cells = [(y, x) for y in range(NY) for x in range(NX)][::-1]
    for grid, (step, _) in zip(grids, TIMES):
        topology, geometry = grid.find('Topology'), grid.find('Geometry')
        expect((topology.get('TopologyType'), topology.get('NumberOfElements'), geometry.get('GeometryType')),
               ('Quadrilateral', str(NY * NX), 'XY'), name)
        corners = rows(stored(folder, topology.find('DataItem')), 4)
        places = rows(stored(folder, geometry.find('DataItem')), 2)
        if is_joined:
            expect(places, [(x, 2 * y) for y in range(NY + 1) for x in range(NX + 1)], f'{name}: nodes')
        else:
            expect(sorted(c for cell in corners for c in cell), list(range(4 * NY * NX)), f'{name}: corners')
        expect([[places[c] for c in cell] for cell in corners],
               [[(x, 2 * y), (x + 1, 2 * y), (x + 1, 2 * y + 2), (x, 2 * y + 2)] for y, x in cells], f'{name}: cells')
        found = {a.get('Name'): (a.get('Center'), selected(folder, a.find('DataItem'))) for a in grid.findall('Attribute')}
        wanted = {'east': ('Cell', [value(step, 0, 0, y, x) for y, x in cells]),
                  'north': ('Cell', [value(step, 1, 0, y, x) for y, x in cells])}
        if is_joined:
            wanted['T'] = ('Node', [value(step, 0, 0, y, x) for y in range(NY + 1) for x in range(NX + 1)])
        expect(found, wanted, f'{name}: fields')


folder = Path(sys.argv[1])
check(folder, 'plane', [2, NY + 1, NX + 1], [0, -1, 2.5], [0.25, 0.5, 0.25], 'Cell',
      {'u': lambda s, z, y, x: value(s, 0, 0, y, x), 'v': lambda s, z, y, x: value(s, 1, 0, y, x),
       'p': lambda s, z, y, x: s, 'kind': lambda s, z, y, x: -s})
check(folder, 'volume', [NZ, NY, NX], [0, 0, 0], [1, 1, 1], 'Node', {'T': lambda s, z, y, x: value(s, 0, z, y, x)})
check_mesh(folder, 'mesh', True)
check_mesh(folder, 'loose', False)
print('four series are right')
