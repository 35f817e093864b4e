/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* Matrix products by cuBLASLt, opened when one is first asked for. */

/* As AdjGpuRuntimeType.gemm. */
gboolean adj_cuda_gemm (AdjGpuRuntime *runtime,
                        AdjGpuStream *stream,
                        AdjKQueue *queue,
                        const AdjKGemm *gemm);
/* (nullable): why there are none. */
const char *adj_cuda_products_missing (void);

G_END_DECLS
