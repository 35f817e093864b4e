/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Layers of gelu (x W), batch 1024, width 512, where an activation is 2 MiB and the gradient of a
 * weight 1 MiB. */

#define MIB (1024.0 * 1024.0)
#define PRODUCT (2.0 * 1024 * 512 * 512) /* flops of one */

/* The gradient of a layer's weight comes before that of its input, as PyTorch has them. */
AdjGraph *layers_new (guint n_layers);

/* "mm", "mm_1", "mm_2" …: the products of forward are the first, the activations are "gelu" so. */
char *layers_name (const char *stem, guint n);

G_END_DECLS
