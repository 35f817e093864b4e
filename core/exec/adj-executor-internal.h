/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Whether a value of dtype @given may stand where a graph is annotated @annotated: PyTorch's traces
 * annotate statistics of norms with the dtype of the batch, while its kernels compute them in f32.
 */
gboolean adj_dtype_is_as_annotated (AdjDType given, AdjDType annotated);

/* Whether inputs are in a file, to be read while the graph runs. */
gboolean exec_reads_inputs (const AdjRunRequest *request);

/* Whether no read of the inputs and constants of @graph failed until now. */
gboolean
exec_check_read (const AdjGraph *graph, const AdjValue *inputs, guint n_inputs, GError **error);

G_END_DECLS
