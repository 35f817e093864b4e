/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* Convolutions by cuDNN, loaded at first use. */

/* As AdjGpuRuntimeType.convolve. */
gboolean adj_cuda_convolve (AdjGpuRuntime *runtime,
                            AdjGpuStream *stream,
                            AdjKQueue *queue,
                            AdjKConvKind kind,
                            const AdjKConv *conv);
/* (nullable): why there is no cuDNN. */
const char *adj_cuda_convolutions_missing (void);

G_END_DECLS
