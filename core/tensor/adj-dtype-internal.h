/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* Dtypes by their names in file formats. */

/* "F32"; ADJ_DTYPE_NONE when unknown. */
AdjDType adj_dtype_from_safetensors (const char *name);
/* By the number of c10::ScalarType; ADJ_DTYPE_NONE when unknown. */
AdjDType adj_dtype_from_scalar_type (gint64 number);
/* The reverse; -1 when it has no number. */
gint adj_dtype_get_scalar_type (AdjDType dtype);

G_END_DECLS
