#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_members.sh PYTHON SOURCE SCRATCH
# A declaration of which the generator of tenon.hpp does not know what it becomes in C++ ends it with a message that names the
# function.
set -euo pipefail
python=$1 source=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/include"
export PYTHONDONTWRITEBYTECODE=1
generate=$source/src/interfaces/cxx/generate.py
generator=("$python" "$generate")
# shellcheck source=tests/support/refused_declarations.sh
source "$source/tests/support/refused_declarations.sh"
refuse_common "$scratch/odd" "$scratch/odd.cpp"
refused 'cannot read the argument' "$scratch/odd" "$scratch/odd.cpp" <<'HEADER'
/** @brief Does something.
 *  @param[in] layer  layer
 *  @param[in] value  an argument of a type that no rule knows */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, long double value) TENON_NOEXCEPT;
HEADER
refused 'no kind for the argument values' "$scratch/odd" "$scratch/odd.cpp" <<'HEADER'
/** @brief Does something.
 *  @param[in] layer   layer
 *  @param[in] values  [2] truth values, of which C++ has no list */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, const TenonBool values[]) TENON_NOEXCEPT;
HEADER
refused 'neither "new ..." nor' "$scratch/odd" "$scratch/odd.cpp" <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] other  layer of which nobody knows who destroys it */
TENON_EXTERN TenonErrorCode TenonLayerGetOther(TenonLayer layer, TenonLayer* other) TENON_NOEXCEPT;
HEADER
refused 'default is taken or a keyword' "$scratch/odd" "$scratch/odd.cpp" <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetDefault(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
refused 'is TenonObjectGetSize already' "$scratch/odd" "$scratch/odd.cpp" <<'HEADER'
/** @brief Returns something.
 *  @param[in]  object  object
 *  @param[out] value   number */
TENON_EXTERN TenonErrorCode TenonObjectGetSize(TenonObject object, int* value) TENON_NOEXCEPT;
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
