/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* A GPU that is ready for use. */
typedef struct _AdjGpu AdjGpu;

typedef struct
{
  char name[256];        /* "NVIDIA H100 80GB HBM3" */
  guint64 memory_bytes;  /* total memory */
  guint64 free_bytes;    /* memory that is free now */
  guint major, minor;    /* its compute capability: 9.0 */
  guint n_processors;    /* multiprocessors */
  guint driver_version;  /* the newest CUDA that the driver knows: 13000 is 13.0 */
  guint runtime_version; /* the CUDA that this program was built with */
} AdjGpuInfo;

/* (transfer full) (nullable): "cuda", "cuda:1", or "emulated", a slow emulation on the CPU for
 * machines without a GPU.  @name: (nullable): "cuda".  %NULL with ADJ_ERROR_DEVICE and one sentence
 * why it cannot be used, or with ADJ_ERROR_NOT_FOUND: there is no device of that name. */
ADJ_PUBLIC AdjGpu *adj_gpu_open (const char *name, GError **error);
ADJ_PUBLIC AdjGpu *adj_gpu_ref (AdjGpu *gpu); /* (transfer full) */
ADJ_PUBLIC void adj_gpu_unref (AdjGpu *gpu);  /* @gpu: (nullable) */
/* How many GPUs CUDA finds here, at least one; 0 with ADJ_ERROR_DEVICE and one sentence why not. */
ADJ_PUBLIC guint adj_gpu_count (GError **error);
/* The name for adj_gpu_open(), with its number: "cuda:0". */
ADJ_PUBLIC const char *adj_gpu_get_name (const AdjGpu *gpu);
/* (nullable): why kernels are slower: the first library that is missing, in words. */
ADJ_PUBLIC const char *adj_gpu_find_missing (const AdjGpu *gpu);
/* Asks the device; %FALSE with ADJ_ERROR_DEVICE. */
ADJ_PUBLIC gboolean adj_gpu_describe (const AdjGpu *gpu, AdjGpuInfo *info, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjGpu, adj_gpu_unref)

G_END_DECLS
