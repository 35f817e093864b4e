/* SPDX-License-Identifier: MIT */
/* The CUDA runtime, linked statically.  It is not initialised before the first call, and its errors
 * become ours; those that end a context are told apart by their code. */

#include <cuda_runtime.h>

#include "base/adj-format-bytes.h"
#include "device/adj-gpu-runtime.h"
#include "device/cuda-compiler.h"
#include "device/cuda-convolutions.h"
#include "device/cuda-products.h"

static gboolean
check (cudaError_t code, const char *doing, GError **error)
{
  if (code == cudaSuccess)
    return TRUE;
  cudaGetLastError ();
  g_set_error (error, ADJ_ERROR,
               code == cudaErrorMemoryAllocation ? ADJ_ERROR_MEMORY : ADJ_ERROR_DEVICE,
               "the GPU fails at %s: %s", doing, cudaGetErrorString (code));
  return FALSE;
}

/* -- devices -- */

static AdjGpuStart
start_of (cudaError_t code, int driver)
{
  static const struct
  {
    cudaError_t code;
    AdjGpuStart start;
  } starts[] = {
    { cudaSuccess, ADJ_GPU_STARTS },
    { cudaErrorNoDevice, ADJ_GPU_NO_DEVICE },
    { cudaErrorSystemDriverMismatch, ADJ_GPU_DRIVER_MISMATCH },
    { cudaErrorDevicesUnavailable, ADJ_GPU_IN_USE },
  };

  if (code == cudaErrorInsufficientDriver)
    return driver == 0 ? ADJ_GPU_NO_DRIVER : ADJ_GPU_OLD_DRIVER;
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (starts[i].code == code)
      return starts[i].start;
  return ADJ_GPU_FAILS;
}

static gboolean
cuda_count (AdjGpuRuntime *self, guint *n, GError **error)
{
  int count = 0, driver = 0, runtime = 0;
  cudaError_t code = cudaGetDeviceCount (&count);
  AdjGpuStart start;

  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  cudaGetLastError ();
  if (code == cudaSuccess && count == 0)
    code = cudaErrorNoDevice;
  *n = (guint) count;
  start = start_of (code, driver);
  if (start == ADJ_GPU_STARTS && adj_k_cuda_modules[0].name == NULL)
    start = ADJ_GPU_NO_KERNELS;
  return adj_gpu_check_start (start, (guint) driver, (guint) runtime, cudaGetErrorString (code),
                              error);
}

static gboolean
cuda_use (AdjGpuRuntime *self, guint index, GError **error)
{
  return check (cudaSetDevice ((int) index), "choosing the device", error);
}

static gboolean
cuda_describe (AdjGpuRuntime *self, guint index, AdjGpuInfo *info, GError **error)
{
  struct cudaDeviceProp properties;
  size_t free_bytes, all_bytes;
  int driver, runtime;

  if (!check (cudaGetDeviceProperties (&properties, (int) index), "asking what it is", error) ||
      !cuda_use (self, index, error) ||
      !check (cudaMemGetInfo (&free_bytes, &all_bytes), "asking for its free memory", error) ||
      !check (cudaDriverGetVersion (&driver), "asking for the driver", error) ||
      !check (cudaRuntimeGetVersion (&runtime), "asking for the runtime", error))
    return FALSE;
  *info = (AdjGpuInfo){ .memory_bytes = all_bytes,
                        .free_bytes = free_bytes,
                        .major = (guint) properties.major,
                        .minor = (guint) properties.minor,
                        .n_processors = (guint) properties.multiProcessorCount,
                        .driver_version = (guint) driver,
                        .runtime_version = (guint) runtime };
  g_strlcpy (info->name, properties.name, sizeof info->name);
  return TRUE;
}

static void
cuda_reset (AdjGpuRuntime *self, guint index)
{
  cudaSetDevice ((int) index);
  cudaDeviceReset ();
  cudaGetLastError ();
}

/* -- memory -- */

static gpointer
cuda_alloc (AdjGpuRuntime *self, gsize n_bytes, GError **error)
{
  void *memory = NULL;
  size_t free_bytes = 0, all_bytes = 0;
  g_autofree char *wanted = NULL;
  g_autofree char *there = NULL;
  cudaError_t code = cudaMalloc (&memory, MAX (n_bytes, 1));

  if (code != cudaErrorMemoryAllocation)
    return check (code, "taking memory", error) ? memory : NULL;
  cudaGetLastError ();
  cudaMemGetInfo (&free_bytes, &all_bytes);
  wanted = adj_format_bytes (n_bytes);
  there = adj_format_bytes (free_bytes);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY, "the GPU has no %s free: %s are", wanted, there);
  return NULL;
}

static void
cuda_release (AdjGpuRuntime *self, gpointer memory)
{
  cudaFree (memory);
}

static gpointer
cuda_alloc_pinned (AdjGpuRuntime *self, gsize n_bytes, GError **error)
{
  void *memory = NULL;

  return check (cudaHostAlloc (&memory, MAX (n_bytes, 1), cudaHostAllocDefault),
                "taking memory of the host", error)
             ? memory
             : NULL;
}

static void
cuda_release_pinned (AdjGpuRuntime *self, gpointer memory)
{
  cudaFreeHost (memory);
}

/* -- streams and events -- */

static AdjGpuStream *
cuda_stream_new (AdjGpuRuntime *self, GError **error)
{
  cudaStream_t stream = NULL;

  return check (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking), "making a stream",
                error)
             ? (AdjGpuStream *) stream
             : NULL;
}

static void
cuda_stream_free (AdjGpuRuntime *self, AdjGpuStream *stream)
{
  cudaStreamDestroy ((cudaStream_t) stream);
}

static gboolean
cuda_stream_wait (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error)
{
  return check (cudaStreamSynchronize ((cudaStream_t) stream), "what it was asked to do", error);
}

static gboolean
cuda_copy (AdjGpuRuntime *self,
           AdjGpuStream *stream,
           gpointer to,
           gconstpointer from,
           gsize n_bytes,
           AdjGpuCopy kind,
           GError **error)
{
  static const enum cudaMemcpyKind kinds[] = {
    [ADJ_GPU_TO_DEVICE] = cudaMemcpyHostToDevice,
    [ADJ_GPU_TO_HOST] = cudaMemcpyDeviceToHost,
    [ADJ_GPU_ON_DEVICE] = cudaMemcpyDeviceToDevice,
  };

  return check (cudaMemcpyAsync (to, from, n_bytes, kinds[kind], (cudaStream_t) stream), "a copy",
                error);
}

static AdjGpuEvent *
cuda_event_new (AdjGpuRuntime *self, GError **error)
{
  cudaEvent_t event = NULL;

  return check (cudaEventCreate (&event), "making an event", error) ? (AdjGpuEvent *) event : NULL;
}

static void
cuda_event_free (AdjGpuRuntime *self, AdjGpuEvent *event)
{
  cudaEventDestroy ((cudaEvent_t) event);
}

static gboolean
cuda_event_record (AdjGpuRuntime *self, AdjGpuEvent *event, AdjGpuStream *stream, GError **error)
{
  return check (cudaEventRecord ((cudaEvent_t) event, (cudaStream_t) stream), "an event", error);
}

static gboolean
cuda_event_hold (AdjGpuRuntime *self, AdjGpuEvent *event, AdjGpuStream *stream, GError **error)
{
  return check (cudaStreamWaitEvent ((cudaStream_t) stream, (cudaEvent_t) event, 0),
                "holding a stream", error);
}

static gboolean
cuda_event_wait (AdjGpuRuntime *self, AdjGpuEvent *event, GError **error)
{
  return check (cudaEventSynchronize ((cudaEvent_t) event), "what it was asked to do", error);
}

static gboolean
cuda_event_elapsed (
    AdjGpuRuntime *self, AdjGpuEvent *from, AdjGpuEvent *to, gint64 *ns, GError **error)
{
  float ms = 0;

  if (!check (cudaEventElapsedTime (&ms, (cudaEvent_t) from, (cudaEvent_t) to), "taking a time",
              error))
    return FALSE;
  *ns = (gint64) ((double) ms * 1e6);
  return TRUE;
}

/* -- graphs -- */

static gboolean
cuda_capture_begin (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error)
{
  return check (cudaStreamBeginCapture ((cudaStream_t) stream, cudaStreamCaptureModeThreadLocal),
                "beginning a graph", error);
}

static AdjGpuGraph *
cuda_capture_end (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error)
{
  cudaGraph_t graph = NULL;
  cudaGraphExec_t made = NULL;
  gboolean done =
      check (cudaStreamEndCapture ((cudaStream_t) stream, &graph), "ending a graph", error) &&
      check (cudaGraphInstantiate (&made, graph, 0), "making a graph ready", error);

  if (graph != NULL)
    cudaGraphDestroy (graph);
  return done ? (AdjGpuGraph *) made : NULL;
}

static gboolean
cuda_graph_launch (AdjGpuRuntime *self, AdjGpuGraph *graph, AdjGpuStream *stream, GError **error)
{
  return check (cudaGraphLaunch ((cudaGraphExec_t) graph, (cudaStream_t) stream), "a graph", error);
}

static void
cuda_graph_free (AdjGpuRuntime *self, AdjGpuGraph *graph)
{
  cudaGraphExecDestroy ((cudaGraphExec_t) graph);
}

/* -- kernels -- */

/* The kernels of the program: one library for each of adj_k_cuda_modules, in their order; or one
 * library with a compiled kernel.  Kernels are loaded at first use. */
typedef struct
{
  guint n;
  gboolean is_made;
  cudaLibrary_t libraries[64];
} Libraries;

static void
cuda_module_free (AdjGpuRuntime *self, AdjGpuModule *module)
{
  Libraries *libraries = (Libraries *) module;

  for (guint i = 0; i < libraries->n; i++)
    cudaLibraryUnload (libraries->libraries[i]);
  g_free (libraries);
}

static AdjGpuModule *
cuda_module_new (AdjGpuRuntime *self, GError **error)
{
  Libraries *libraries = g_new0 (Libraries, 1);

  for (; adj_k_cuda_modules[libraries->n].name != NULL; libraries->n++)
    {
      g_assert (libraries->n < G_N_ELEMENTS (libraries->libraries));
      if (check (cudaLibraryLoadData (&libraries->libraries[libraries->n],
                                      adj_k_cuda_modules[libraries->n].bytes, NULL, NULL, 0, NULL,
                                      NULL, 0),
                 "loading kernels", error))
        continue;
      cuda_module_free (self, (AdjGpuModule *) libraries);
      return NULL;
    }
  return (AdjGpuModule *) libraries;
}

static AdjGpuModule *
cuda_module_load (AdjGpuRuntime *self, GBytes *code, GError **error)
{
  Libraries *libraries = g_new0 (Libraries, 1);

  if (check (cudaLibraryLoadData (&libraries->libraries[0], g_bytes_get_data (code, NULL), NULL,
                                  NULL, 0, NULL, NULL, 0),
             "loading a kernel", error))
    {
      libraries->n = 1;
      libraries->is_made = TRUE;
      return (AdjGpuModule *) libraries;
    }
  g_free (libraries);
  return NULL;
}

static GBytes *
cuda_compile (AdjGpuRuntime *self, guint index, const char *source, GError **error)
{
  int major, minor;

  if (!check (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, (int) index),
              "asking what it is", error) ||
      !check (cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor, (int) index),
              "asking what it is", error))
    return NULL;
  return adj_cuda_compile (source, (guint) major, (guint) minor, error);
}

/* Finds the library of @symbol by our own table, since asking CUDA for a missing kernel would set
 * its error. */
static AdjGpuKernel *
cuda_find_kernel (AdjGpuRuntime *self, AdjGpuModule *module, const char *symbol, GError **error)
{
  Libraries *libraries = (Libraries *) module;
  const char *name = libraries->is_made ? NULL : adj_k_cuda_find_module (symbol);
  cudaKernel_t kernel = NULL;

  for (guint i = 0; i < libraries->n; i++)
    if (libraries->is_made || g_strcmp0 (adj_k_cuda_modules[i].name, name) == 0)
      return check (cudaLibraryGetKernel (&kernel, libraries->libraries[i], symbol),
                    "looking for a kernel", error)
                 ? (AdjGpuKernel *) kernel
                 : NULL;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "the GPU has no kernel '%s'", symbol);
  return NULL;
}

static gboolean
cuda_launch (AdjGpuRuntime *self,
             AdjGpuStream *stream,
             AdjGpuKernel *kernel,
             const AdjKLaunch *launch,
             gconstpointer args,
             gsize size,
             GError **error)
{
  cudaLaunchConfig_t config = {
    .gridDim = { launch->grid[0], launch->grid[1], launch->grid[2] },
    .blockDim = { launch->block[0], launch->block[1], launch->block[2] },
    .dynamicSmemBytes = launch->shared,
    .stream = (cudaStream_t) stream,
  };
  void *parameters[1] = { (void *) args };

  return check (cudaLaunchKernelExC (&config, (const void *) kernel, parameters),
                "starting a kernel", error);
}

/* -- libraries -- */

/* Names the first library that is missing. */
static const char *
cuda_find_missing (void)
{
  static const char *(*const libraries[]) (void) = {
    adj_cuda_compiler_missing,
#ifdef ADJ_HAVE_CUBLASLT
    adj_cuda_products_missing,
#endif
#ifdef ADJ_HAVE_CUDNN
    adj_cuda_convolutions_missing,
#endif
  };
  const char *missing = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (libraries) && missing == NULL; i++)
    missing = libraries[i]();
  return missing;
}

/* -- the table -- */

static void
cuda_free (AdjGpuRuntime *self)
{
}

static const AdjGpuRuntimeType cuda_type = {
  .name = "cuda",
  .free = cuda_free,
  .count = cuda_count,
  .describe = cuda_describe,
  .use = cuda_use,
  .reset = cuda_reset,
  .alloc = cuda_alloc,
  .release = cuda_release,
  .alloc_pinned = cuda_alloc_pinned,
  .release_pinned = cuda_release_pinned,
  .stream_new = cuda_stream_new,
  .stream_free = cuda_stream_free,
  .stream_wait = cuda_stream_wait,
  .copy = cuda_copy,
  .event_new = cuda_event_new,
  .event_free = cuda_event_free,
  .event_record = cuda_event_record,
  .event_hold = cuda_event_hold,
  .event_wait = cuda_event_wait,
  .event_elapsed = cuda_event_elapsed,
  .capture_begin = cuda_capture_begin,
  .capture_end = cuda_capture_end,
  .graph_launch = cuda_graph_launch,
  .graph_free = cuda_graph_free,
  .module_new = cuda_module_new,
  .module_free = cuda_module_free,
  .find_kernel = cuda_find_kernel,
  .launch = cuda_launch,
#ifdef ADJ_HAVE_CUBLASLT
  .gemm = adj_cuda_gemm,
#endif
#ifdef ADJ_HAVE_CUDNN
  .convolve = adj_cuda_convolve,
#endif
  .find_missing = cuda_find_missing,
  .compile = cuda_compile,
  .module_load = cuda_module_load,
};

AdjGpuRuntime *
adj_cuda_runtime_new (void)
{
  static AdjGpuRuntime runtime = { .type = &cuda_type };

  return &runtime;
}
