/* SPDX-License-Identifier: MIT */
/* cuDNN by dlopen.  f32 is computed in f32, without TF32; only deterministic algorithms are used,
 * and the library's choice for a call is cached. */

#include "device/cuda-convolutions.h"

#include <cuda_runtime.h>
#include <cudnn.h>

#include "base/adj-macros.h"
#include "device/cuda-library.h"

#define MAX_WORKSPACE ((gsize) 1 << 30)
#define MAX_DIMS 5
#define MAX_ADVICE 16

/* X (function of cudnn.h) */
#define FUNCTIONS(X)                                                                               \
  X (cudnnCreate)                                                                                  \
  X (cudnnAddTensor)                                                                               \
  X (cudnnConvolutionBackwardData)                                                                 \
  X (cudnnConvolutionBackwardFilter)                                                               \
  X (cudnnConvolutionForward)                                                                      \
  X (cudnnCreateConvolutionDescriptor)                                                             \
  X (cudnnCreateFilterDescriptor)                                                                  \
  X (cudnnCreateTensorDescriptor)                                                                  \
  X (cudnnDestroyConvolutionDescriptor)                                                            \
  X (cudnnDestroyFilterDescriptor)                                                                 \
  X (cudnnDestroyTensorDescriptor)                                                                 \
  X (cudnnGetConvolutionBackwardDataAlgorithm_v7)                                                  \
  X (cudnnGetConvolutionBackwardFilterAlgorithm_v7)                                                \
  X (cudnnGetConvolutionForwardAlgorithm_v7)                                                       \
  X (cudnnSetConvolutionGroupCount)                                                                \
  X (cudnnSetConvolutionMathType)                                                                  \
  X (cudnnSetConvolutionNdDescriptor)                                                              \
  X (cudnnSetFilterNdDescriptor)                                                                   \
  X (cudnnSetStream)                                                                               \
  X (cudnnSetTensorNdDescriptor)

#define FUNCTION_FIELD(name) __typeof__ (&name) name;
#define FUNCTION_NAME(name) #name,

static struct
{
  FUNCTIONS (FUNCTION_FIELD)
} dnn;

static const char *const function_names[] = { FUNCTIONS (FUNCTION_NAME) };
static const char *const library_names[] = { "libcudnn.so.9", NULL };

static CudaLibrary library = { .names = library_names,
                               .functions = function_names,
                               .n_functions = G_N_ELEMENTS (function_names),
                               .table = (void **) &dnn };

const char *
adj_cuda_convolutions_missing (void)
{
  return cuda_library_open (&library) ? NULL
                                      : "the library libcudnn is not here: convolutions are slower";
}

/* -- descriptions -- */

typedef struct
{
  int size[MAX_DIMS], stride[MAX_DIMS];
} Volume;

/* The cache key of a convolution: 4 or 5 dims; one-dimensional ones get a height of 1. */
typedef struct
{
  Volume x, w, y;
  int n_dims, kind, type, groups, device, channels_last; /* @channels_last: of w */
  int stride[3], padding[3], dilation[3];
} Shape;

/* The algorithm that the library chose. */
typedef struct
{
  gboolean found;
  int algorithm;
  gsize workspace;
} Choice;

static const struct
{
  gboolean known;
  cudnnDataType_t data, compute;
  cudnnMathType_t math;
} types[ADJ_K_N] = {
  [ADJ_K_F16] = { TRUE, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH },
  [ADJ_K_BF16] = { TRUE, CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH },
  [ADJ_K_F32] = { TRUE, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH },
  [ADJ_K_F64] = { TRUE, CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, CUDNN_FMA_MATH },
};

/* %FALSE: a size exceeds an int, or elements share memory. */
static gboolean
find_volume (const AdjKView *view, int n_dims, Volume *out)
{
  int missing = n_dims - view->rank;

  for (int d = 0; d < n_dims; d++)
    {
      gboolean is_new = d >= 2 && d - missing < 2;
      int from = d < 2 ? d : d - missing;
      gint64 size = is_new ? 1 : view->size[from], stride = is_new ? 1 : view->stride[from];

      if (size < 1 || size > G_MAXINT || stride > G_MAXINT || (stride == 0 && size > 1))
        return FALSE;
      out->size[d] = (int) size;
      out->stride[d] = (int) MAX (stride, 1);
    }
  return TRUE;
}

/* Whether the strides (of dims larger than 1) are contiguous in the order of @dims. */
static gboolean
is_packed (const Volume *volume, int n_dims, const int *dims)
{
  gint64 stride = 1;

  for (int i = n_dims; i-- > 0;)
    {
      int d = dims[i];

      if (volume->size[d] > 1 && volume->stride[d] != stride)
        return FALSE;
      stride *= volume->size[d];
    }
  return TRUE;
}

/* Finds the order of the weights, which must be contiguous, channels first or last. */
static gboolean
find_order (Shape *shape)
{
  static const int first[] = { 0, 1, 2, 3, 4 }, last4[] = { 0, 2, 3, 1 },
                   last5[] = { 0, 2, 3, 4, 1 };

  if (is_packed (&shape->w, shape->n_dims, first))
    return TRUE;
  shape->channels_last = TRUE;
  return is_packed (&shape->w, shape->n_dims, shape->n_dims == 4 ? last4 : last5);
}

static gboolean
find_shape (AdjKConvKind kind, const AdjKConv *conv, Shape *shape)
{
  int missing;

  memset (shape, 0, sizeof *shape);
  shape->n_dims = MAX (conv->x.rank, 4);
  missing = shape->n_dims - conv->x.rank;
  shape->kind = (int) kind;
  shape->type = (int) conv->x.type;
  shape->groups = (int) conv->groups;
  for (int d = 0; d < shape->n_dims - 2; d++)
    {
      shape->stride[d] = d < missing ? 1 : (int) conv->stride[d - missing];
      shape->padding[d] = d < missing ? 0 : (int) conv->padding[d - missing];
      shape->dilation[d] = d < missing ? 1 : (int) conv->dilation[d - missing];
    }
  return types[conv->x.type].known && conv->w.type == conv->x.type &&
         conv->y.type == conv->x.type && find_volume (&conv->x, shape->n_dims, &shape->x) &&
         find_volume (&conv->w, shape->n_dims, &shape->w) &&
         find_volume (&conv->y, shape->n_dims, &shape->y) && find_order (shape);
}

/* The library's descriptors of one call. */
typedef struct
{
  cudnnTensorDescriptor_t x, y, bias;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  gboolean failed;
} Call;

static void
note (Call *call, cudnnStatus_t status)
{
  call->failed = call->failed || status != CUDNN_STATUS_SUCCESS;
}

static void
describe_volume (Call *call, const Shape *shape, const Volume *volume, cudnnTensorDescriptor_t *out)
{
  note (call, dnn.cudnnCreateTensorDescriptor (out));
  if (!call->failed)
    note (call, dnn.cudnnSetTensorNdDescriptor (*out, types[shape->type].data, shape->n_dims,
                                                volume->size, volume->stride));
}

static void
describe_weights (Call *call, const Shape *shape)
{
  note (call, dnn.cudnnCreateFilterDescriptor (&call->w));
  if (!call->failed)
    note (call, dnn.cudnnSetFilterNdDescriptor (call->w, types[shape->type].data,
                                                shape->channels_last ? CUDNN_TENSOR_NHWC
                                                                     : CUDNN_TENSOR_NCHW,
                                                shape->n_dims, shape->w.size));
}

static void
describe_convolution (Call *call, const Shape *shape)
{
  note (call, dnn.cudnnCreateConvolutionDescriptor (&call->conv));
  if (call->failed)
    return;
  note (call, dnn.cudnnSetConvolutionNdDescriptor (
                  call->conv, shape->n_dims - 2, shape->padding, shape->stride, shape->dilation,
                  CUDNN_CROSS_CORRELATION, types[shape->type].compute));
  note (call, dnn.cudnnSetConvolutionGroupCount (call->conv, shape->groups));
  note (call, dnn.cudnnSetConvolutionMathType (call->conv, types[shape->type].math));
}

static void
describe_bias (Call *call, const Shape *shape, const AdjKConv *conv)
{
  Volume bias;

  if (conv->bias == NULL)
    return;
  for (int d = 0; d < shape->n_dims; d++)
    {
      bias.size[d] = d == 1 ? (int) conv->bias->size[0] : 1;
      bias.stride[d] = d == 0 ? (int) conv->bias->size[0] : 1;
    }
  call->failed = call->failed || conv->bias->type != conv->x.type ||
                 (conv->bias->size[0] > 1 && conv->bias->stride[0] != 1);
  describe_volume (call, shape, &bias, &call->bias);
}

static void
clear_call (Call *call)
{
  if (call->x != NULL)
    dnn.cudnnDestroyTensorDescriptor (call->x);
  if (call->y != NULL)
    dnn.cudnnDestroyTensorDescriptor (call->y);
  if (call->bias != NULL)
    dnn.cudnnDestroyTensorDescriptor (call->bias);
  if (call->w != NULL)
    dnn.cudnnDestroyFilterDescriptor (call->w);
  if (call->conv != NULL)
    dnn.cudnnDestroyConvolutionDescriptor (call->conv);
}

/* -- what the library advises -- */

#define TAKE_FIRST(advice, n, out)                                                                 \
  for (int i = 0; i < (n) && !(out)->found; i++)                                                   \
    if ((advice)[i].status == CUDNN_STATUS_SUCCESS &&                                              \
        (advice)[i].determinism == CUDNN_DETERMINISTIC && (advice)[i].memory <= MAX_WORKSPACE)     \
      *(out) = (Choice){ TRUE, (int) (advice)[i].algo, (advice)[i].memory };

static void
ask_forward (cudnnHandle_t handle, const Call *call, Choice *out)
{
  cudnnConvolutionFwdAlgoPerf_t advice[MAX_ADVICE];
  int n = 0;

  if (dnn.cudnnGetConvolutionForwardAlgorithm_v7 (handle, call->x, call->w, call->conv, call->y,
                                                  MAX_ADVICE, &n, advice) == CUDNN_STATUS_SUCCESS)
    TAKE_FIRST (advice, n, out);
}

static void
ask_input (cudnnHandle_t handle, const Call *call, Choice *out)
{
  cudnnConvolutionBwdDataAlgoPerf_t advice[MAX_ADVICE];
  int n = 0;

  if (dnn.cudnnGetConvolutionBackwardDataAlgorithm_v7 (handle, call->w, call->y, call->conv,
                                                       call->x, MAX_ADVICE, &n,
                                                       advice) == CUDNN_STATUS_SUCCESS)
    TAKE_FIRST (advice, n, out);
}

static void
ask_weight (cudnnHandle_t handle, const Call *call, Choice *out)
{
  cudnnConvolutionBwdFilterAlgoPerf_t advice[MAX_ADVICE];
  int n = 0;

  if (dnn.cudnnGetConvolutionBackwardFilterAlgorithm_v7 (handle, call->x, call->y, call->conv,
                                                         call->w, MAX_ADVICE, &n,
                                                         advice) == CUDNN_STATUS_SUCCESS)
    TAKE_FIRST (advice, n, out);
}

/* The functions of each kind: choose an algorithm, compute. */
typedef struct
{
  void (*ask) (cudnnHandle_t handle, const Call *call, Choice *out);
  cudnnStatus_t (*run) (cudnnHandle_t handle,
                        const Call *call,
                        const Choice *choice,
                        void *workspace,
                        const AdjKConv *conv);
} Kind;

/* 1 and 0 in the type of accumulation. */
static const float one32 = 1, none32 = 0;
static const double one64 = 1, none64 = 0;

static const void *
one_of (const AdjKConv *conv)
{
  return conv->x.type == ADJ_K_F64 ? (const void *) &one64 : &one32;
}

static const void *
none_of (const AdjKConv *conv)
{
  return conv->x.type == ADJ_K_F64 ? (const void *) &none64 : &none32;
}

static cudnnStatus_t
run_forward (cudnnHandle_t handle,
             const Call *call,
             const Choice *choice,
             void *workspace,
             const AdjKConv *conv)
{
  return dnn.cudnnConvolutionForward (handle, one_of (conv), call->x, conv->x.data, call->w,
                                      conv->w.data, call->conv,
                                      (cudnnConvolutionFwdAlgo_t) choice->algorithm, workspace,
                                      choice->workspace, none_of (conv), call->y, conv->y.data);
}

static cudnnStatus_t
run_input (cudnnHandle_t handle,
           const Call *call,
           const Choice *choice,
           void *workspace,
           const AdjKConv *conv)
{
  return dnn.cudnnConvolutionBackwardData (
      handle, one_of (conv), call->w, conv->w.data, call->y, conv->y.data, call->conv,
      (cudnnConvolutionBwdDataAlgo_t) choice->algorithm, workspace, choice->workspace,
      none_of (conv), call->x, conv->x.data);
}

static cudnnStatus_t
run_weight (cudnnHandle_t handle,
            const Call *call,
            const Choice *choice,
            void *workspace,
            const AdjKConv *conv)
{
  return dnn.cudnnConvolutionBackwardFilter (
      handle, one_of (conv), call->x, conv->x.data, call->y, conv->y.data, call->conv,
      (cudnnConvolutionBwdFilterAlgo_t) choice->algorithm, workspace, choice->workspace,
      none_of (conv), call->w, conv->w.data);
}

static const Kind kinds[] = {
  [ADJ_K_CONV_FORWARD] = { ask_forward, run_forward },
  [ADJ_K_CONV_INPUT] = { ask_input, run_input },
  [ADJ_K_CONV_WEIGHT] = { ask_weight, run_weight },
};

/* Must be called with the lock held. */
static Choice
choose (cudnnHandle_t handle, const Shape *shape, const Call *call)
{
  Choice *choice = cuda_library_find (&library, shape, sizeof *shape);

  if (choice == NULL)
    {
      choice = g_new0 (Choice, 1);
      kinds[shape->kind].ask (handle, call, choice);
      cuda_library_keep (&library, shape, sizeof *shape, choice);
    }
  return *choice;
}

/* -- the call -- */

/* Must be called with the lock held, since a handle has one stream. */
static gboolean
run (cudnnHandle_t handle,
     const Call *call,
     const Choice *choice,
     const Shape *shape,
     AdjGpuStream *stream,
     AdjKQueue *queue,
     const AdjKConv *conv)
{
  gboolean to_x = shape->kind == ADJ_K_CONV_INPUT;
  void *workspace =
      choice->workspace > 0 ? queue->device->scratch (queue, choice->workspace) : NULL;

  if (choice->workspace > 0 && workspace == NULL)
    return TRUE; /* the queue reports the error */
  if (dnn.cudnnSetStream (handle, (cudaStream_t) stream) != CUDNN_STATUS_SUCCESS ||
      kinds[shape->kind].run (handle, call, choice, workspace, conv) != CUDNN_STATUS_SUCCESS)
    return FALSE;
  return call->bias == NULL ||
         dnn.cudnnAddTensor (handle, one_of (conv), call->bias, conv->bias->data, one_of (conv),
                             to_x ? call->x : call->y,
                             to_x ? conv->x.data : conv->y.data) == CUDNN_STATUS_SUCCESS;
}

gboolean
adj_cuda_convolve (AdjGpuRuntime *runtime,
                   AdjGpuStream *stream,
                   AdjKQueue *queue,
                   AdjKConvKind kind,
                   const AdjKConv *conv)
{
  Shape shape;
  Call call = { .failed = FALSE };
  Choice choice = { .found = FALSE };
  cudnnHandle_t handle;
  gboolean done = FALSE;

  if (!cuda_library_open (&library) || !find_shape (kind, conv, &shape) ||
      cudaGetDevice (&shape.device) != cudaSuccess)
    return FALSE;
  describe_volume (&call, &shape, &shape.x, &call.x);
  describe_volume (&call, &shape, &shape.y, &call.y);
  describe_weights (&call, &shape);
  describe_convolution (&call, &shape);
  describe_bias (&call, &shape, conv);
  g_mutex_lock (&library.lock);
  handle = call.failed ? NULL : cuda_library_get_handle (&library, runtime, shape.device);
  if (handle != NULL)
    choice = choose (handle, &shape, &call);
  if (choice.found)
    done = run (handle, &call, &choice, &shape, stream, queue, conv);
  g_mutex_unlock (&library.lock);
  clear_call (&call);
  return done;
}
