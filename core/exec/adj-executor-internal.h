/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Whether a value of dtype @given may stand where a graph is annotated @annotated: PyTorch's traces
 * annotate statistics of norms with the dtype of the batch, while its kernels compute them in f32.
 */
gboolean adj_dtype_is_as_annotated (AdjDType given, AdjDType annotated);

G_END_DECLS
