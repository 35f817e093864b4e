/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* Matrix products by cuBLASLt, loaded at first use. */

/* As AdjGpuRuntimeType.gemm. */
gboolean adj_cuda_gemm (AdjGpuRuntime *runtime,
                        AdjGpuStream *stream,
                        AdjKQueue *queue,
                        const AdjKGemm *gemm);
/* (nullable): why there is no cuBLASLt. */
const char *adj_cuda_products_missing (void);

G_END_DECLS
