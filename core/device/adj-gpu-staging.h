/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-internal.h"

G_BEGIN_DECLS

/* Copies between the host and a GPU, in pieces through pinned memory: one piece is transferred
 * while the next is filled.  Has a stream of its own, so that copies overlap with kernels. */
typedef struct _AdjGpuStaging AdjGpuStaging;

/* (transfer full) (nullable): %NULL with ADJ_ERROR_DEVICE or ADJ_ERROR_MEMORY. */
AdjGpuStaging *adj_gpu_staging_new (AdjGpu *gpu, GError **error);
void adj_gpu_staging_free (AdjGpuStaging *staging); /* @staging: (nullable) */
AdjGpuStream *adj_gpu_staging_get_stream (AdjGpuStaging *staging);
/* @from may be changed when it returns; @to is complete when the stream has done the copy. */
gboolean adj_gpu_staging_send (
    AdjGpuStaging *staging, gpointer to, gconstpointer from, gsize n_bytes, GError **error);
/* @to is complete when it returns. */
gboolean adj_gpu_staging_fetch (
    AdjGpuStaging *staging, gpointer to, gconstpointer from, gsize n_bytes, GError **error);

G_END_DECLS
