#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Wrong words behind `tenon plan`: status 2, and a message that helps.
# usage: plan_refuses.sh TENON
set -u
tenon=$1
status=0

# refused TEXT WORD...
refused() {
  local text=$1 said
  shift
  said=$("$tenon" "$@" 2>&1)
  if [[ $? != 2 || $said != *"$text"* ]]; then
    printf 'tenon %s should be refused with "%s", but says:\n%s\n' "$*" "$text" "$said" >&2
    status=1
  fi
}

refused "use one of placements, reductions, simulate, signatures, conversions, network" plan
refused "-layer is missing" plan signatures
refused "did you mean 'matmul'" plan signatures -layer matmull
refused "no input of 7 dimensions" plan signatures -layer affine -ndim 7
refused "-ndim is 4294967298" plan signatures -layer affine -ndim 4294967298
refused "4 processes that convert a tensor of shape [1152921504606846975,1] from P to B send more elements than a 64-bit integer counts" \
  plan conversions -shape 1152921504606846975,1
refused "-processes is 65537; the number of processes must be in 1 to 65536" plan conversions -processes 65537
refused "no row for inputs S0,S0" plan signatures -layer matmul -inputs S0,S0
refused "unknown command 'place'" plan place
refused "unknown command 'pl\x1b[2Jace'" plan $'pl\e[2Jace'
refused "did you mean '-system'" plan placements -sistem 4
refused "unknown argument '4'" plan placements 4
refused "-system is missing" plan placements -axes 4
refused "'x' is not an integer" plan placements -system 4,x -axes 4
refused "'' is not an integer" plan placements -system 4, -axes 4
refused "does not fit into 64 bits" plan placements -system 99999999999999999999 -axes 4
refused "sizes must be >= 1" plan placements -system 4,0 -axes 4
refused "sizes must be >= 1" plan placements -system 4 -axes -4,-1
refused "an int can count" plan placements -system 4294967296,4294967296 -axes 4
refused "no placement exists: the axes [8,2,3] have 48 processes" plan placements -system 4,16 -axes 8,2,3
refused "needs -machine" plan placements -system 4 -axes 4 -reductions 0:8
refused "-machine needs -reductions" plan placements -system 2,16 -axes 32 -machine a100x16
refused "'0' has no bytes" plan placements -system 2,16 -axes 32 -machine a100x16 -reductions 0
refused "one number of bytes, at least 1" plan placements -system 2,16 -axes 32 -machine a100x16 -reductions 0:0
refused '{"count": 0, "matrices": []}' plan placements -system 2,3 -axes 5 -json
refused '{"total": 0, "placements": []}' plan reductions -system 2,3 -axes 5 -reduce 0 -json
refused "-reduce is missing" plan reductions -system 4 -axes 4
refused "axis 1" plan reductions -system 4 -axes 4 -reduce 1
refused "axis -1" plan reductions -system 4 -axes 4 -reduce -1
refused "listed twice" plan reductions -system 4 -axes 4 -reduce 0,0
refused "-size is 0" plan reductions -system 4 -axes 4 -reduce 0 -size 0
refused "expected an integer" plan reductions -system 4 -axes 4 -reduce 0 -size five
refused "-bytes needs -machine" plan reductions -system 4 -axes 4 -reduce 0 -bytes 8
refused "-bytes is 0" plan reductions -system 4,16 -axes 64 -reduce 0 -machine a100x16
refused "machine 'a100x16' has levels [4,16], but the placement is on [4,8]" \
  plan reductions -system 4,8 -axes 32 -reduce 0 -machine a100x16 -bytes 8
refused "-machine is missing" plan simulate -axes 64 -reduce 0 -bytes 8
refused "known are: a100x16, cluster4, cpu2s, v100x8" \
  plan simulate -machine b200 -axes 64 -reduce 0 -bytes 8
refused "has no level 'node'" plan simulate -machine cpu2s -nodes 2 -axes 64 -reduce 0 -bytes 8
refused "has size -1" plan simulate -machine a100x16 -nodes -1 -axes 64 -reduce 0 -bytes 8
refused "-algorithm is star" \
  plan simulate -machine a100x16 -axes 64 -reduce 0 -bytes 8 -algorithm star
refused "no placement exists: the axes [63] have 63 processes" \
  plan simulate -machine a100x16 -axes 63 -reduce 0 -bytes 8
refused "cannot write file './nowhere/chart.svg': No such file" \
  plan simulate -machine a100x16 -axes 64 -reduce 0 -bytes 8 -chart ./nowhere/chart.svg
network() {
  refused "$1" plan network -network alexnet -batch 2048 -processes 512 "${@:2}"
}
refused "-network is missing" plan network -batch 8 -processes 8
names="alexnet, atmosphere_columns, faces100k, fno2d, heat_closure, lenet5, mesh-gnn, resnet50, unet3d, unet3d_256, vgg16"
refused "known are: $names" plan network -network lenet -batch 8 -processes 8
# The help lists the same names.
for name in ${names//,/}; do
  "$tenon" plan network -help | grep -A1 -e "-network" | grep -q "\b$name\b" ||
    { echo "the help of -network lacks $name"; status=1; }
done
refused "the network has 2 inputs, but shapes of 1 were given" \
  plan network -network mesh-gnn -input 3 -batch 8 -processes 4 -model own
refused "-batch is 0; pass the global batch size" plan network -network alexnet -processes 8
refused "-processes is 0" plan network -network alexnet -batch 8
refused "-processes is -4" plan network -network alexnet -batch 8 -processes -4
refused "layer conv1 cannot be divided among 65536 processes" \
  plan network -network alexnet -batch 8 -processes 65536
network "cost_model of the plan is 't2'; the nearest is 't1', the choices are t1, own" -model t2
network "-beta is 0" -beta 0
network "link_latency is -1" -alpha -1
network "memory_limit is -5" -memory_limit -5
network "the memory limit is 976.6 KiB for each process, but every plan needs at least 58.4 MiB, 57.4 MiB more; the largest layers are fc6 15.8 MiB, conv1 " \
  -memory_limit 1000000
network "'n9' names no layer" -fix n9
network "the network has no layer 'conv9'; did you mean 'conv1'" -fix conv9=n9
network "layer conv1: the parallelization 'n8' is not possible: it has 8 labels" -fix conv1=n8
network "layer conv1 cannot have the parallelization 'o9': 96 output channels have no 512 parts" -fix conv1=o9
network "layer fc6: the parallelization 'n8,h'" -fix fc6=n8,h
network "the label i is not among the choices" -fix fc6=n3,i6
network "there is no published cost 'eq2'" -cost eq2 -grid 4,128
network "-grid is missing" -cost eq8
network "-grid has 3 numbers" -cost eq8 -grid 4,16,8
network "machine 'cluster4' has 128 devices, but the plan is for 100 processes" -model own -machine cluster4 -processes 100
network "-flop_rate" -flop_rate fast
network "objective of the plan is 'speed'" -objective speed
network "the choices are training, inference, step" -objective speed
network "every 5 steps" -objective inference -every 5
network "use model own" -objective inference
network "use model own" -pin_input 4x2:S2,S3
network "input_grid is 'S2,S3'; pass a process grid" -model own -pin_input S2,S3
network "input_grid is '4y2:S2,S3'; pass a process grid" -model own -pin_input 4y2:S2,S3
network "process grid 4x2 has 2 axes, but 1 property was given" -model own -pin_input 4x2:S2
network "a process grid of 1024 does not fit into 512 processes" -model own -pin_input 1024:S2
network "a process grid of 2147483647 does not fit into 512 processes" -model own -pin_output 2147483647:S0
network "the input of the network table 'alexnet' has shape [3,227,227]" -input 3,64,64
network "placement of the plan is 'left'" -placement left
network "overlap_share is 2" -overlap 2
refused "-figure is 8; the figures that can be drawn are 6, 7, 9 and 10" plan network -figure 8
for option in "input 3,64,64" "fix conv1=n9" "model own" "batch 64" "processes 8" "machine cluster4" "json"; do
  refused "-${option%% *} does not apply to a figure, which takes -network, -alpha, -beta, -figure, -chart" \
    plan network -network alexnet -figure 6 -$option
done
network "-input_channels is maybe" -input_channels maybe
refused "model t1 needs a network table, but 'lenet5' is a network of layers" \
  plan network -network lenet5 -batch 64 -processes 4
refused "set the shape of a sample of its input" \
  plan network -network lenet5 -batch 64 -processes 4 -model own
lenet() {
  refused "$1" plan network -network lenet5 -batch 64 -processes 4 -model own -input "$2"
}
lenet "the input_shape 3,28,28 is not one of the network 'lenet5': the input has 3 channels" 3,28,28
lenet "the input_shape 1,32,32 is not one of the network 'lenet5': the input has shape [64,576], but layer C5 needs" 1,32,32
lenet "the input_shape 1,28 is not one of the network 'lenet5'" 1,28
lenet "-input 4x2:S2,S3: it is the shape of a sample, such as 1,28,28; pass a process grid with properties as -pin_input" 4x2:S2,S3
mesh=$(mktemp --suffix=.json)
echo '{"format": "tenon-network-1", "type": "sequential", "layers": [{"type": "sparsematrix"}]}' >"$mesh"
refused "works with lists of a mesh, but has none" plan network -network "$mesh" -batch 64 -processes 4 -model own -input 3
echo '{"format": "tenon-network-1", "type": "sequential", "layers": [{"type": "conv", "in_channels": 1, "out_channels": 1,
  "kernel": [3], "padding": [1], "boundary": "linked"}]}' >"$mesh"
refused 'sides with boundary mode "linked", but no links' plan network -network "$mesh" -batch 64 -processes 4 -model own -input 1,8
rm "$mesh"
exit $status
