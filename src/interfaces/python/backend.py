# SPDX-License-Identifier: BSD-2-Clause
"""What pip calls to build the package from its sources (PEP 517): CMake builds the library with the MPI that mpicc belongs to, and
the target `wheel` makes the wheel.

    pip install .                                             # in a clone; needs the libraries of config/packages.txt
    CMAKE_ARGS="-DTENON_FFTW=OFF" pip install .               # with options of CMake
    pip install -C build-dir=build .                          # with a build folder that exists

Sources for another machine are the tarball of config/release."""
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class UnsupportedOperation(Exception):
    """The name by which PEP 517 knows it."""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get('build-dir')
    with tempfile.TemporaryDirectory(prefix='tenon-build-') as own:
        build = Path(given or own).resolve()
        if not (build / 'CMakeCache.txt').exists():
            run('cmake', '-S', ROOT, '-B', build, '-DTENON_BUILD_TESTS=OFF', '-DTENON_BUILD_TUTORIALS=OFF', '-DTENON_FORTRAN=OFF',
                '-DTENON_PETSC=OFF', '-DTENON_PYTHON=ON', *shlex.split(os.environ.get('CMAKE_ARGS', '')))
        for old in build.glob('tenon-*.whl'):
            old.unlink()
        run('cmake', '--build', build, '--target', 'wheel', '--parallel', os.environ.get('CMAKE_BUILD_PARALLEL_LEVEL', str(os.cpu_count())))
        made, = build.glob('tenon-*.whl')
        shutil.copy(made, wheel_directory)
        return made.name


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation('the tarball of the sources is made by config/release')


def run(*command):
    subprocess.run(list(map(str, command)), check=True)
