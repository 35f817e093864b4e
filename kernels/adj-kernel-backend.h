/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-attention.h"
#include "adj-kernel-conv.h"
#include "adj-kernel-fused.h"
#include "adj-kernel-optimizer.h"
#include "adj-kernel-pool.h"
#include "adj-kernel-random.h"
#include "adj-kernel-resample.h"
#include "adj-kernel-sort.h"
#include "adj-kernels.h"

/* Where kernels run.  Callers have a queue and call adj_q_copy (queue, dst, src), which dispatches
 * to the queue's backend; adj_k_copy (dst, src) is the CPU's function.
 *
 * On a device:
 *
 *  - Views hold device addresses.  Other arguments by address (views that may be NULL, programs)
 *    are in host memory, and are read before the call returns.
 *  - Calls return before the work is done; it is done in the order of the calls.
 *  - Faults of data (a bad index, a division by zero), for which the CPU's function returns false,
 *    go into the queue's AdjKFaults, which the host reads when it waits; the call returns true.  A
 * call returns false, as those of the CPU do, when memory ran out. */

/* X (RESULT, name, (PARAMETERS), (ARGUMENTS)): one row per kernel, as its header declares it. */
/* clang-format off */
#define ADJ_K_CONV_ENTRIES(X)                                                                      \
  X (bool, conv, (const AdjKConv *conv), (conv))                                                   \
  X (bool, conv_input, (const AdjKConv *conv), (conv))                                             \
  X (bool, conv_weight, (const AdjKConv *conv), (conv))

#define ADJ_K_OTHER_ENTRIES(X)                                                                     \
  X (void, copy, (const AdjKView *dst, const AdjKView *src), (dst, src))                           \
  X (void, fill_f64, (const AdjKView *dst, double value), (dst, value))                            \
  X (void, fill_i64, (const AdjKView *dst, int64_t value), (dst, value))                           \
  X (void, iota_f64, (const AdjKView *dst, double start, double step), (dst, start, step))         \
  X (void, iota_i64, (const AdjKView *dst, int64_t start, int64_t step), (dst, start, step))       \
  X (void, tril, (const AdjKView *dst, const AdjKView *src, int64_t diagonal),                     \
     (dst, src, diagonal))                                                                         \
  X (void, triu, (const AdjKView *dst, const AdjKView *src, int64_t diagonal),                     \
     (dst, src, diagonal))                                                                         \
  X (bool, pointwise,                                                                              \
     (const AdjKProgram *program, const AdjKView *out, const AdjKView *inputs),                    \
     (program, out, inputs))                                                                       \
  X (bool, fused, (const AdjKFused *fused, const AdjKView *operands), (fused, operands))           \
  X (void, reduce, (AdjKReduce kind, const AdjKView *out, const AdjKView *in, uint32_t dims),      \
     (kind, out, in, dims))                                                                        \
  X (void, var_mean,                                                                               \
     (const AdjKView *var, const AdjKView *mean, const AdjKView *in, uint32_t dims,                \
      double correction),                                                                          \
     (var, mean, in, dims, correction))                                                            \
  X (void, max_dim,                                                                                \
     (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim),               \
     (values, indices, in, dim))                                                                   \
  X (void, min_dim,                                                                                \
     (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim),               \
     (values, indices, in, dim))                                                                   \
  X (void, cumsum, (const AdjKView *out, const AdjKView *in, int dim), (out, in, dim))             \
  X (void, cumprod, (const AdjKView *out, const AdjKView *in, int dim), (out, in, dim))            \
  X (void, gemm, (const AdjKGemm *gemm), (gemm))                                                   \
  X (void, softmax, (const AdjKView *out, const AdjKView *in, int dim), (out, in, dim))            \
  X (void, log_softmax, (const AdjKView *out, const AdjKView *in, int dim), (out, in, dim))        \
  X (void, softmax_backward,                                                                       \
     (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim), (gx, g, y, dim))         \
  X (void, log_softmax_backward,                                                                   \
     (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim), (gx, g, y, dim))         \
  X (void, layer_norm, (const AdjKLayerNorm *norm), (norm))                                        \
  X (void, layer_norm_backward, (const AdjKLayerNormBackward *norm), (norm))                       \
  X (bool, nll_loss,                                                                               \
     (const AdjKNll *nll, const AdjKView *out, const AdjKView *total, int64_t *bad),               \
     (nll, out, total, bad))                                                                       \
  X (bool, nll_loss_backward,                                                                      \
     (const AdjKNll *nll, const AdjKView *gx, const AdjKView *g, const AdjKView *total,            \
      int64_t *bad),                                                                               \
     (nll, gx, g, total, bad))                                                                     \
  X (bool, embedding,                                                                              \
     (const AdjKView *out, const AdjKView *weight, const AdjKView *idx, int64_t *bad),             \
     (out, weight, idx, bad))                                                                      \
  X (bool, embedding_backward, (const AdjKEmbeddingBackward *e, int64_t *bad), (e, bad))           \
  X (bool, index_select,                                                                           \
     (const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad),         \
     (out, x, dim, idx, bad))                                                                      \
  X (bool, index_add,                                                                              \
     (const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, double alpha,        \
      int64_t *bad),                                                                               \
     (out, dim, idx, src, alpha, bad))                                                             \
  X (bool, gather,                                                                                 \
     (const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad),         \
     (out, x, dim, idx, bad))                                                                      \
  X (bool, scatter,                                                                                \
     (const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad),       \
     (out, dim, idx, src, bad))                                                                    \
  X (bool, scatter_add,                                                                            \
     (const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad),       \
     (out, dim, idx, src, bad))                                                                    \
  X (bool, index, (const AdjKIndex *index, int64_t *bad), (index, bad))                            \
  X (bool, index_put, (const AdjKIndex *index, int64_t *bad), (index, bad))                        \
  X (bool, sort,                                                                                   \
     (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim,                \
      bool descending),                                                                            \
     (values, indices, in, dim, descending))                                                       \
  X (bool, max_pool, (const AdjKPool *pool, const AdjKView *indices), (pool, indices))             \
  X (bool, pool_check, (const AdjKView *indices, int64_t n, int64_t *bad), (indices, n, bad))      \
  X (bool, unpool,                                                                                 \
     (const AdjKView *x, const AdjKView *y, const AdjKView *indices, bool last),                   \
     (x, y, indices, last))                                                                        \
  X (bool, avg_pool, (const AdjKPool *pool), (pool))                                               \
  X (bool, avg_pool_backward, (const AdjKPool *pool), (pool))                                      \
  X (bool, resample, (const AdjKResample *resample), (resample))                                   \
  X (bool, resample_backward, (const AdjKResample *resample), (resample))                          \
  X (bool, attention,                                                                              \
     (const AdjKAttention *attention, const AdjKView *out, const AdjKView *lse),                   \
     (attention, out, lse))                                                                        \
  X (bool, attention_backward, (const AdjKAttentionBackward *backward), (backward))                \
  X (void, adam, (const AdjKAdam *adam), (adam))                                                   \
  X (void, sgd, (const AdjKSgd *sgd), (sgd))                                                       \
  X (void, unscale, (const AdjKView *x, const AdjKNumber *factor, const AdjKView *found),          \
     (x, factor, found))                                                                           \
  X (void, words, (AdjKTwister *twister, const AdjKView *out), (twister, out))                     \
  X (void, philox, (const AdjKView *seed, const AdjKView *out), (seed, out))                       \
  X (void, uniform, (const AdjKView *out, const AdjKView *words, double scale, double shift),      \
     (out, words, scale, shift))                                                                   \
  X (void, normal, (const AdjKView *x, const AdjKNormal *normal), (x, normal))                     \
  X (void, bernoulli, (const AdjKView *out, const AdjKView *words, double p, bool streams),        \
     (out, words, p, streams))                                                                     \
  X (void, integers,                                                                               \
     (const AdjKView *out, const AdjKView *words, int64_t low, uint64_t range),                    \
     (out, words, low, range))                                                                     \
  X (void, draw, (AdjKPhilox *generator, const AdjKDraw *draw, const AdjKView *out),               \
     (generator, draw, out))
/* clang-format on */

#define ADJ_K_ENTRIES(X) ADJ_K_CONV_ENTRIES (X) ADJ_K_OTHER_ENTRIES (X)

typedef enum
{
#define ADJ_K_ENTRY_ENUM(RESULT, name, parameters, arguments) ADJ_K_ENTRY_##name,
  ADJ_K_ENTRIES (ADJ_K_ENTRY_ENUM)
#undef ADJ_K_ENTRY_ENUM
      ADJ_K_ENTRY_N
} AdjKEntry;

typedef struct AdjKQueue AdjKQueue;

#define ADJ_K_PARAMETERS(...) AdjKQueue *queue, __VA_ARGS__
#define ADJ_K_ARGUMENTS(...) queue, __VA_ARGS__

/* The kernels of one kind of device; a function is NULL where it has no kernel. */
typedef struct
{
  const char *name; /* "cpu" */
#define ADJ_K_ENTRY_FIELD(RESULT, name, parameters, arguments)                                     \
  RESULT (*name) (ADJ_K_PARAMETERS parameters);
  ADJ_K_ENTRIES (ADJ_K_ENTRY_FIELD)
#undef ADJ_K_ENTRY_FIELD
} AdjKBackend;

/* @adj_k_cpu_fast_backend: the same but for convolutions, which take sums in another order where
 * that is faster (adj-kernel-winograd.h). */
extern const AdjKBackend adj_k_cpu_backend, adj_k_cpu_fast_backend;

/* --- queues of devices ------------------------------------------------------------------------ */

/* Faults that kernels found in their data, in device memory.  The host sets it to ADJ_K_NO_FAULTS
 * before work begins, and reads it when it waits. */
typedef struct
{
  int64_t bad_index;     /* the smallest index out of range; INT64_MAX: none */
  int32_t zero_division; /* an integer was divided by zero */
  int32_t padding;
} AdjKFaults;

#define ADJ_K_NO_FAULTS ((AdjKFaults){ .bad_index = INT64_MAX })

typedef struct
{
  uint32_t grid[3], block[3];
  uint32_t shared; /* bytes of dynamic shared memory */
} AdjKLaunch;

/* The functions of a device's runtime that launchers of kernels need.  Work is done in the order of
 * the calls; after the first failure later calls do nothing. */
typedef struct
{
  /* Runs the kernel @symbol of the module with @args, its only parameter, by value: @size bytes,
   * at most 4096, copied before it returns. */
  bool (*launch) (AdjKQueue *queue,
                  const char *symbol,
                  const AdjKLaunch *launch,
                  const void *args,
                  size_t size);
  /* Uninitialised device memory, aligned to 256 bytes, valid until the work queued in its region is
   * done; NULL after a failure. */
  void *(*scratch) (AdjKQueue *queue, size_t bytes);
  /* Device memory with a copy of @bytes, read only, valid as long as scratch memory; calls with
   * equal bytes may share it. */
  const void *(*constant) (AdjKQueue *queue, const void *bytes, size_t size);
  /* (nullable) Runs the kernel "made" of @source, CUDA C that may include files of this folder,
   * with @args as above; false, without effect: it is not compiled yet, or cannot be. */
  bool (*launch_made) (AdjKQueue *queue,
                       const char *source,
                       const AdjKLaunch *launch,
                       const void *args,
                       size_t size);
  /* (nullable) Computed by a library of the device, with sums in its own order; false, without
   * effect: the library does not support it. */
  bool (*gemm) (AdjKQueue *queue, const AdjKGemm *gemm);
  bool (*convolve) (AdjKQueue *queue, AdjKConvKind kind, const AdjKConv *conv);
} AdjKDevice;

struct AdjKQueue
{
  const AdjKBackend *backend;
  const AdjKDevice *device; /* NULL: the memory is the host's, and calls are synchronous */
  AdjKFaults *faults;       /* in device memory; NULL without a device */
  AdjKTwister *twister;     /* (nullable): the generator, in device memory */
  AdjKPhilox *philox;       /* (nullable): the generator of a GPU, in device memory */
  const char *lacks; /* (nullable): the first kernel that was called and that the backend lacks;
                        results are not valid then */
};

/* A queue of the CPU; one for each thread that calls, or one for all: only its member `lacks` is
 * written. */
#define ADJ_K_CPU_QUEUE ((AdjKQueue){ .backend = &adj_k_cpu_backend })

/* Notes that @queue lacks the kernel @name. */
static inline void
adj_k_queue_lacks (AdjKQueue *queue, const char *name)
{
  if (queue->lacks == NULL)
    queue->lacks = name;
}

#define ADJ_K_ENTRY_CALL(RESULT, name, parameters, arguments)                                      \
  static inline RESULT adj_q_##name (ADJ_K_PARAMETERS parameters)                                  \
  {                                                                                                \
    if (queue->backend->name != NULL)                                                              \
      return queue->backend->name (ADJ_K_ARGUMENTS arguments);                                     \
    adj_k_queue_lacks (queue, #name);                                                              \
    return (RESULT) 0;                                                                             \
  }
ADJ_K_ENTRIES (ADJ_K_ENTRY_CALL)
#undef ADJ_K_ENTRY_CALL
