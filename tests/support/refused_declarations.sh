# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Sourced by the tests of the generators, which have set `scratch`, with a folder include in it, and `generator`, the command of the
# generator up to the folder of the headers.

# refused WORDS OUTPUT... < DECLARATION: the generator, which is given the outputs too, ends with a message that has the words.
refused() {
  local said words=$1
  shift
  {
    echo 'typedef struct TenonObject_s* TenonObject;'
    echo 'typedef struct TenonLayer_s* TenonLayer;'
    cat
  } >"$scratch/include/odd.h"
  if said=$("${generator[@]}" "$scratch/include" "$@" 2>&1) || [[ $said != *TenonLayer*$words* ]]; then
    printf 'fault: not refused with "%s":\n%s\nThe script says:\n%s\n' "$words" "$(cat "$scratch/include/odd.h")" "$said"
    exit 1
  fi
}

# What no language with classes knows. The outputs are those of refused().
refuse_common() {
refused 'no argument tells the length "some"' "$@" <<'HEADER'
/** @brief Does something.
 *  @param[in] layer   layer
 *  @param[in] values  [some] numbers */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, const int values[]) TENON_NOEXCEPT;
HEADER
refused 'changed in place' "$@" <<'HEADER'
/** @brief Does something.
 *  @param[in]     layer  layer
 *  @param[in,out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
refused 'is TenonLayerGetSize already' "$@" <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
}
