# SPDX-License-Identifier: BSD-2-Clause
# Sourced. Ensures that the packages of packages.txt are installed: installs missing ones when run as
# root, and otherwise lists them and stops.

# Prints, for each line of packages.txt that no installed package satisfies, its first choice.
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

# For systems other than Debian: checks only that the tools can be called.
tenon_need_tools() {
  local tool missing=()
  for tool in cc c++ cmake ninja pkg-config mpicc mpicxx mpiexec; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [[ ${#missing[@]} -gt 0 ]]; then
    echo "error: this is not a Debian system, and these tools are missing: ${missing[*]}" >&2
    echo "       Install them and the libraries of config/packages.txt with your package manager." >&2
    return 1
  fi
  echo "note: this is not a Debian system; the tools were found, and CMake looks for the libraries"
}

# tenon_need_packages LIST: returns when everything in the file LIST is installed.
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
    echo "       As root run: apt-get install --no-install-recommends ${missing[*]}" >&2
    return 1
  fi
  echo "installing: ${missing[*]}"
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -q
    --no-install-recommends "${missing[@]}")
  # The package lists can be missing or out of date: only then is an update needed.
  "${install[@]}" || { apt-get update -q && "${install[@]}"; }
}
