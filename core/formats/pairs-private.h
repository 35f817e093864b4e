/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Complex numbers as pairs of real ones, [..., 2]: safetensors knows no others than c64. */

/* The dtype of the parts of the complex @dtype, if files must store it as pairs; else NONE. */
AdjDType pairs_dtype (AdjDType dtype);
/* (transfer full) (nullable): @tensor, of a dtype that pairs_dtype () knows, as dense pairs. */
AdjTensorData *pairs_of (AdjTensorData *tensor, GError **error);
/* (transfer full) (nullable): the numbers of @dtype that @pairs are, dense as they must be; %NULL
 * when they are no such pairs.  Both share their bytes. */
AdjTensorData *pairs_to_complex (AdjTensorData *pairs, AdjDType dtype);

G_END_DECLS
