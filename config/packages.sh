# SPDX-License-Identifier: BSD-2-Clause
# Sourced. Sees to it that the packages of packages.txt are there: installs what is missing when it
# runs as root, and otherwise says what to install and stops.

# Prints the first choice of each need of packages.txt that no installed package satisfies.
tenon_missing_packages() {
  local line need choices choice found
  while IFS= read -r line; do
    need=${line%%#*}
    IFS='|' read -ra choices <<<"${need//[[:space:]]/}"
    [[ ${#choices[@]} -gt 0 ]] || continue
    found=no
    for choice in "${choices[@]}"; do
      if [[ $(dpkg-query -W -f='${db:Status-Status}' "$choice" 2>/dev/null) == installed ]]; then
        found=yes
      fi
    done
    [[ $found == yes ]] || printf '%s\n' "${choices[0]}"
  done <"$1"
}

# For systems that are not Debian: only looks whether the tools can be called.
tenon_need_tools() {
  local tool missing=()
  for tool in cc c++ cmake ninja pkg-config mpicc mpicxx mpiexec; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [[ ${#missing[@]} -gt 0 ]]; then
    echo "error: not a Debian system, and these tools are not found: ${missing[*]}" >&2
    echo "       Install them, and the libraries of config/packages.txt, by your system's means." >&2
    return 1
  fi
  echo "note: not a Debian system; the tools are found, and CMake will look for the libraries."
}

# tenon_need_packages LIST: returns once everything in the file LIST is installed.
tenon_need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    tenon_need_tools
    return
  fi
  local missing
  mapfile -t missing < <(tenon_missing_packages "$1")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    echo "error: these packages are missing: ${missing[*]}" >&2
    echo "       As root: apt-get install --no-install-recommends ${missing[*]}" >&2
    return 1
  fi
  echo "installing: ${missing[*]}"
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q
    --no-install-recommends "${missing[@]}")
  # The package lists may be absent or old: only then is an update needed.
  "${install[@]}" || { apt-get update -q && "${install[@]}"; }
}
