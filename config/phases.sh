# SPDX-License-Identifier: BSD-2-Clause
# Sourced by config/demo and config/check: the phases that they share, each with its time.

tenon_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# tenon_phase NAME COMMAND...: runs the command, prints how long it took, and returns its status.
tenon_phase() {
  local name=$1 begin=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  echo "== $name: $((SECONDS - begin)) s$([[ $status -eq 0 ]] || echo ", failed")"
  return "$status"
}

# The number of cores to build and test on. Plain nproc prints OMP_NUM_THREADS if that is set.
tenon_cores() {
  env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# Use ccache if it is installed: with the compiler's own list of headers, so that a cold build does not
# preprocess each source twice.
export CCACHE_DEPEND=${CCACHE_DEPEND:-1}
tenon_launcher=()
if command -v ccache >/dev/null; then
  tenon_launcher=(-DCMAKE_{C,CXX,CUDA}_COMPILER_LAUNCHER=ccache)
fi

# tenon_configure FOLDER OPTION...: a release build in FOLDER.
tenon_configure() {
  local folder=$1
  shift
  cmake -S "$tenon_root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "${tenon_launcher[@]}" "$@"
}

# tenon_preset NAME JOBS TEST_OPTION...: configures, builds and, if the preset has tests, tests.
tenon_preset() (
  name=$1 jobs=$2
  shift 2
  cd "$tenon_root" &&
    cmake --preset "$name" "${tenon_launcher[@]}" &&
    cmake --build --preset "$name" --parallel "$jobs" &&
    { ! ctest --list-presets | grep -q "\"$name\"" || ctest --preset "$name" "$@"; }
)

# tenon_build FOLDER JOBS [TARGET...]: builds everything, or these targets.
tenon_build() {
  local folder=$1 jobs=$2
  shift 2
  cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"}
}

# tenon_value OPTION VALUE...: prints the value of an option; an error if it is missing.
tenon_value() {
  if [[ $# -lt 2 || -z $2 ]]; then
    echo "error: $1 needs a value; see --help" >&2
    return 1
  fi
  printf '%s\n' "$2"
}
