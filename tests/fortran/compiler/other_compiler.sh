#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: other_compiler.sh BUILD CMAKE FC MPIF_FOLDER MPI_LIBRARIES MPIEXEC NUMPROC_FLAG DRAWS EVERY_NAME
# The Fortran module by another compiler FC than the library's: installs the built library under BUILD/fortran-other, makes
# the module there by build_module, and builds and runs a program with it. With all DRAWS (100) also the tests in Fortran
# and the tutorials. MPI's modules are for the compiler that made them, so FC is wrapped with those of mpi_f08.f90.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
build=$1/fortran-other cmake=$2 fc=$3 mpif=$4 mpiexec=$6 numproc=$7 draws=$8 every_name=$9
IFS=';' read -ra libraries <<<"$5"
if [[ ! -x $fc ]]; then
  echo "skipped: no other Fortran compiler than the one of this build, such as flang"
  exit 77
fi
prefix=$build/prefix mpi=$build/mpi
rm -rf "$build"
mkdir -p "$mpi"
"$cmake" --install "$1" --prefix "$prefix" >"$build/install.log"
kit=$prefix/share/tenon/fortran

echo "== $fc has no module mpi_f08 of its own"
if "$kit/build_module" "$fc" "$build/none" >"$build/none.log" 2>&1; then
  echo "fault: build_module found one"
  exit 1
fi
tr -s '\n ' ' ' <"$build/none.log" | grep -q 'no module mpi_f08 that .* can read.*-DTENON_MPI_F08=OFF' || {
  cat "$build/none.log"
  echo "fault: build_module does not name TENON_MPI_F08"
  exit 1
}

# Open MPI's MPI_Sizeof has kinds of numbers that not every compiler has.
grep -v mpif-sizeof "$mpif/mpif.h" >"$mpi/mpif.h"
(cd "$mpi" && "$fc" -c -I. -I"$mpif" "$here/mpi_f08.f90" && ar rc libmpi_f08.a mpi_f08.o)
cat >"$mpi/mpifort" <<END
#!/usr/bin/env bash
libraries=("$mpi/libmpi_f08.a" $(printf '"%s" ' "${libraries[@]}"))
for argument; do
  case \$argument in -c | -E | -print* | --version | -v) libraries=() ;; esac
done
exec "$fc" -I"$mpi" "\$@" "\${libraries[@]}"
END
chmod +x "$mpi/mpifort"

echo "== the module"
"$kit/build_module" "$mpi/mpifort" "$build/module" -DCMAKE_Fortran_FLAGS_RELEASE=-O0

echo "== a program by pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$build/module" -name tenon_fortran.pc)"):$(dirname "$(find "$prefix" -name tenon.pc)")
export PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs tenon_fortran)
(cd "$build" && "$mpi/mpifort" -o field "$source/tests/install/field.f90" "${flags[@]}" \
  -Wl,-rpath,"$(pkg-config --variable=libdir tenon)")
"$mpiexec" "$numproc" 1 "$build/field"
"$mpiexec" "$numproc" 4 "$build/field"
if ((draws < 100)); then
  exit 0
fi

echo "== communicators as integers alone"
"$kit/build_module" "$fc" "$build/integers" -DTENON_MPI_F08=OFF -DCMAKE_Fortran_FLAGS_RELEASE=-O0
cat >"$build/integers.f90" <<'END'
program integers
  use tenon
  implicit none
  include 'mpif.h'
  type(tenon_layer) :: layer
  call tenon_initialize()
  call tenon_layer_create_column_mlp(MPI_COMM_WORLD, [4, 3], layer)
  call tenon_destroy(layer)
  call tenon_finalize()
  print *, 'integers are communicators'
end program integers
END
PKG_CONFIG_PATH=$(dirname "$(find "$build/integers" -name tenon_fortran.pc)"):$PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs tenon_fortran)
(cd "$build" && "$mpi/mpifort" -o integers_program integers.f90 "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir tenon)")
"$mpiexec" "$numproc" 2 "$build/integers_program"

echo "== the tests and tutorials"
"$cmake" -S "$here" -B "$build/suite" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_Fortran_COMPILER="$mpi/mpifort" \
  -DKIT="$kit" -DEVERY_NAME="$every_name" -DMPIEXEC_EXECUTABLE="$mpiexec" -DCMAKE_BUILD_TYPE=Release
"$cmake" --build "$build/suite"
ctest --test-dir "$build/suite" --output-on-failure
