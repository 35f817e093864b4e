/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Layers of gelu (x W), batch 1024, width 512: an activation has 2 MiB and the gradient of a
 * weight 1 MiB. */

#define MIB (1024.0 * 1024.0)
#define PRODUCT (2.0 * 1024 * 512 * 512) /* flops of one product */

/* The gradient of a layer's weight precedes that of its input, as in PyTorch. */
AdjGraph *layers_new (guint n_layers);

/* "mm", "mm_1", "mm_2" …: the first products are those of forward; activations are "gelu",
 * "gelu_1" …. */
char *layers_name (const char *stem, guint n);

G_END_DECLS
