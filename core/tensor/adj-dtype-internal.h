/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* Types by the names of a format. */

/* "F32"; ADJ_DTYPE_NONE when unknown. */
AdjDType adj_dtype_from_safetensors (const char *name);

G_END_DECLS
