# SPDX-License-Identifier: BSD-2-Clause
"""Recipe of Tenon for Spack, of the clone that it lies in: `spack repo add share/spack`, then `spack install tenon`."""

from pathlib import Path

from spack.package import *


class Tenon(CMakePackage):
    """Distributed neural-network layers for MPI simulation codes."""

    git = Path(__file__).resolve().parents[4].as_uri()
    homepage = git

    license("BSD-2-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Build the Fortran module")
    variant("hdf5", default=True, description="Checkpoints by HDF5")
    variant("petsc", default=False, description="Build the library for PETSc programs")
    variant("onednn", default=True, description="Convolutions of many channels in float32 by oneDNN")
    variant("openmp", default=True, description="Threads in the library's own loops")
    variant("fftw", default=False, description="Fourier transforms by FFTW (GPL) or MKL")
    variant("hwloc", default=True, description="Detect packages, caches and cores")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build", when="+petsc")
    depends_on("mpi")
    depends_on("blas")
    depends_on("onednn@2.6:3", when="+onednn")
    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("fftw-api@3", when="+fftw")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("petsc@3.18:+mpi~complex", when="+petsc")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("TENON_BUILD_TESTS", self.run_tests),
            self.define("TENON_BUILD_TUTORIALS", False),
            self.define_from_variant("TENON_FORTRAN", "fortran"),
            self.define_from_variant("TENON_HDF5", "hdf5"),
            self.define_from_variant("TENON_ONEDNN", "onednn"),
            self.define_from_variant("TENON_FFTW", "fftw"),
            self.define_from_variant("TENON_PETSC", "petsc"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_OpenMP", self.spec.satisfies("~openmp")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_hwloc", self.spec.satisfies("~hwloc")),
        ]
