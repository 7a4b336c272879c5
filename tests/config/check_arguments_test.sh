#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_arguments_test.sh SCRATCH
# Tests check_arguments.py: a header in order passes, and each fault planted in it is found.
set -euo pipefail
checker=$(cd "$(dirname "$0")" && pwd)/check_arguments.py
rm -rf "$1"
mkdir -p "$1/tenon/ext"
cd "$1"
failed=0

plant() {
  cat >tenon/ext/thing.h <<'HEADER'
/** @brief User function.
 *  @param[in] context  context. May be NULL, in which case none was given. */
typedef void (*TenonThingFunction)(void* context);

/** @brief Creates a thing.
 *
 *  The call needs no communicator.
 *
 *  @param[in]  ndim    number of dimensions
 *  @param[in]  shape   [ndim] extents, the same
 *                      on all ranks
 *  @param[in]  low, high  [ndim] box. May be NULL, in which case the box is
 *                      the shape.
 *  @param[out] thing   new thing
 *  @return TENON_ERR_NULL  shape is NULL
 */
TENON_EXTERN TenonErrorCode TenonThingCreate(int ndim, const TenonInt shape[], const TenonInt low[],
                                             const TenonInt high[], TenonThing* thing)
    TENON_NOEXCEPT;

/** @brief Returns the name of a thing.
 *  @param[in]  thing   thing
 *  @param[out] name    [length] name. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned. */
TENON_EXTERN TenonErrorCode TenonThingGetName(TenonThing thing, char name[], TenonInt length,
                                              TenonInt* needed) TENON_NOEXCEPT;

/** @brief Counts things. */
TENON_EXTERN TenonErrorCode TenonThingCount(void) TENON_NOEXCEPT;
HEADER
}

# with SED_SCRIPT TEXT: with the edit, which must change the header, the checker finds one fault with
# that text; with neither it finds none.
with() {
  local output status=0 whole
  plant
  whole=$(<tenon/ext/thing.h)
  if [[ -n $1 ]]; then
    sed -i "$1" tenon/ext/thing.h
    [[ $whole != "$(<tenon/ext/thing.h)" ]] || { echo "no edit: $1"; failed=1; }
  fi
  output=$("$checker" .) || status=$?
  if [[ -z $2 && $status -eq 0 && $output == "4 functions, 0 faults" ]]; then return; fi
  if [[ -n $2 && $status -eq 1 && $output == *"$2"* && $output == *", 1 faults" ]]; then return; fi
  printf 'expected: %s\nstatus %s, output:\n%s\n' "${2:-no fault}" "$status" "$output"
  failed=1
}

with '' ''
with 's/\[ndim\] extents/extents/' 'the @param of shape does not begin with its [length]'
with 's/\[ndim\] box/box/; s/const TenonInt high\[\]/TenonInt high/' \
  'the @param of low does not begin with its [length]'
with 's/low, high  \[ndim\]/low  [ndim]/' 'the @param lines name (ndim, shape, low, thing)'
with '/@param\[out\] thing/d' 'the @param lines name (ndim, shape, low, high)'
with 's/int ndim, const TenonInt shape\[\],/const TenonInt shape[], int ndim,/' \
  'the arguments are (shape, ndim, low, high, thing)'
with 's/ndim    number/ndim    [1] number/' 'ndim has a [length] but is not an array'
with 's/May be NULL, in which case only needed/may be NULL: only needed/' \
  'the @param of name mentions NULL'
with 's/^ \*  The call needs no communicator/ *  The shape may be NULL/' 'stands outside the @param'
with 's/char name\[\]/const char** name/; s/\[length\] name/name/' 'name returns a text'
with 's/TenonInt length/int length/' 'name[] must be followed by TenonInt length, TenonInt* needed'
with 's/param\[in\]  shape/param[out] shape/' 'shape points to constants'
with 's/context. May be NULL, in which case none was given/context; may be NULL/' \
  'TenonThingFunction: the @param of context mentions NULL'
with 's/^\/\*\* @brief Counts.*//' 'TenonThingCount: has no comment'
with 's/TenonThingCount(void) TENON_NOEXCEPT/TenonThingCount(void)/' 'TenonThingCount: has no comment'
with 's/TenonErrorCode TenonThingCount(void)/const char* TenonThingCount(void)/' \
  'TenonThingCount: returns a text as its value'
exit "$failed"
