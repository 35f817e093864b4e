/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* How PyTorch partitioned a region, as the capture module writes it and AdjRegion.partition has it:
 *
 *   {"partitioner": "min-cut",          "default", or the name of a user-defined function
 *    "activation_memory_budget": 0.5,   a number from 0 on, INT or FLOAT
 *    "options": {"cse": true, …}}       of torch._functorch.config by name: BOOL, INT, FLOAT,
 *                                       STRING or NONE
 *
 * Each member may be missing.  @reader must be a plain one. */
gboolean adjoint_read_partition (const ValueReader *reader,
                                 const JsonItem *item,
                                 AdjValue *out,
                                 GError **error);

G_END_DECLS
