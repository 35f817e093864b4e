/* SPDX-License-Identifier: MIT */
/* The emulated GPU: counts calls that can fail, and lets one fail where a test wants it. */

#include <string.h>

#include "base/adj-format-bytes.h"
#include "device/emulated-stream-private.h"

#define DEFAULT_MEMORY (G_GUINT64_CONSTANT (256) << 20)
#define VERSION 13000

typedef struct
{
  AdjGpuRuntime parent;
  AdjGpuRuntimeType type;
  AdjEmulation emulation;
  EmulatedMemory memory;
  GPtrArray *streams; /* AdjGpuStream (unowned) */
  guint n_calls, n_alive;
  AdjEmulatedFault fault;
  guint fail_at;
  gboolean captures; /* one of its streams is being captured */
  gboolean lost, late;
} Emulated;

static gboolean
fail (AdjError code, const char *doing, const char *how, GError **error)
{
  g_set_error (error, ADJ_ERROR, (gint) code, "the GPU fails at %s: %s", doing, how);
  return FALSE;
}

/* Counts a call that can fail.  @waits: it is also not allowed while a graph is captured. */
static gboolean
may (Emulated *self, const char *doing, gboolean waits, GError **error)
{
  self->n_calls++;
  if (self->lost)
    return fail (ADJ_ERROR_DEVICE, doing, "the device was lost", error);
  if (waits && self->captures)
    return fail (ADJ_ERROR_DEVICE, doing, "not while a graph is captured", error);
  if (self->n_calls != self->fail_at || self->fault == ADJ_EMULATED_LATE)
    return TRUE;
  self->lost = self->fault == ADJ_EMULATED_LOST;
  return fail (ADJ_ERROR_DEVICE, doing, self->lost ? "the device was lost" : "as was planned",
               error);
}

/* -- devices -- */

static void
emulated_free (AdjGpuRuntime *runtime)
{
  Emulated *self = (Emulated *) runtime;

  emulated_memory_clear (&self->memory);
  g_ptr_array_unref (self->streams);
  g_free (self);
}

static gboolean
emulated_count (AdjGpuRuntime *runtime, guint *n, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  *n = self->emulation.start == ADJ_GPU_STARTS ? 1 : 0;
  return adj_gpu_check_start (self->emulation.start, VERSION - 1000, VERSION, "it was emulated so",
                              error);
}

static gboolean
emulated_describe (AdjGpuRuntime *runtime, guint index, AdjGpuInfo *info, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "asking what it is", FALSE, error))
    return FALSE;
  *info = (AdjGpuInfo){ .name = "emulated by the CPU, slowly",
                        .memory_bytes = self->memory.n_bytes,
                        .free_bytes = self->memory.n_bytes - self->memory.n_used,
                        .major = 9,
                        .n_processors = 1,
                        .driver_version = VERSION,
                        .runtime_version = VERSION };
  return TRUE;
}

static gboolean
emulated_use (AdjGpuRuntime *runtime, guint index, GError **error)
{
  return may ((Emulated *) runtime, "choosing the device", FALSE, error);
}

static void
emulated_reset (AdjGpuRuntime *runtime, guint index)
{
  Emulated *self = (Emulated *) runtime;

  self->lost = self->late = self->captures = FALSE;
}

/* -- memory -- */

static gpointer
emulated_alloc (AdjGpuRuntime *runtime, gsize n_bytes, GError **error)
{
  Emulated *self = (Emulated *) runtime;
  g_autofree char *wanted = adj_format_bytes (n_bytes);
  g_autofree char *there = adj_format_bytes (self->memory.n_bytes - self->memory.n_used);
  gpointer memory = NULL;

  if (!may (self, "taking memory", TRUE, error))
    return NULL;
  memory = emulated_memory_take (&self->memory, n_bytes);
  if (memory == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY, "the GPU has no %s free: %s are", wanted,
                 there);
  else
    self->n_alive++;
  return memory;
}

static void
finish_all (Emulated *self)
{
  for (guint i = 0; i < self->streams->len && !self->lost; i++)
    emulated_stream_finish (self->streams->pdata[i], &self->memory);
}

static void
emulated_release (AdjGpuRuntime *runtime, gpointer memory)
{
  Emulated *self = (Emulated *) runtime;

  finish_all (self);
  emulated_memory_drop (&self->memory, memory);
  self->n_alive--;
}

static gpointer
emulated_alloc_pinned (AdjGpuRuntime *runtime, gsize n_bytes, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "taking memory of the host", TRUE, error))
    return NULL;
  self->n_alive++;
  return g_malloc (MAX (n_bytes, 1));
}

static void
emulated_release_pinned (AdjGpuRuntime *runtime, gpointer memory)
{
  Emulated *self = (Emulated *) runtime;

  finish_all (self);
  self->n_alive--;
  g_free (memory);
}

/* -- streams -- */

static AdjGpuStream *
emulated_new_stream (AdjGpuRuntime *runtime, GError **error)
{
  Emulated *self = (Emulated *) runtime;
  AdjGpuStream *stream;

  if (!may (self, "making a stream", TRUE, error))
    return NULL;
  stream = emulated_stream_new ();
  g_ptr_array_add (self->streams, stream);
  self->n_alive++;
  return stream;
}

static void
emulated_drop_stream (AdjGpuRuntime *runtime, AdjGpuStream *stream)
{
  Emulated *self = (Emulated *) runtime;

  if (self->lost)
    emulated_stream_forget (stream);
  emulated_stream_free (stream, &self->memory);
  g_ptr_array_remove (self->streams, stream);
  self->n_alive--;
}

/* Reports the planned fault of a kernel, after waiting. */
static gboolean
check_late (Emulated *self, GError **error)
{
  self->lost = self->late;
  return !self->lost ||
         fail (ADJ_ERROR_DEVICE, "what it was asked to do", "a kernel went wrong", error);
}

static gboolean
emulated_stream_wait (AdjGpuRuntime *runtime, AdjGpuStream *stream, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "what it was asked to do", TRUE, error))
    return FALSE;
  emulated_stream_finish (stream, &self->memory);
  return check_late (self, error);
}

typedef struct
{
  EmulatedCommand parent;
  gpointer to;
  gconstpointer from;
  gsize n_bytes;
} CopyCommand;

static void
run_copy (EmulatedCommand *command, EmulatedMemory *memory)
{
  CopyCommand *self = (CopyCommand *) command;

  if (self->n_bytes == 0) /* addresses of no bytes may be NULL */
    return;
  emulated_memory_open (memory);
  memmove (self->to, self->from, self->n_bytes);
  emulated_memory_close (memory);
}

static gboolean
emulated_copy (AdjGpuRuntime *runtime,
               AdjGpuStream *stream,
               gpointer to,
               gconstpointer from,
               gsize n_bytes,
               AdjGpuCopy kind,
               GError **error)
{
  Emulated *self = (Emulated *) runtime;
  CopyCommand *command;

  if (!may (self, "a copy", FALSE, error))
    return FALSE;
  if (n_bytes > 0 &&
      ((kind != ADJ_GPU_TO_HOST) != emulated_memory_holds (&self->memory, to, n_bytes) ||
       (kind != ADJ_GPU_TO_DEVICE) != emulated_memory_holds (&self->memory, from, n_bytes)))
    return fail (ADJ_ERROR_DEVICE, "a copy", "an address is of other memory than it should be",
                 error);
  command = emulated_command_new (sizeof *command, run_copy, NULL);
  command->to = to;
  command->from = from;
  command->n_bytes = n_bytes;
  emulated_stream_ask (stream, &command->parent);
  return TRUE;
}

/* -- events -- */

static AdjGpuEvent *
emulated_new_event (AdjGpuRuntime *runtime, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "making an event", FALSE, error))
    return NULL;
  self->n_alive++;
  return emulated_event_new ();
}

static void
emulated_drop_event (AdjGpuRuntime *runtime, AdjGpuEvent *event)
{
  ((Emulated *) runtime)->n_alive--;
  emulated_event_free (event);
}

static gboolean
emulated_record (AdjGpuRuntime *runtime, AdjGpuEvent *event, AdjGpuStream *stream, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "an event", TRUE, error))
    return FALSE;
  emulated_event_record (event, stream);
  return TRUE;
}

static gboolean
emulated_hold (AdjGpuRuntime *runtime, AdjGpuEvent *event, AdjGpuStream *stream, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "holding a stream", TRUE, error))
    return FALSE;
  emulated_event_hold (event, stream);
  return TRUE;
}

static gboolean
emulated_wait_event (AdjGpuRuntime *runtime, AdjGpuEvent *event, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "what it was asked to do", TRUE, error))
    return FALSE;
  emulated_event_finish (event, &self->memory);
  return check_late (self, error);
}

static gboolean
emulated_elapsed (
    AdjGpuRuntime *runtime, AdjGpuEvent *from, AdjGpuEvent *to, gint64 *ns, GError **error)
{
  gint64 first, second;

  if (!may ((Emulated *) runtime, "taking a time", TRUE, error))
    return FALSE;
  if (!emulated_event_get_time (from, &first) || !emulated_event_get_time (to, &second))
    return fail (ADJ_ERROR_DEVICE, "taking a time", "an event has not happened", error);
  *ns = second - first;
  return TRUE;
}

/* -- graphs -- */

static gboolean
emulated_begin_capture (AdjGpuRuntime *runtime, AdjGpuStream *stream, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "beginning a graph", TRUE, error))
    return FALSE;
  self->captures = TRUE;
  emulated_capture_begin (stream);
  return TRUE;
}

static AdjGpuGraph *
emulated_end_capture (AdjGpuRuntime *runtime, AdjGpuStream *stream, GError **error)
{
  Emulated *self = (Emulated *) runtime;
  AdjGpuGraph *graph = emulated_capture_end (stream);

  self->captures = FALSE;
  if (!may (self, "ending a graph", FALSE, error))
    {
      emulated_graph_free (graph);
      return NULL;
    }
  self->n_alive++;
  return graph;
}

static gboolean
emulated_launch_graph (AdjGpuRuntime *runtime,
                       AdjGpuGraph *graph,
                       AdjGpuStream *stream,
                       GError **error)
{
  if (!may ((Emulated *) runtime, "a graph", TRUE, error))
    return FALSE;
  emulated_graph_ask (graph, stream);
  return TRUE;
}

static void
emulated_drop_graph (AdjGpuRuntime *runtime, AdjGpuGraph *graph)
{
  ((Emulated *) runtime)->n_alive--;
  emulated_graph_free (graph);
}

/* -- kernels -- */

static AdjGpuModule *
emulated_new_module (AdjGpuRuntime *runtime, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "loading kernels", TRUE, error))
    return NULL;
  return (AdjGpuModule *) self;
}

/* A module other than the program's is the symbol of its only kernel. */
static void
emulated_drop_module (AdjGpuRuntime *runtime, AdjGpuModule *module)
{
}

static GBytes *
emulated_compile (AdjGpuRuntime *runtime, guint index, const char *source, GError **error)
{
  Emulated *self = (Emulated *) runtime;
  char *symbol = NULL;

  if (!self->emulation.compile (source, &symbol, error))
    return NULL;
  return g_bytes_new_take (symbol, strlen (symbol) + 1);
}

static AdjGpuModule *
emulated_load_module (AdjGpuRuntime *runtime, GBytes *code, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "loading a kernel", TRUE, error))
    return NULL;
  return (AdjGpuModule *) g_intern_string (g_bytes_get_data (code, NULL));
}

static AdjGpuKernel *
emulated_find (AdjGpuRuntime *runtime, AdjGpuModule *module, const char *symbol, GError **error)
{
  Emulated *self = (Emulated *) runtime;

  if (!may (self, "looking for a kernel", FALSE, error))
    return NULL;
  if (module != (AdjGpuModule *) self)
    symbol = (const char *) module;
  if (self->emulation.run != NULL && self->emulation.run (runtime, symbol, NULL, NULL, 0))
    return (AdjGpuKernel *) g_intern_string (symbol);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "the GPU has no kernel '%s'", symbol);
  return NULL;
}

typedef struct
{
  EmulatedCommand parent;
  const Emulated *device;
  const char *symbol;
  AdjKLaunch launch;
  gpointer args; /* (owned) */
  gsize size;
} LaunchCommand;

static void
run_launch (EmulatedCommand *command, EmulatedMemory *memory)
{
  LaunchCommand *self = (LaunchCommand *) command;

  emulated_memory_open (memory);
  self->device->emulation.run (&self->device->parent, self->symbol, &self->launch, self->args,
                               self->size);
  emulated_memory_close (memory);
}

static void
clear_launch (EmulatedCommand *command)
{
  g_free (((LaunchCommand *) command)->args);
}

static gboolean
emulated_launch (AdjGpuRuntime *runtime,
                 AdjGpuStream *stream,
                 AdjGpuKernel *kernel,
                 const AdjKLaunch *launch,
                 gconstpointer args,
                 gsize size,
                 GError **error)
{
  Emulated *self = (Emulated *) runtime;
  LaunchCommand *command;

  if (!may (self, "starting a kernel", FALSE, error))
    return FALSE;
  self->late = self->late || (self->fault == ADJ_EMULATED_LATE && self->n_calls == self->fail_at);
  command = emulated_command_new (sizeof *command, run_launch, clear_launch);
  command->device = self;
  command->symbol = (const char *) kernel;
  command->launch = *launch;
  command->args = g_memdup2 (args, size);
  command->size = size;
  emulated_stream_ask (stream, &command->parent);
  return TRUE;
}

/* -- the table -- */

static const AdjGpuRuntimeType emulated_type = {
  .name = "emulated",
  .free = emulated_free,
  .count = emulated_count,
  .describe = emulated_describe,
  .use = emulated_use,
  .reset = emulated_reset,
  .alloc = emulated_alloc,
  .release = emulated_release,
  .alloc_pinned = emulated_alloc_pinned,
  .release_pinned = emulated_release_pinned,
  .stream_new = emulated_new_stream,
  .stream_free = emulated_drop_stream,
  .stream_wait = emulated_stream_wait,
  .copy = emulated_copy,
  .event_new = emulated_new_event,
  .event_free = emulated_drop_event,
  .event_record = emulated_record,
  .event_hold = emulated_hold,
  .event_wait = emulated_wait_event,
  .event_elapsed = emulated_elapsed,
  .capture_begin = emulated_begin_capture,
  .capture_end = emulated_end_capture,
  .graph_launch = emulated_launch_graph,
  .graph_free = emulated_drop_graph,
  .module_new = emulated_new_module,
  .module_free = emulated_drop_module,
  .find_kernel = emulated_find,
  .launch = emulated_launch,
  .compile = emulated_compile,
  .module_load = emulated_load_module,
};

AdjGpuRuntime *
adj_emulated_runtime_new (const AdjEmulation *emulation)
{
  Emulated *self = g_new0 (Emulated, 1);

  self->type = emulated_type;
  self->parent.type = &self->type;
  if (emulation != NULL)
    self->emulation = *emulation;
  if (self->emulation.compile == NULL)
    self->type.compile = NULL;
  self->fail_at = self->emulation.fail_at;
  self->fault = self->emulation.fault;
  emulated_memory_init (&self->memory, self->emulation.memory_bytes > 0
                                           ? self->emulation.memory_bytes
                                           : DEFAULT_MEMORY);
  self->streams = g_ptr_array_new ();
  return &self->parent;
}

guint
adj_emulated_runtime_get_n_calls (const AdjGpuRuntime *runtime)
{
  return ((const Emulated *) runtime)->n_calls;
}

guint
adj_emulated_runtime_get_n_alive (const AdjGpuRuntime *runtime)
{
  return ((const Emulated *) runtime)->n_alive;
}

gboolean
adj_emulated_runtime_holds (const AdjGpuRuntime *runtime, gconstpointer memory, gsize n_bytes)
{
  return emulated_memory_holds (&((const Emulated *) runtime)->memory, memory, n_bytes);
}

void
adj_emulated_runtime_plan_fault (AdjGpuRuntime *runtime, guint fail_at, AdjEmulatedFault fault)
{
  Emulated *self = (Emulated *) runtime;

  self->fail_at = fail_at > 0 ? self->n_calls + fail_at : 0;
  self->fault = fault;
}
