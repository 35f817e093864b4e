/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Whether a value of @given stands where a graph says @annotated: PyTorch's traces say of the
 * statistics of norms that they are as narrow as the batch; its kernels keep them in f32. */
gboolean adj_dtype_is_as_annotated (AdjDType given, AdjDType annotated);

G_END_DECLS
