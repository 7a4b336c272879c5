# SPDX-License-Identifier: BSD-2-Clause
"""The values of parameters in files of torch.export.save(). Once a network is set up, Tenon has them
in its own memory, and reads the rest of the file only, for inputs of other extents. A copy of the
network is made of a file in which they are zeros, and gets its values from the network."""
from __future__ import annotations

import ctypes
import json
import os
import struct
import zipfile

KEEP_SIZE, PUNCH_HOLE = 1, 2  # modes of Linux's fallocate()
PIECE = 1 << 24               # bytes that are written at once
PAGE = 1 << 16                # bytes, a multiple of the blocks of file systems
END = 1 << 17                 # bytes, more than the longest comment behind a directory
LOCAL_HEADER = 30             # bytes before a member's name; the lengths of name and extra field are the last of them


def parameters_in(archive: zipfile.ZipFile) -> set[str]:
    """Returns the names of the members of an archive that have parameters only."""
    found: set[str] = set()
    for name in archive.namelist():
        folder, is_weights, _ = name.partition('/data/weights/')
        if is_weights and name.endswith('_weights_config.json'):
            entries = json.loads(archive.read(name))['config'].values()
            parts = {entry['path_name'] for entry in entries} - {entry['path_name'] for entry in entries if not entry['is_param']}
            found.update(f'{folder}/data/weights/{part}' for part in parts)
    return found


def pages_of_parameters(path: str) -> list[tuple[int, int]]:
    """Returns where the pages of a file begin and end that have elements of one parameter only. Tenon compares the first
    bytes of the file, its headers, and the end, where it looks for the directory, before it reads the file again."""
    found, end = [], os.path.getsize(path) - END
    with zipfile.ZipFile(path) as archive, open(path, 'rb') as file:
        for member in map(archive.getinfo, sorted(parameters_in(archive))):
            file.seek(member.header_offset + LOCAL_HEADER - 4)
            lengths = struct.unpack('<2H', file.read(4))
            begin = member.header_offset + LOCAL_HEADER + sum(lengths)
            first, last = -(-begin // PAGE) * PAGE, min(begin + member.compress_size, end) // PAGE * PAGE
            if first < last:
                found.append((first, last))
    return found


def write_zeros(path: str, target: str) -> None:
    """Writes the same file with zeros in place of parameters, and their checksums."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, 'w') as made:
        parameters = parameters_in(archive)
        for member in archive.infolist():
            if member.filename not in parameters:
                made.writestr(member.filename, archive.read(member))
                continue
            with made.open(member.filename, 'w', force_zip64=member.file_size >= zipfile.ZIP64_LIMIT) as file:
                for begin in range(0, member.file_size, PIECE):
                    file.write(bytes(min(PIECE, member.file_size - begin)))
    drop_parameters(target)


def drop_parameters(path: str) -> None:
    """Gives the pages of the parameters in a file back to the file system: they are zeros from then on. Where
    the system cannot do so, they remain, which has no other effect."""
    fallocate = getattr(ctypes.CDLL(None), 'fallocate', None)
    if fallocate is None:
        return
    pages = pages_of_parameters(path)
    file = os.open(path, os.O_RDWR)
    try:
        for first, last in pages:
            if fallocate(file, PUNCH_HOLE | KEEP_SIZE, ctypes.c_int64(first), ctypes.c_int64(last - first)) != 0:
                return
    finally:
        os.close(file)
