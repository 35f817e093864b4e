/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-cuda.h"

#include "device/adj-gpu.h"

G_BEGIN_DECLS

/* The parts of a GPU's runtime that are used: memory, copies, streams, events, captured graphs and
 * kernels. A table of functions, so that an emulated device can stand in for a real one.
 *
 * Functions that do not return gboolean cannot fail.  Errors are ADJ_ERROR_DEVICE, and
 * ADJ_ERROR_MEMORY where memory ran out, in one sentence.  Work is asynchronous, in the order of
 * its stream: a copy may access host memory until the stream was waited for, and a fault of a
 * kernel is reported by any later call. */

typedef struct _AdjGpuStream AdjGpuStream;
typedef struct _AdjGpuEvent AdjGpuEvent;
typedef struct _AdjGpuGraph AdjGpuGraph;
typedef struct _AdjGpuModule AdjGpuModule;
typedef struct _AdjGpuKernel AdjGpuKernel;

typedef enum
{
  ADJ_GPU_TO_DEVICE,
  ADJ_GPU_TO_HOST,
  ADJ_GPU_ON_DEVICE,
} AdjGpuCopy;

typedef struct _AdjGpuRuntime AdjGpuRuntime;

typedef struct
{
  const char *name; /* "cuda" */
  void (*free) (AdjGpuRuntime *self);

  /* Sets the number of devices, at least one; %FALSE with one sentence why there is none. */
  gboolean (*count) (AdjGpuRuntime *self, guint *n, GError **error);
  gboolean (*describe) (AdjGpuRuntime *self, guint index, AdjGpuInfo *info, GError **error);
  /* Sets the current device of this thread. */
  gboolean (*use) (AdjGpuRuntime *self, guint index, GError **error);
  /* Frees everything on the device, which can be used again then. */
  void (*reset) (AdjGpuRuntime *self, guint index);

  /* Uninitialised memory, aligned to 256 bytes. */
  gpointer (*alloc) (AdjGpuRuntime *self, gsize n_bytes, GError **error);
  void (*release) (AdjGpuRuntime *self, gpointer memory);
  /* Pinned host memory, which copies access directly. */
  gpointer (*alloc_pinned) (AdjGpuRuntime *self, gsize n_bytes, GError **error);
  void (*release_pinned) (AdjGpuRuntime *self, gpointer memory);

  AdjGpuStream *(*stream_new) (AdjGpuRuntime *self, GError **error);
  void (*stream_free) (AdjGpuRuntime *self, AdjGpuStream *stream);
  /* Waits until all its work is done. */
  gboolean (*stream_wait) (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error);
  gboolean (*copy) (AdjGpuRuntime *self,
                    AdjGpuStream *stream,
                    gpointer to,
                    gconstpointer from,
                    gsize n_bytes,
                    AdjGpuCopy kind,
                    GError **error);

  AdjGpuEvent *(*event_new) (AdjGpuRuntime *self, GError **error);
  void (*event_free) (AdjGpuRuntime *self, AdjGpuEvent *event);
  gboolean (*event_record) (AdjGpuRuntime *self,
                            AdjGpuEvent *event,
                            AdjGpuStream *stream,
                            GError **error);
  /* Work queued on @stream from now on waits for the last record of @event. */
  gboolean (*event_hold) (AdjGpuRuntime *self,
                          AdjGpuEvent *event,
                          AdjGpuStream *stream,
                          GError **error);
  /* Waits until it has happened. */
  gboolean (*event_wait) (AdjGpuRuntime *self, AdjGpuEvent *event, GError **error);
  /* Nanoseconds between two events that have happened. */
  gboolean (*event_elapsed) (
      AdjGpuRuntime *self, AdjGpuEvent *from, AdjGpuEvent *to, gint64 *ns, GError **error);

  /* From begin to end, work on @stream is recorded instead of run; meanwhile this thread must not
   * call anything else that may wait. */
  gboolean (*capture_begin) (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error);
  /* (transfer full) */
  AdjGpuGraph *(*capture_end) (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error);
  gboolean (*graph_launch) (AdjGpuRuntime *self,
                            AdjGpuGraph *graph,
                            AdjGpuStream *stream,
                            GError **error);
  void (*graph_free) (AdjGpuRuntime *self, AdjGpuGraph *graph);

  /* The kernels that the program was built with, for the current device. */
  AdjGpuModule *(*module_new) (AdjGpuRuntime *self, GError **error);
  void (*module_free) (AdjGpuRuntime *self, AdjGpuModule *module);
  AdjGpuKernel *(*find_kernel) (AdjGpuRuntime *self,
                                AdjGpuModule *module,
                                const char *symbol,
                                GError **error);
  /* @args: the kernel's only parameter, by value: @size bytes, copied before the call returns. */
  gboolean (*launch) (AdjGpuRuntime *self,
                      AdjGpuStream *stream,
                      AdjGpuKernel *kernel,
                      const AdjKLaunch *launch,
                      gconstpointer args,
                      gsize size,
                      GError **error);

  /* (nullable) As adj_gpu_find_missing(): opens the libraries. */
  const char *(*find_missing) (void);
  /* (nullable) Compiles @source, CUDA C with one kernel named "made", for device @index.  It is
   * slow; any thread may call it.  (transfer full) */
  GBytes *(*compile) (AdjGpuRuntime *self, guint index, const char *source, GError **error);
  /* (nullable) As the functions of AdjKDevice, on @stream of @queue. */
  gboolean (*gemm) (AdjGpuRuntime *self,
                    AdjGpuStream *stream,
                    AdjKQueue *queue,
                    const AdjKGemm *gemm);
  gboolean (*convolve) (AdjGpuRuntime *self,
                        AdjGpuStream *stream,
                        AdjKQueue *queue,
                        AdjKConvKind kind,
                        const AdjKConv *conv);
  /* Loads the result of compile() on the current device; with module_free() and find_kernel(). */
  AdjGpuModule *(*module_load) (AdjGpuRuntime *self, GBytes *code, GError **error);
} AdjGpuRuntimeType;

struct _AdjGpuRuntime
{
  const AdjGpuRuntimeType *type;
  guint generation; /* atomic: number of resets; objects made before the last one are gone */
};

/* Why a device can or cannot be used, for any runtime; adj_gpu_check_start() gives the sentence. */
typedef enum
{
  ADJ_GPU_STARTS,
  ADJ_GPU_NOT_BUILT,  /* built without CUDA */
  ADJ_GPU_NO_KERNELS, /* built without its compiler */
  ADJ_GPU_NO_DRIVER,
  ADJ_GPU_OLD_DRIVER,
  ADJ_GPU_NO_DEVICE,
  ADJ_GPU_DRIVER_MISMATCH, /* library and kernel module of the driver are of different releases */
  ADJ_GPU_IN_USE,
  ADJ_GPU_FAILS, /* for another reason */
} AdjGpuStart;

/* %FALSE with the sentence unless @start is ADJ_GPU_STARTS.  Versions as in AdjGpuInfo; @what:
 * (nullable): for ADJ_GPU_FAILS, the runtime's own message. */
gboolean adj_gpu_check_start (AdjGpuStart start,
                              guint driver_version,
                              guint runtime_version,
                              const char *what,
                              GError **error);

/* (transfer full): the CUDA runtime; in a build without CUDA, one whose devices fail with that
 * reason. */
AdjGpuRuntime *adj_cuda_runtime_new (void);

/* How the emulated runtime fails. */
typedef enum
{
  ADJ_EMULATED_FAILS, /* the call fails without effect */
  ADJ_EMULATED_LOST,  /* the call fails, and so do all later ones until adj_gpu_reset() */
  ADJ_EMULATED_LATE,  /* a kernel fails: the next call that waits reports it, and all later ones
                         until the reset */
} AdjEmulatedFault;

typedef struct
{
  guint64 memory_bytes; /* 0: 256 MiB */
  AdjGpuStart start;
  /* (nullable): runs the kernel @symbol of @self; with @args %NULL it only tells whether the kernel
   * exists. */
  gboolean (*run) (const AdjGpuRuntime *self,
                   const char *symbol,
                   const AdjKLaunch *launch,
                   gconstpointer args,
                   gsize size);
  /* (nullable): compiles kernels for @run: sets @symbol (transfer full) to the name under which
   * @run executes the kernel "made" of @source. */
  gboolean (*compile) (const char *source, char **symbol, GError **error);
  guint fail_at; /* number of the call that fails, from 1, counting calls that can fail; 0: none */
  AdjEmulatedFault fault;
} AdjEmulation;

/* A GPU emulated on the host: only kernels and copies can access its memory, and work runs as late
 * as allowed, when it is waited for.  The creator supplies the kernels. */
/* (transfer full); @emulation: (nullable) */
AdjGpuRuntime *adj_emulated_runtime_new (const AdjEmulation *emulation);
/* Number of calls so far that can fail, and of objects that were not released. */
guint adj_emulated_runtime_get_n_calls (const AdjGpuRuntime *runtime);
guint adj_emulated_runtime_get_n_alive (const AdjGpuRuntime *runtime);
/* Whether @n_bytes from @memory on lie in one allocation of the device. */
gboolean
adj_emulated_runtime_holds (const AdjGpuRuntime *runtime, gconstpointer memory, gsize n_bytes);
/* Makes the call number @fail_at from now on fail. */
void
adj_emulated_runtime_plan_fault (AdjGpuRuntime *runtime, guint fail_at, AdjEmulatedFault fault);

G_END_DECLS
