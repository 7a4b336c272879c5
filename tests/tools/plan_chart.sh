#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The chart of `tenon plan simulate`: a whole SVG with a mark for each program, written at one stroke.
# usage: plan_chart.sh TENON FOLDER
set -eu
tenon=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
fail() {
  echo "$1" >&2
  exit 1
}

simulate() {
  "$tenon" plan simulate -machine a100x16 -nodes 2 -axes 2,16 -reduce 1 -bytes 1000000 "$@"
}
simulate -chart "$folder/chart.svg" >"$folder/text"
chart=$(<"$folder/chart.svg")
[[ $chart == "<svg "*"</svg>" ]] || fail "not a whole SVG: $chart"
[[ $(ls -A "$folder") == $'chart.svg\ntext' ]] || fail "another file is left"
# 47 and 3 programs, of which 2 are single AllReduces; and 2 dots in the legend.
[[ $(grep -c '<path ' <<<"$chart") == 48 ]] || fail "expected 48 crosses"
[[ $(grep -c '<circle ' <<<"$chart") == 4 ]] || fail "expected 4 dots"
[[ $chart == *'>[[1,2],[2,8]]<'* ]] || fail "a placement is missing in the legend"
if command -v xmllint >/dev/null; then
  xmllint --noout "$folder/chart.svg"
fi

# All grids of 8, 32, 128 and 512 processes, in two parts each, the page behind them and the colours of the legend. All panels have
# one scale, from 0 to twice the longest time of batch parallelism, the first of a panel; longer bars are marked as cut.
for figure in 6 7; do
  "$tenon" plan network -figure $figure -chart "$folder/chart.svg" >"$folder/text"
  chart=$(<"$folder/chart.svg")
  [[ $chart == "<svg "*"</svg>" ]] || fail "not a whole SVG: $chart"
  [[ $(grep -c '<rect ' <<<"$chart") == $((3 + 2 * (4 + 6 + 8 + 10))) ]] || fail "bars are missing"
  long=$(awk '/processes/ { first = 1; next } { if (first && $2 > most) most = $2; first = 0; all[++bars] = $2 }
    END { for (i in all) n += all[i] > 2 * most; print n + 0 }' "$folder/text")
  [[ $(grep -c '<path ' <<<"$chart") == "$long" ]] || fail "expected $long cut bars in figure $figure"
  [[ $(grep -c 'text-anchor="end">0</text>' <<<"$chart") == 4 ]] || fail "expected an axis for each panel"
  [[ $(grep -c '>seconds of an epoch<' <<<"$chart") == 4 && $chart == *'>sums of gradients<'* ]] ||
    fail "axes or legend say nothing"
  if command -v xmllint >/dev/null; then
    xmllint --noout "$folder/chart.svg"
  fi
done

# What cannot be written leaves what was there.
mkdir "$folder/folder.svg"
if simulate -chart "$folder/folder.svg" >"$folder/text" 2>&1; then
  fail "a folder was overwritten"
fi
[[ -d $folder/folder.svg && $(ls -A "$folder") == $'chart.svg\nfolder.svg\ntext' ]] ||
  fail "the folder has changed"
