# SPDX-License-Identifier: BSD-2-Clause
"""Recipe of Tenon for Spack, of the clone that it lies in: `spack repo add share/spack`, then `spack install tenon`."""

import re
from pathlib import Path

from spack.package import *

try:  # from Spack 1 on they are no longer in spack.package
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass

CLONE = Path(__file__).resolve().parents[4]
OWNER = dict(re.findall(r'^set\((TENON_\w+) "([^"]*)"\)', (CLONE / "config/owner.cmake").read_text(), re.MULTILINE))


class Tenon(CMakePackage, CudaPackage):
    """Distributed neural-network layers for MPI simulation codes."""

    git = OWNER["TENON_GIT"] or CLONE.as_uri()
    homepage = OWNER["TENON_URL"] or git

    license("BSD-2-Clause")

    version("main", branch="main")

    variant("shared", default=True, description="Build shared libraries")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("hdf5", default=True, description="Checkpoints by HDF5")
    variant("netcdf", default=False, description="Datasets in the classic formats of NetCDF")
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
    depends_on("googletest", type="test")
    depends_on("mpi")
    depends_on("blas")
    depends_on("onednn@2.6:3", when="+onednn")
    depends_on("fmt@9:")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("netcdf-c+mpi", when="+netcdf")
    depends_on("fftw-api@3", when="+fftw")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("petsc@3.18:+mpi~complex", when="+petsc")
    depends_on("cudnn@9.8:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("TENON_BUILD_TESTS", self.run_tests),
            self.define("TENON_BUILD_TUTORIALS", False),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TENON_FORTRAN", "fortran"),
            self.define_from_variant("TENON_HDF5", "hdf5"),
            self.define_from_variant("TENON_ONEDNN", "onednn"),
            self.define_from_variant("TENON_NETCDF", "netcdf"),
            self.define_from_variant("TENON_FFTW", "fftw"),
            self.define_from_variant("TENON_PETSC", "petsc"),
            self.define_from_variant("TENON_WITH_CUDA", "cuda"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_OpenMP", self.spec.satisfies("~openmp")),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_hwloc", self.spec.satisfies("~hwloc")),
        ]
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", list(self.spec.variants["cuda_arch"].value)))
        return args

    def test_check(self):
        """the installed command compares random operators and layers with their definition"""
        tenon = which(self.prefix.bin.tenon, required=True)
        tenon("check", "-n", "20")

    def test_info(self):
        """the installed command says what it was built with"""
        tenon = which(self.prefix.bin.tenon, required=True)
        assert "MPI library: " in tenon("info", output=str)
