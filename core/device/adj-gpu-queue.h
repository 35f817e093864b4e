/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-internal.h"

G_BEGIN_DECLS

/* A stream of a GPU for the kernels' launchers: with scratch memory, constants, and the word in
 * which kernels report faults of their data.  To be used by one thread at a time. */
typedef struct _AdjGpuQueue AdjGpuQueue;

/* (transfer full) (nullable): %NULL with ADJ_ERROR_DEVICE or ADJ_ERROR_MEMORY.  Uses the current
 * device of this thread. */
AdjGpuQueue *adj_gpu_queue_new (AdjGpu *gpu, GError **error);
void adj_gpu_queue_free (AdjGpuQueue *queue); /* @queue: (nullable) */

/* (transfer none): for the kernels of AdjKBackend.  Once a call failed, later ones do nothing. */
AdjKQueue *adj_gpu_queue_get_kernels (AdjGpuQueue *queue);
AdjGpuStream *adj_gpu_queue_get_stream (AdjGpuQueue *queue);
/* %FALSE with the error of the first failed call since the last check. */
gboolean adj_gpu_queue_check (AdjGpuQueue *queue, GError **error);

/* Makes the scratch memory given so far available to work queued next. */
void adj_gpu_queue_next_region (AdjGpuQueue *queue);
/* Clears the faults that kernels reported. */
gboolean adj_gpu_queue_clear_faults (AdjGpuQueue *queue, GError **error);
/* Waits for all queued work, and reads the faults that kernels reported. */
gboolean adj_gpu_queue_wait (AdjGpuQueue *queue, AdjKFaults *faults, GError **error);
/* Bytes of the device that it holds. */
guint64 adj_gpu_queue_get_bytes (const AdjGpuQueue *queue);

G_END_DECLS
