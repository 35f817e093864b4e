/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* One fold of result_type(): add every operand, then take the result. */
typedef struct
{
  AdjDType dimensioned; /* tensors with dimensions */
  AdjDType zero_dim;    /* 0-d tensors */
  AdjDType number;      /* Python numbers, typed by their category */
} AdjPromotion;

#define ADJ_PROMOTION_INIT                                                                         \
  {                                                                                                \
    ADJ_DTYPE_NONE, ADJ_DTYPE_NONE, ADJ_DTYPE_NONE                                                 \
  }

void adj_promotion_add_tensor (AdjPromotion *promotion, AdjDType dtype, guint rank);
void adj_promotion_add_number (AdjPromotion *promotion,
                               AdjDTypeCategory category,
                               AdjDType default_float);
AdjDType adj_promotion_result (const AdjPromotion *promotion);

G_END_DECLS
