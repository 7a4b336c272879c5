/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief All of Tenon's C interface. Each class is documented in its own header.
 */
#ifndef TENON_H
#define TENON_H

#include <tenon/dataset.h>
#include <tenon/dtensor.h>
#include <tenon/error.h>
#include <tenon/init.h>
#include <tenon/layer.h>
#include <tenon/layer_create.h>
#include <tenon/layer_network.h>
#include <tenon/layout.h>
#include <tenon/linearop.h>
#include <tenon/linearop_create.h>
#include <tenon/log.h>
#include <tenon/machine.h>
#include <tenon/object.h>
#include <tenon/optimizer.h>
#include <tenon/options.h>
#include <tenon/output.h>
#include <tenon/partition.h>
#include <tenon/reduction.h>
#include <tenon/types.h>
#include <tenon/version.h>

#endif
