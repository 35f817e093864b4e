/* SPDX-License-Identifier: MIT */
/* The emulated GPU detects the mistakes that a program can make with a real one. */

#include <signal.h>
#include <string.h>

#include "device/adj-gpu-internal.h"
#include "support/adj-test.h"

typedef struct
{
  AdjGpuRuntime *runtime;
  const AdjGpuRuntimeType *type;
  AdjGpuStream *compute, *copies;
  char *memory; /* 1024 bytes of device memory */
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  GError *error = NULL;

  f->runtime = adj_emulated_runtime_new (NULL);
  f->type = f->runtime->type;
  f->compute = f->type->stream_new (f->runtime, &error);
  g_assert_no_error (error);
  f->copies = f->type->stream_new (f->runtime, &error);
  g_assert_no_error (error);
  f->memory = f->type->alloc (f->runtime, 1024, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  f->type->stream_free (f->runtime, f->compute);
  f->type->stream_free (f->runtime, f->copies);
  f->type->release (f->runtime, f->memory);
  g_assert_cmpuint (adj_emulated_runtime_get_n_alive (f->runtime), ==, 0);
  f->type->free (f->runtime);
}

static void
copy (Fixture *f, AdjGpuStream *stream, gpointer to, gconstpointer from, gsize n, AdjGpuCopy kind)
{
  GError *error = NULL;

  f->type->copy (f->runtime, stream, to, from, n, kind, &error);
  g_assert_no_error (error);
}

static void
wait_for (Fixture *f, AdjGpuStream *stream)
{
  GError *error = NULL;

  f->type->stream_wait (f->runtime, stream, &error);
  g_assert_no_error (error);
}

/* Queued copies are not executed before the host waits. */
static void
test_waits (Fixture *f, gconstpointer data)
{
  char there[] = "there", back[8] = "not yet";

  copy (f, f->compute, f->memory, there, sizeof there, ADJ_GPU_TO_DEVICE);
  copy (f, f->compute, back, f->memory, sizeof there, ADJ_GPU_TO_HOST);
  g_assert_cmpstr (back, ==, "not yet");
  wait_for (f, f->compute);
  g_assert_cmpstr (back, ==, "there");
}

/* Without the event the second stream reads before the first has written. */
static void
test_event_orders_streams (Fixture *f, gconstpointer held)
{
  char there[] = "there", back[sizeof there] = "";
  GError *error = NULL;
  AdjGpuEvent *event = f->type->event_new (f->runtime, &error);

  copy (f, f->copies, f->memory, there, sizeof there, ADJ_GPU_TO_DEVICE);
  f->type->event_record (f->runtime, event, f->copies, &error);
  if (GPOINTER_TO_INT (held))
    f->type->event_hold (f->runtime, event, f->compute, &error);
  copy (f, f->compute, back, f->memory, sizeof there, ADJ_GPU_TO_HOST);
  wait_for (f, f->compute);
  g_assert_no_error (error);
  if (GPOINTER_TO_INT (held))
    g_assert_cmpstr (back, ==, "there");
  else
    g_assert_cmpint ((guint8) back[0], ==, 0xA5);
  f->type->event_free (f->runtime, event);
}

static void
test_graph_runs_again (Fixture *f, gconstpointer data)
{
  char there[] = "one", back[sizeof there] = "";
  GError *error = NULL;
  AdjGpuGraph *graph;

  f->type->capture_begin (f->runtime, f->compute, &error);
  copy (f, f->compute, f->memory, there, sizeof there, ADJ_GPU_TO_DEVICE);
  copy (f, f->compute, back, f->memory, sizeof there, ADJ_GPU_TO_HOST);
  g_assert_null (f->type->alloc (f->runtime, 1, &error));
  g_assert_cmpstr (error->message, ==,
                   "the GPU fails at taking memory: not while a graph is captured");
  g_clear_error (&error);
  graph = f->type->capture_end (f->runtime, f->compute, &error);
  g_assert_no_error (error);
  wait_for (f, f->compute);
  g_assert_cmpstr (back, ==, "");
  for (guint i = 0; i < 2; i++)
    {
      strcpy (there, i == 0 ? "two" : "six");
      f->type->graph_launch (f->runtime, graph, f->compute, &error);
      wait_for (f, f->compute);
      g_assert_cmpstr (back, ==, there);
    }
  f->type->graph_free (f->runtime, graph);
}

static void
test_full (Fixture *f, gconstpointer data)
{
  GError *error = NULL;

  g_assert_null (f->type->alloc (f->runtime, (gsize) 1 << 40, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
  g_assert_cmpstr (error->message, ==, "the GPU has no 1 TiB free: 256 MiB are");
  g_clear_error (&error);
}

static void
test_copy_of_other_memory (Fixture *f, gconstpointer data)
{
  char here[8] = "";
  GError *error = NULL;

  g_assert_false (f->type->copy (f->runtime, f->compute, f->memory + 1020, here, sizeof here,
                                 ADJ_GPU_TO_DEVICE, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_DEVICE);
  g_clear_error (&error);
  g_assert_false (
      f->type->copy (f->runtime, f->compute, here, here, sizeof here, ADJ_GPU_TO_HOST, &error));
  g_clear_error (&error);
}

static void
touch (void)
{
  Fixture f;

  set_up (&f, NULL);
  f.memory[0] = 1;
}

/* A host write to device memory raises SIGSEGV. */
static void
test_host_cannot_touch (void)
{
  if (g_test_subprocess ())
    {
      /* Remove the sanitizer's handler, whose report would count as a finding. */
      signal (SIGSEGV, SIG_DFL);
      touch ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
}

/* -- why there is none -- */

static const struct
{
  const char *name;
  AdjGpuStart start;
  const char *sentence;
} starts[] = {
  { "not-built", ADJ_GPU_NOT_BUILT, "this program was built without CUDA" },
  { "no-kernels", ADJ_GPU_NO_KERNELS,
    "this program was built without CUDA's compiler, nvcc, and so has no kernels for a GPU" },
  { "no-driver", ADJ_GPU_NO_DRIVER, "no NVIDIA driver is installed" },
  { "old-driver", ADJ_GPU_OLD_DRIVER,
    "the NVIDIA driver is too old: it knows CUDA 12.0, this program needs 13.0" },
  { "no-device", ADJ_GPU_NO_DEVICE, "the NVIDIA driver finds no GPU" },
  { "driver-mismatch", ADJ_GPU_DRIVER_MISMATCH,
    "the NVIDIA driver was updated and not restarted: its library and its kernel module are of "
    "different releases" },
  { "in-use", ADJ_GPU_IN_USE, "the GPU is reserved by another process" },
  { "fails", ADJ_GPU_FAILS, "CUDA does not start: it was emulated so" },
};

static void
test_start (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data), n = 1;
  AdjEmulation emulation = { .start = starts[i].start };
  AdjGpuRuntime *runtime = adj_emulated_runtime_new (&emulation);
  GError *error = NULL;

  g_assert_false (runtime->type->count (runtime, &n, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_DEVICE);
  g_assert_cmpstr (error->message, ==, starts[i].sentence);
  g_assert_cmpuint (n, ==, 0);
  g_clear_error (&error);
  runtime->type->free (runtime);
}

/* -- faults -- */

static void
test_lost_until_reset (Fixture *f, gconstpointer data)
{
  char here[8] = "";
  GError *error = NULL;

  adj_emulated_runtime_plan_fault (f->runtime, 1, ADJ_EMULATED_LOST);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (f->type->copy (f->runtime, f->compute, f->memory, here, sizeof here,
                                     ADJ_GPU_TO_DEVICE, &error));
      g_assert_cmpstr (error->message, ==, "the GPU fails at a copy: the device was lost");
      g_clear_error (&error);
    }
  f->type->reset (f->runtime, 0);
  copy (f, f->compute, f->memory, here, sizeof here, ADJ_GPU_TO_DEVICE);
  wait_for (f, f->compute);
}

static void
test_names (void)
{
  g_autoptr (AdjGpu) gpu = adj_gpu_open ("emulated", NULL);
  GError *error = NULL;
  AdjGpuInfo info;

  g_assert_cmpstr (adj_gpu_get_name (gpu), ==, "emulated:0");
  g_assert_true (adj_gpu_describe (gpu, &info, NULL));
  g_assert_cmpuint (info.memory_bytes, ==, 256 << 20);
  g_assert_null (adj_gpu_open ("emulated:3", &error));
  g_assert_cmpstr (error->message, ==,
                   "there is no device 'emulated:3': there is 1, counted from 0");
  g_clear_error (&error);
  g_assert_null (adj_gpu_open ("tpu", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_clear_error (&error);
}

#define ADD(path, data, function) g_test_add (path, Fixture, data, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/device/emulated/waits", NULL, test_waits);
  ADD ("/device/emulated/event-orders-streams", GINT_TO_POINTER (TRUE), test_event_orders_streams);
  ADD ("/device/emulated/forgotten-event", GINT_TO_POINTER (FALSE), test_event_orders_streams);
  ADD ("/device/emulated/graph-runs-again", NULL, test_graph_runs_again);
  ADD ("/device/emulated/full", NULL, test_full);
  ADD ("/device/emulated/copy-of-other-memory", NULL, test_copy_of_other_memory);
  ADD ("/device/emulated/lost-until-reset", NULL, test_lost_until_reset);
  g_test_add_func ("/device/emulated/host-cannot-touch", test_host_cannot_touch);
  g_test_add_func ("/device/emulated/names", test_names);
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_autofree char *path = g_strconcat ("/device/start/", starts[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_start);
    }
  return g_test_run ();
}
