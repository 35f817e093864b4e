/* SPDX-License-Identifier: MIT */
/* cuBLASLt by dlopen.  Its matrices are column-major, so it computes Cᵀ = Bᵀ Aᵀ.  f32 is computed
 * in f32, without TF32; the library's choice for a call is cached. */

#include "device/cuda-products.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include "base/adj-macros.h"
#include "device/cuda-library.h"

#define WORKSPACE ((gsize) 32 << 20)

/* X (function of cublasLt.h) */
#define FUNCTIONS(X)                                                                               \
  X (cublasLtCreate)                                                                               \
  X (cublasLtMatmul)                                                                               \
  X (cublasLtMatmulAlgoGetHeuristic)                                                               \
  X (cublasLtMatmulDescCreate)                                                                     \
  X (cublasLtMatmulDescDestroy)                                                                    \
  X (cublasLtMatmulDescSetAttribute)                                                               \
  X (cublasLtMatmulPreferenceCreate)                                                               \
  X (cublasLtMatmulPreferenceDestroy)                                                              \
  X (cublasLtMatmulPreferenceSetAttribute)                                                         \
  X (cublasLtMatrixLayoutCreate)                                                                   \
  X (cublasLtMatrixLayoutDestroy)                                                                  \
  X (cublasLtMatrixLayoutSetAttribute)

#define FUNCTION_FIELD(name) __typeof__ (&name) name;
#define FUNCTION_NAME(name) #name,

static struct
{
  FUNCTIONS (FUNCTION_FIELD)
} lt;

static const char *const function_names[] = { FUNCTIONS (FUNCTION_NAME) };
static const char *const library_names[] = { "libcublasLt.so.13", "libcublasLt.so.12", NULL };

static CudaLibrary library = { .names = library_names,
                               .functions = function_names,
                               .n_functions = G_N_ELEMENTS (function_names),
                               .table = (void **) &lt };

const char *
adj_cuda_products_missing (void)
{
  return cuda_library_open (&library) ? NULL
                                      : "the library libcublasLt is not here: products are slower";
}

/* -- matrices -- */

/* A matrix in memory, or a batch of them, in the library's terms. */
typedef struct
{
  gint64 rows, cols, ld, batch; /* columns are @ld elements apart, matrices @batch */
  gint32 turned;                /* its transpose is used */
  gint32 type;                  /* cudaDataType */
} Matrix;

typedef struct
{
  Matrix first, second, added, result;
  gint64 n_batches;
  gint32 bias, device, alignment; /* @alignment: of all addresses, in bytes */
  gint32 padding;
} Shape;

/* The algorithm that the library chose. */
typedef struct
{
  gboolean found;
  cublasLtMatmulAlgo_t algorithm;
  gsize workspace;
} Choice;

static const struct
{
  gboolean known;
  cudaDataType data, scale;
  cublasComputeType_t compute;
} types[ADJ_K_N] = {
  [ADJ_K_F16] = { TRUE, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F },
  [ADJ_K_BF16] = { TRUE, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F },
  [ADJ_K_F32] = { TRUE, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F },
  [ADJ_K_F64] = { TRUE, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F },
};

/* The transpose of @view as a column-major matrix: a row of @view is a column of it. */
static gboolean
find_matrix (const AdjKView *view, Matrix *out)
{
  int batched = view->rank == 3;
  gint64 rows = view->size[batched], cols = view->size[batched + 1];
  gint64 down = view->stride[batched], across = view->stride[batched + 1];

  *out = (Matrix){ .batch = batched ? view->stride[0] : 0, .type = types[view->type].data };
  if (across == 1 || cols == 1)
    {
      out->rows = cols;
      out->cols = rows;
      out->ld = rows > 1 ? down : MAX (cols, 1);
    }
  else if (down == 1 || rows == 1)
    {
      out->rows = rows;
      out->cols = cols;
      out->ld = cols > 1 ? across : MAX (rows, 1);
      out->turned = TRUE;
    }
  return out->ld >= MAX (out->rows, 1);
}

static void
turn (AdjKView *view)
{
  int batched = view->rank == 3;
  gint64 size = view->size[batched], stride = view->stride[batched];

  view->size[batched] = view->size[batched + 1];
  view->stride[batched] = view->stride[batched + 1];
  view->size[batched + 1] = size;
  view->stride[batched + 1] = stride;
}

/* Whether one row is added to all rows of the result. */
static gboolean
is_bias (const AdjKGemm *gemm)
{
  const AdjKView *d = gemm->d;
  int batched = d->rank == 3;

  return gemm->beta == 1 && d->type == gemm->c.type && d->type != ADJ_K_F64 && !batched &&
         d->stride[0] == 0 && (d->stride[1] == 1 || d->size[1] == 1);
}

/* The largest power of two, of at most 256, that divides all addresses. */
static gint32
find_alignment (const AdjKGemm *gemm)
{
  guintptr addresses =
      (guintptr) gemm->a.data | (guintptr) gemm->b.data | (guintptr) gemm->c.data | 256;

  if (gemm->d != NULL && gemm->beta != 0)
    addresses |= (guintptr) gemm->d->data;
  return (gint32) (addresses & -addresses);
}

/* %FALSE: the library does not support it. */
static gboolean
find_shape (const AdjKGemm *gemm, Shape *shape)
{
  gboolean widens =
      gemm->c.type == ADJ_K_F32 && (gemm->a.type == ADJ_K_F16 || gemm->a.type == ADJ_K_BF16);

  if (!types[gemm->c.type].known || gemm->a.type != gemm->b.type ||
      (gemm->a.type != gemm->c.type && !widens) || !find_matrix (&gemm->c, &shape->result) ||
      shape->result.turned || !find_matrix (&gemm->b, &shape->first) ||
      !find_matrix (&gemm->a, &shape->second))
    return FALSE;
  shape->n_batches = gemm->c.rank == 3 ? gemm->c.size[0] : 1;
  shape->added = shape->result;
  shape->alignment = find_alignment (gemm);
  if (gemm->d == NULL || gemm->beta == 0)
    return TRUE;
  shape->bias = is_bias (gemm);
  return shape->bias || (gemm->d->type == gemm->c.type && find_matrix (gemm->d, &shape->added) &&
                         !shape->added.turned);
}

/* -- the call -- */

typedef struct
{
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t first, second, added, result;
  gboolean failed;
} Call;

static void
note (Call *call, cublasStatus_t status)
{
  call->failed = call->failed || status != CUBLAS_STATUS_SUCCESS;
}

static void
describe_matrix (Call *call, const Shape *shape, const Matrix *matrix, cublasLtMatrixLayout_t *out)
{
  gint32 n = (gint32) shape->n_batches;

  note (call,
        lt.cublasLtMatrixLayoutCreate (out, (cudaDataType) matrix->type, (uint64_t) matrix->rows,
                                       (uint64_t) matrix->cols, matrix->ld));
  if (call->failed)
    return;
  note (call, lt.cublasLtMatrixLayoutSetAttribute (*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &n,
                                                   sizeof n));
  note (call,
        lt.cublasLtMatrixLayoutSetAttribute (*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &matrix->batch, sizeof matrix->batch));
}

static void
describe_product (Call *call, const Shape *shape, const AdjKGemm *gemm)
{
  const cublasOperation_t operations[] = { CUBLAS_OP_N, CUBLAS_OP_T };
  const cublasLtEpilogue_t bias = CUBLASLT_EPILOGUE_BIAS;

  note (call, lt.cublasLtMatmulDescCreate (&call->product, types[gemm->c.type].compute,
                                           types[gemm->c.type].scale));
  if (call->failed)
    return;
  note (call,
        lt.cublasLtMatmulDescSetAttribute (call->product, CUBLASLT_MATMUL_DESC_TRANSA,
                                           &operations[shape->first.turned], sizeof operations[0]));
  note (call, lt.cublasLtMatmulDescSetAttribute (call->product, CUBLASLT_MATMUL_DESC_TRANSB,
                                                 &operations[shape->second.turned],
                                                 sizeof operations[0]));
  if (!shape->bias)
    return;
  note (call, lt.cublasLtMatmulDescSetAttribute (call->product, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                 &bias, sizeof bias));
  note (call, lt.cublasLtMatmulDescSetAttribute (call->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                 &gemm->d->data, sizeof gemm->d->data));
}

static void
clear_call (Call *call)
{
  if (call->product != NULL)
    lt.cublasLtMatmulDescDestroy (call->product);
  if (call->first != NULL)
    lt.cublasLtMatrixLayoutDestroy (call->first);
  if (call->second != NULL)
    lt.cublasLtMatrixLayoutDestroy (call->second);
  if (call->added != NULL)
    lt.cublasLtMatrixLayoutDestroy (call->added);
  if (call->result != NULL)
    lt.cublasLtMatrixLayoutDestroy (call->result);
}

/* -- what the library would do -- */

static void
prefer (cublasLtMatmulPreference_t preference, guint32 alignment)
{
  static const cublasLtMatmulPreferenceAttributes_t operands[] = {
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES
  };
  const gsize workspace = WORKSPACE;

  lt.cublasLtMatmulPreferenceSetAttribute (preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &workspace, sizeof workspace);
  for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
    lt.cublasLtMatmulPreferenceSetAttribute (preference, operands[i], &alignment, sizeof alignment);
}

static Choice *
ask (cublasLtHandle_t handle, const Shape *shape, const Call *call)
{
  Choice *choice = g_new0 (Choice, 1);
  cublasLtMatmulPreference_t preference = NULL;
  cublasLtMatmulHeuristicResult_t best;
  int n = 0;

  if (lt.cublasLtMatmulPreferenceCreate (&preference) != CUBLAS_STATUS_SUCCESS)
    return choice;
  prefer (preference, (guint32) shape->alignment);
  choice->found = lt.cublasLtMatmulAlgoGetHeuristic (
                      handle, call->product, call->first, call->second, call->added, call->result,
                      preference, 1, &best, &n) == CUBLAS_STATUS_SUCCESS &&
                  n == 1 && best.state == CUBLAS_STATUS_SUCCESS;
  lt.cublasLtMatmulPreferenceDestroy (preference);
  if (choice->found)
    {
      choice->algorithm = best.algo;
      choice->workspace = best.workspaceSize;
    }
  return choice;
}

/* Must be called with the lock held. */
static Choice
choose (cublasLtHandle_t handle, const Shape *shape, const Call *call)
{
  Choice *choice = cuda_library_find (&library, shape, sizeof *shape);

  if (choice == NULL)
    {
      choice = ask (handle, shape, call);
      cuda_library_keep (&library, shape, sizeof *shape, choice);
    }
  return *choice;
}

static gboolean
run (cublasLtHandle_t handle,
     const Call *call,
     const Choice *choice,
     const Shape *shape,
     AdjGpuStream *stream,
     AdjKQueue *queue,
     const AdjKGemm *gemm)
{
  gboolean is_double = gemm->c.type == ADJ_K_F64;
  gboolean adds = gemm->d != NULL && gemm->beta != 0 && !shape->bias;
  const double factors64[] = { gemm->alpha, adds ? gemm->beta : 0 };
  const float factors32[] = { (float) factors64[0], (float) factors64[1] };
  const void *alpha = is_double ? (const void *) &factors64[0] : &factors32[0];
  const void *beta = is_double ? (const void *) &factors64[1] : &factors32[1];
  void *workspace =
      choice->workspace > 0 ? queue->device->scratch (queue, choice->workspace) : NULL;

  if (choice->workspace > 0 && workspace == NULL)
    return TRUE; /* the queue reports the error */
  return lt.cublasLtMatmul (handle, call->product, alpha, gemm->b.data, call->first, gemm->a.data,
                            call->second, beta, adds ? gemm->d->data : gemm->c.data, call->added,
                            gemm->c.data, call->result, &choice->algorithm, workspace,
                            choice->workspace, (cudaStream_t) stream) == CUBLAS_STATUS_SUCCESS;
}

/* Swaps and transposes the operands where the result is column-major: Cᵀ = Bᵀ Aᵀ.  @d: (out): for
 * @out. */
static void
find_rows (const AdjKGemm *gemm, AdjKGemm *out, AdjKView *d)
{
  int batched = gemm->c.rank == 3;

  *out = *gemm;
  if (gemm->c.stride[batched + 1] == 1 || gemm->c.size[batched + 1] == 1)
    return;
  out->a = gemm->b;
  out->b = gemm->a;
  turn (&out->a);
  turn (&out->b);
  turn (&out->c);
  if (gemm->d == NULL)
    return;
  *d = *gemm->d;
  turn (d);
  out->d = d;
}

static void
describe_call (const Shape *shape, const AdjKGemm *gemm, Call *call)
{
  describe_product (call, shape, gemm);
  describe_matrix (call, shape, &shape->first, &call->first);
  describe_matrix (call, shape, &shape->second, &call->second);
  describe_matrix (call, shape, &shape->added, &call->added);
  describe_matrix (call, shape, &shape->result, &call->result);
}

gboolean
adj_cuda_gemm (AdjGpuRuntime *runtime, AdjGpuStream *stream, AdjKQueue *queue, const AdjKGemm *gemm)
{
  AdjKGemm turned;
  AdjKView d;
  Shape shape;
  Call call = { .failed = FALSE };
  Choice choice = { .found = FALSE };
  cublasLtHandle_t handle = NULL;
  gboolean done = FALSE;

  memset (&shape, 0, sizeof shape);
  if (!cuda_library_open (&library) || cudaGetDevice (&shape.device) != cudaSuccess)
    return FALSE;
  find_rows (gemm, &turned, &d);
  if (!find_shape (&turned, &shape))
    return FALSE;
  describe_call (&shape, &turned, &call);
  g_mutex_lock (&library.lock);
  if (!call.failed)
    handle = cuda_library_get_handle (&library, runtime, shape.device);
  if (handle != NULL)
    choice = choose (handle, &shape, &call);
  g_mutex_unlock (&library.lock);
  if (choice.found)
    done = run (handle, &call, &choice, &shape, stream, queue, &turned);
  clear_call (&call);
  return done;
}
