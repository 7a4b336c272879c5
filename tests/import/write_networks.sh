#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: write_networks.sh TENON MODELS
# Writes networks of the folder MODELS as Tenon's own, NAME.json and NAME.safetensors in the current folder, and checks
# what the command says of it.
set -u
tenon=$1 models=$2
status=0

# written FILE [WORD...]: as NAME, the file's name up to the first dot.
written() {
  local file=$1 name=${1%%.*} said
  shift
  rm -f "$name.json" "$name.safetensors"
  if ! said=$("$tenon" import "$models/$file" -o "$name" "$@" 2>&1) ||
    [[ $said != *"written: $name.json and $name.safetensors"* || ! -s $name.json || ! -s $name.safetensors ]]; then
    printf 'tenon import %s -o %s should write two files, but says:\n%s\n' "$file" "$name" "$said" >&2
    status=1
  fi
}
written gz_circular.f64.pt2
written column_normalised.f64.pt2
written vit_cls.f64.pt2
written recurrent.f64.pt2
written fno_core.f64.pt2
written masked.f64.pt2
written squeeze_excite.f64.pt2
written conv_lstm.legacy17d.f64.onnx

# What cannot be imported writes nothing, and neither does a folder that is not there.
said=$("$tenon" import "$models/refused.pt2" -o refused 2>&1) && status=1
[[ $said == *"TENON_ERR_SUPPORT"*"cummax"* && ! -e refused.json && ! -e refused.safetensors ]] || {
  printf 'a refused model writes, or says:\n%s\n' "$said" >&2
  status=1
}
said=$("$tenon" import "$models/masked.f64.pt2" -o no/such/folder/masked 2>&1) && status=1
[[ $said == *"no/such/folder/masked.json"* ]] || {
  printf 'a network that cannot be written says:\n%s\n' "$said" >&2
  status=1
}
exit $status
