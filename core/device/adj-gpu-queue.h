/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-internal.h"

G_BEGIN_DECLS

/* A stream of a GPU as the kernels' launchers use it: with scratch memory, constants, and the word
 * into which kernels say what is wrong with their data.  Of one thread at a time. */
typedef struct _AdjGpuQueue AdjGpuQueue;

/* (transfer full) (nullable): %NULL with ADJ_ERROR_DEVICE or ADJ_ERROR_MEMORY.  The device is that
 * which this thread uses. */
AdjGpuQueue *adj_gpu_queue_new (AdjGpu *gpu, GError **error);
void adj_gpu_queue_free (AdjGpuQueue *queue); /* @queue: (nullable) */

/* (transfer none): for the kernels of AdjKBackend.  Once a call failed, later ones do nothing. */
AdjKQueue *adj_gpu_queue_get_kernels (AdjGpuQueue *queue);
AdjGpuStream *adj_gpu_queue_get_stream (AdjGpuQueue *queue);
/* %FALSE with the error of the first call that failed since it was taken last. */
gboolean adj_gpu_queue_check (AdjGpuQueue *queue, GError **error);

/* Scratch memory that was given is free again for what is queued next. */
void adj_gpu_queue_next_region (AdjGpuQueue *queue);
/* Sets what kernels found wrong to nothing. */
gboolean adj_gpu_queue_clear_faults (AdjGpuQueue *queue, GError **error);
/* Waits for all that was queued, and reads what kernels found wrong. */
gboolean adj_gpu_queue_wait (AdjGpuQueue *queue, AdjKFaults *faults, GError **error);
/* Bytes of the device that it holds. */
guint64 adj_gpu_queue_get_bytes (const AdjGpuQueue *queue);

G_END_DECLS
