# SPDX-License-Identifier: BSD-2-Clause
"""Finds and loads libtenon.

The library is the one of the environment variable TENON_DIR, the prefix of an installation, if
it is set; otherwise the one inside the package (in a wheel, which has one for each ABI of MPI), or
that of the installation or build to which the package belongs. mpi4py loads MPI before: both must
use the same MPI.

The symbols of the library and of its dependencies are loaded locally: with RTLD_GLOBAL its HDF5
would replace the one of h5py or netCDF4."""
import ctypes
import os
from pathlib import Path

from mpi4py import MPI

try:
    from .built import LIBRARY, VERSION  # written by the build
except ImportError as missing:
    raise ImportError('the package tenon is used from its sources: build it first, and take the folder python of the '
                      'build') from missing


def candidates():
    """Returns the possible paths of the library, the preferred one first."""
    prefix = os.environ.get('TENON_DIR')
    if prefix:
        found = sorted(Path(prefix).glob('lib*/libtenon.so')) + sorted(Path(prefix).glob('lib*/*/libtenon.so'))
        if not found:
            raise ImportError(f'TENON_DIR is {prefix}, and there is no libtenon.so in its lib')
        return [str(path) for path in found]
    here = Path(__file__).resolve().parent
    # LIBRARY is the library of the installation (its path from this folder) or of the build (absolute); None in a wheel.
    if LIBRARY is None:
        return [str(inside(here / 'lib'))]
    # If that file is missing, dlopen() searches the name with the version: in LD_LIBRARY_PATH and the system's folders.
    return [str((here / LIBRARY).resolve()), 'libtenon.so.' + '.'.join(VERSION.split('.')[:2])]


def inside(folder):
    """Returns the path of the wheel's library for the MPI that mpi4py has loaded."""
    known = sorted(path.name for path in folder.iterdir())
    name, version = MPI.get_vendor()
    # Handles are addresses in Open MPI, and integers in MPICH and those of its ABI.
    is_integer = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
    abi = 'openmpi' if name == 'Open MPI' else 'mpich' if is_integer else None
    if abi not in known:
        raise ImportError(f'mpi4py has loaded {name} {".".join(map(str, version))}, and this wheel of tenon has libraries for '
                          f'{" and ".join(known)}: install an mpi4py of one of these, or build tenon with this MPI and set TENON_DIR to '
                          'the prefix of its installation')
    return folder / abi / 'libtenon.so'


def load():
    failures = []
    for path in candidates():
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL), path
        except OSError as failure:
            failures.append(f'  {failure}')
    raise ImportError('libtenon cannot be loaded; set TENON_DIR to the prefix of its installation\n' + '\n'.join(failures))


def check_mpi(loaded, path):
    """Two MPI libraries in one process would crash it, so a mismatch is an error."""
    text = ctypes.create_string_buffer(4096)
    loaded.TenonGetInfo(b'build', text, ctypes.c_int64(len(text)), None)
    built = next((line.partition(':')[2] for line in text.value.decode().split('\n') if line.startswith('MPI')), '')
    name, _ = MPI.get_vendor()
    if built and name.lower() not in built.lower():
        raise ImportError(f'{path} was built with{built}, and mpi4py has loaded {name}: both must be of one MPI')


library, where = load()
check_mpi(library, where)
