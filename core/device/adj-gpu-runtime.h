/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-cuda.h"

#include "device/adj-gpu.h"

G_BEGIN_DECLS

/* What is used of a GPU's runtime: memory, copies, streams, events, captured graphs and kernels.
 * A table of functions, so that one machine has a real one and every machine an emulated one.
 *
 * Functions that give no gboolean cannot fail.  Failing is ADJ_ERROR_DEVICE, and ADJ_ERROR_MEMORY
 * where memory ran out, in one sentence.  What a device does is done later, in the order of its
 * stream: a copy reads and writes host memory until the stream was waited for, and what a kernel
 * did wrong is told by whichever call comes next. */

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

  /* How many devices there are, at least one; else one sentence why not. */
  gboolean (*count) (AdjGpuRuntime *self, guint *n, GError **error);
  gboolean (*describe) (AdjGpuRuntime *self, guint index, AdjGpuInfo *info, GError **error);
  /* The device of what this thread calls from now on. */
  gboolean (*use) (AdjGpuRuntime *self, guint index, GError **error);
  /* All that was made on the device is gone, and it can be used again. */
  void (*reset) (AdjGpuRuntime *self, guint index);

  /* Of any contents, aligned to 256 bytes. */
  gpointer (*alloc) (AdjGpuRuntime *self, gsize n_bytes, GError **error);
  void (*release) (AdjGpuRuntime *self, gpointer memory);
  /* Host memory that copies need not pass on through another. */
  gpointer (*alloc_pinned) (AdjGpuRuntime *self, gsize n_bytes, GError **error);
  void (*release_pinned) (AdjGpuRuntime *self, gpointer memory);

  AdjGpuStream *(*stream_new) (AdjGpuRuntime *self, GError **error);
  void (*stream_free) (AdjGpuRuntime *self, AdjGpuStream *stream);
  /* Until all that was asked of it is done. */
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
  /* What is asked of @stream from now on happens after @event, as it was recorded last. */
  gboolean (*event_hold) (AdjGpuRuntime *self,
                          AdjGpuEvent *event,
                          AdjGpuStream *stream,
                          GError **error);
  /* Until it has happened. */
  gboolean (*event_wait) (AdjGpuRuntime *self, AdjGpuEvent *event, GError **error);
  /* Nanoseconds between two that have happened. */
  gboolean (*event_elapsed) (
      AdjGpuRuntime *self, AdjGpuEvent *from, AdjGpuEvent *to, gint64 *ns, GError **error);

  /* From begin to end, what is asked of @stream is noted instead of done; nothing else that could
   * wait may be called in this thread meanwhile. */
  gboolean (*capture_begin) (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error);
  /* (transfer full) */
  AdjGpuGraph *(*capture_end) (AdjGpuRuntime *self, AdjGpuStream *stream, GError **error);
  gboolean (*graph_launch) (AdjGpuRuntime *self,
                            AdjGpuGraph *graph,
                            AdjGpuStream *stream,
                            GError **error);
  void (*graph_free) (AdjGpuRuntime *self, AdjGpuGraph *graph);

  /* The kernels of this program, for the device in use. */
  AdjGpuModule *(*module_new) (AdjGpuRuntime *self, GError **error);
  void (*module_free) (AdjGpuRuntime *self, AdjGpuModule *module);
  AdjGpuKernel *(*find_kernel) (AdjGpuRuntime *self,
                                AdjGpuModule *module,
                                const char *symbol,
                                GError **error);
  /* @args: its one parameter, by value: @size bytes, copied before it returns. */
  gboolean (*launch) (AdjGpuRuntime *self,
                      AdjGpuStream *stream,
                      AdjGpuKernel *kernel,
                      const AdjKLaunch *launch,
                      gconstpointer args,
                      gsize size,
                      GError **error);

  /* (nullable) As adj_gpu_find_missing(): opens what is there. */
  const char *(*find_missing) (void);
  /* (nullable) Compiles @source, CUDA C whose one kernel is called "made", for device @index: it
   * takes its time, and any thread may call it.  (transfer full) */
  GBytes *(*compile) (AdjGpuRuntime *self, guint index, const char *source, GError **error);
  /* (nullable) As those of AdjKDevice, on @stream of @queue. */
  gboolean (*gemm) (AdjGpuRuntime *self,
                    AdjGpuStream *stream,
                    AdjKQueue *queue,
                    const AdjKGemm *gemm);
  gboolean (*convolve) (AdjGpuRuntime *self,
                        AdjGpuStream *stream,
                        AdjKQueue *queue,
                        AdjKConvKind kind,
                        const AdjKConv *conv);
  /* What compile() gave, for the device in use; with module_free() and find_kernel(). */
  AdjGpuModule *(*module_load) (AdjGpuRuntime *self, GBytes *code, GError **error);
} AdjGpuRuntimeType;

struct _AdjGpuRuntime
{
  const AdjGpuRuntimeType *type;
  guint generation; /* atomic: counts resets; what was made before one is gone */
};

/* What answers when a device is asked for, whichever the runtime: facts become a sentence. */
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
 * (nullable): of FAILS, in the words of the runtime. */
gboolean adj_gpu_check_start (AdjGpuStart start,
                              guint driver_version,
                              guint runtime_version,
                              const char *what,
                              GError **error);

/* (transfer full): that of CUDA; where this was built without, one that says so. */
AdjGpuRuntime *adj_cuda_runtime_new (void);

/* What the emulated runtime does otherwise than work. */
typedef enum
{
  ADJ_EMULATED_FAILS, /* the call fails, and all is as if it had not been made */
  ADJ_EMULATED_LOST,  /* the call fails, and every other until adj_gpu_reset() */
  ADJ_EMULATED_LATE,  /* a kernel fails: the next call that waits tells, and every other until reset
                       */
} AdjEmulatedFault;

typedef struct
{
  guint64 memory_bytes; /* 0: 256 MiB */
  AdjGpuStart start;
  /* (nullable): runs the kernel @symbol of @self; with @args %NULL only says whether there is one.
   */
  gboolean (*run) (const AdjGpuRuntime *self,
                   const char *symbol,
                   const AdjKLaunch *launch,
                   gconstpointer args,
                   gsize size);
  /* (nullable): what compiles kernels for @run: fills @symbol (transfer full), under which it is
   * asked to run what @source calls "made". */
  gboolean (*compile) (const char *source, char **symbol, GError **error);
  guint fail_at; /* the call, of those that can fail, counted from 1; 0: none */
  AdjEmulatedFault fault;
} AdjEmulation;

/* A GPU played by the host: memory that only kernels and copies can touch, work that is done when
 * it is waited for, as late as that is right, and the kernels that whoever makes it has. */
/* (transfer full); @emulation: (nullable) */
AdjGpuRuntime *adj_emulated_runtime_new (const AdjEmulation *emulation);
/* Calls so far that can fail, and things made that were not let go of. */
guint adj_emulated_runtime_get_n_calls (const AdjGpuRuntime *runtime);
guint adj_emulated_runtime_get_n_alive (const AdjGpuRuntime *runtime);
/* Whether @n_bytes from @memory on are the device's, in one piece that was taken. */
gboolean
adj_emulated_runtime_holds (const AdjGpuRuntime *runtime, gconstpointer memory, gsize n_bytes);
/* From now on call @fail_at, counted from here, fails. */
void
adj_emulated_runtime_plan_fault (AdjGpuRuntime *runtime, guint fail_at, AdjEmulatedFault fault);

G_END_DECLS
