/* SPDX-License-Identifier: MIT */
/* The device as launchers of kernels need it, over one stream: kernels by name, scratch memory that
 * is reused region by region, constants that are uploaded once. */

#include "device/adj-gpu-queue.h"

#include <string.h>

#define ALIGNMENT 256
#define MIN_BLOCK ((gsize) 1 << 20)

/* Device memory that is handed out from its start on. */
typedef struct
{
  char *memory;
  gsize n_bytes, n_given;
} Block;

typedef struct
{
  GArray *blocks; /* Block */
  guint current;
} Heap;

struct _AdjGpuQueue
{
  AdjKQueue kernels; /* must be first: launchers get a pointer to it */
  AdjKDevice device;
  AdjGpu *gpu; /* (owned) */
  guint generation;
  AdjGpuStream *stream;
  Heap scratch, constants;
  GHashTable *sent; /* GBytes (owned) → its memory on the device */
  AdjKFaults *read; /* pinned: [0] downloaded faults, [1] the value without faults */
  GError *error;    /* (owned) (nullable): of the first call that failed */
};

static const AdjGpuRuntimeType *
type_of (const AdjGpuQueue *queue)
{
  return adj_gpu_get_runtime (queue->gpu)->type;
}

static AdjGpuRuntime *
runtime_of (const AdjGpuQueue *queue)
{
  return adj_gpu_get_runtime (queue->gpu);
}

/* Whether the device was not reset since @queue was made. */
static gboolean
is_there (const AdjGpuQueue *queue)
{
  return queue->generation == adj_gpu_get_generation (queue->gpu);
}

/* -- memory -- */

static char *
take_from_block (Block *block, gsize n_bytes)
{
  char *memory = block->memory + block->n_given;

  if (block->n_bytes - block->n_given < n_bytes)
    return NULL;
  block->n_given += n_bytes;
  return memory;
}

static gpointer
take (AdjGpuQueue *queue, Heap *heap, gsize size)
{
  gsize n_bytes = (MAX (size, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  Block block = { NULL, MAX (n_bytes, MIN_BLOCK), 0 };
  gpointer memory;

  for (; heap->current < heap->blocks->len; heap->current++)
    {
      memory = take_from_block (&g_array_index (heap->blocks, Block, heap->current), n_bytes);
      if (memory != NULL)
        return memory;
    }
  block.memory = type_of (queue)->alloc (runtime_of (queue), block.n_bytes, &queue->error);
  if (block.memory == NULL)
    return NULL;
  block.n_given = n_bytes;
  g_array_append_val (heap->blocks, block);
  return block.memory;
}

static void
give_again (Heap *heap)
{
  for (guint i = 0; i < heap->blocks->len; i++)
    g_array_index (heap->blocks, Block, i).n_given = 0;
  heap->current = 0;
}

static void
free_heap (AdjGpuQueue *queue, Heap *heap)
{
  for (guint i = 0; i < heap->blocks->len && is_there (queue); i++)
    type_of (queue)->release (runtime_of (queue), g_array_index (heap->blocks, Block, i).memory);
  g_array_unref (heap->blocks);
}

/* -- what launchers call -- */

static bool
queue_launch (
    AdjKQueue *kernels, const char *symbol, const AdjKLaunch *launch, const void *args, size_t size)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;
  AdjGpuKernel *kernel;

  if (queue->error != NULL)
    return false;
  kernel = adj_gpu_find_kernel (queue->gpu, symbol, &queue->error);
  return kernel != NULL && type_of (queue)->launch (runtime_of (queue), queue->stream, kernel,
                                                    launch, args, size, &queue->error);
}

static void *
queue_scratch (AdjKQueue *kernels, size_t n_bytes)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;

  return queue->error == NULL ? take (queue, &queue->scratch, n_bytes) : NULL;
}

static const void *
queue_constant (AdjKQueue *kernels, const void *data, size_t size)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;
  g_autoptr (GBytes) wanted = g_bytes_new_static (data, size);
  gpointer memory = g_hash_table_lookup (queue->sent, wanted);
  GBytes *bytes;

  if (memory != NULL || queue->error != NULL)
    return memory;
  memory = take (queue, &queue->constants, size);
  if (memory == NULL)
    return NULL;
  bytes = g_bytes_new (data, size);
  g_hash_table_insert (queue->sent, bytes, memory);
  return type_of (queue)->copy (runtime_of (queue), queue->stream, memory,
                                g_bytes_get_data (bytes, NULL), size, ADJ_GPU_TO_DEVICE,
                                &queue->error)
             ? memory
             : NULL;
}

static bool
queue_launch_made (
    AdjKQueue *kernels, const char *source, const AdjKLaunch *launch, const void *args, size_t size)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;
  AdjGpuKernel *kernel = queue->error == NULL ? adj_gpu_make_kernel (queue->gpu, source) : NULL;

  if (kernel == NULL)
    return false;
  type_of (queue)->launch (runtime_of (queue), queue->stream, kernel, launch, args, size,
                           &queue->error);
  return true;
}

static bool
queue_gemm (AdjKQueue *kernels, const AdjKGemm *gemm)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;

  return queue->error == NULL &&
         type_of (queue)->gemm (runtime_of (queue), queue->stream, kernels, gemm);
}

static bool
queue_convolve (AdjKQueue *kernels, AdjKConvKind kind, const AdjKConv *conv)
{
  AdjGpuQueue *queue = (AdjGpuQueue *) kernels;

  return queue->error == NULL &&
         type_of (queue)->convolve (runtime_of (queue), queue->stream, kernels, kind, conv);
}

/* -- the queue -- */

AdjGpuQueue *
adj_gpu_queue_new (AdjGpu *gpu, GError **error)
{
  AdjGpuQueue *queue = g_new0 (AdjGpuQueue, 1);

  queue->gpu = adj_gpu_ref (gpu);
  queue->generation = adj_gpu_get_generation (gpu);
  queue->kernels.backend = &adj_k_cuda_backend;
  queue->device = (AdjKDevice){
    .launch = queue_launch,
    .scratch = queue_scratch,
    .constant = queue_constant,
    .launch_made = type_of (queue)->compile != NULL ? queue_launch_made : NULL,
    .gemm = type_of (queue)->gemm != NULL ? queue_gemm : NULL,
    .convolve = type_of (queue)->convolve != NULL ? queue_convolve : NULL,
  };
  queue->kernels.device = &queue->device;
  queue->scratch.blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  queue->constants.blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  queue->sent =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  queue->stream = type_of (queue)->stream_new (runtime_of (queue), error);
  if (queue->stream != NULL)
    queue->read =
        type_of (queue)->alloc_pinned (runtime_of (queue), 2 * sizeof queue->read[0], error);
  if (queue->read != NULL)
    queue->kernels.faults =
        type_of (queue)->alloc (runtime_of (queue), sizeof queue->read[0], error);
  if (queue->kernels.faults == NULL)
    {
      adj_gpu_queue_free (queue);
      return NULL;
    }
  queue->read[1] = ADJ_K_NO_FAULTS;
  return queue;
}

void
adj_gpu_queue_free (AdjGpuQueue *queue)
{
  if (queue == NULL)
    return;

  if (queue->stream != NULL && is_there (queue))
    type_of (queue)->stream_free (runtime_of (queue), queue->stream);
  free_heap (queue, &queue->scratch);
  free_heap (queue, &queue->constants);
  if (queue->kernels.faults != NULL && is_there (queue))
    type_of (queue)->release (runtime_of (queue), queue->kernels.faults);
  if (queue->read != NULL && is_there (queue))
    type_of (queue)->release_pinned (runtime_of (queue), queue->read);
  g_hash_table_unref (queue->sent);
  g_clear_error (&queue->error);
  adj_gpu_unref (queue->gpu);
  g_free (queue);
}

AdjKQueue *
adj_gpu_queue_get_kernels (AdjGpuQueue *queue)
{
  return &queue->kernels;
}

AdjGpuStream *
adj_gpu_queue_get_stream (AdjGpuQueue *queue)
{
  return queue->stream;
}

gboolean
adj_gpu_queue_check (AdjGpuQueue *queue, GError **error)
{
  if (queue->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&queue->error));
  return FALSE;
}

void
adj_gpu_queue_next_region (AdjGpuQueue *queue)
{
  give_again (&queue->scratch);
  queue->kernels.lacks = NULL;
}

gboolean
adj_gpu_queue_clear_faults (AdjGpuQueue *queue, GError **error)
{
  return type_of (queue)->copy (runtime_of (queue), queue->stream, queue->kernels.faults,
                                &queue->read[1], sizeof queue->read[1], ADJ_GPU_TO_DEVICE, error);
}

gboolean
adj_gpu_queue_wait (AdjGpuQueue *queue, AdjKFaults *faults, GError **error)
{
  if (!adj_gpu_queue_check (queue, error) ||
      !type_of (queue)->copy (runtime_of (queue), queue->stream, &queue->read[0],
                              queue->kernels.faults, sizeof queue->read[0], ADJ_GPU_TO_HOST,
                              error) ||
      !type_of (queue)->stream_wait (runtime_of (queue), queue->stream, error))
    return FALSE;
  *faults = queue->read[0];
  return TRUE;
}

static guint64
count_bytes (const Heap *heap)
{
  guint64 n = 0;

  for (guint i = 0; i < heap->blocks->len; i++)
    n += g_array_index (heap->blocks, Block, i).n_bytes;
  return n;
}

guint64
adj_gpu_queue_get_bytes (const AdjGpuQueue *queue)
{
  return count_bytes (&queue->scratch) + count_bytes (&queue->constants);
}
