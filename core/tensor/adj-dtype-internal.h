/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* Types by the names of a format. */

/* "F32"; ADJ_DTYPE_NONE when unknown. */
AdjDType adj_dtype_from_safetensors (const char *name);
/* By the number of c10::ScalarType; ADJ_DTYPE_NONE when it is of none that is known. */
AdjDType adj_dtype_from_scalar_type (gint64 number);
/* The reverse; -1 when it has none. */
gint adj_dtype_get_scalar_type (AdjDType dtype);

G_END_DECLS
