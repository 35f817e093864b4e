/* SPDX-License-Identifier: MIT */
/* A pool of threads that compile kernels, and their results. */

#include "device/gpu-maker.h"

#define MAX_THREADS 8
#define WAIT_US (50 * G_TIME_SPAN_MILLISECOND)

typedef enum
{
  BEING_COMPILED,
  COMPILED,
  FAILED,
} State;

typedef struct
{
  char *source; /* (owned) */
  State state;
  GBytes *code;         /* (owned) (nullable): when compiled */
  AdjGpuModule *module; /* (owned) (nullable): when loaded */
  AdjGpuKernel *kernel;
} Made;

struct _GpuMaker
{
  AdjGpuRuntime *runtime;
  guint index;
  GMutex lock;
  GCond done;
  GHashTable *made;  /* source → Made (owned) */
  GThreadPool *pool; /* (owned) (nullable): of Made; made with the first */
  guint n_pending;
};

static void
made_free (Made *made)
{
  g_clear_pointer (&made->code, g_bytes_unref);
  g_free (made->source);
  g_free (made);
}

GpuMaker *
gpu_maker_new (AdjGpuRuntime *runtime, guint index)
{
  GpuMaker *maker = g_new0 (GpuMaker, 1);

  maker->runtime = runtime;
  maker->index = index;
  g_mutex_init (&maker->lock);
  g_cond_init (&maker->done);
  maker->made = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) made_free);
  return maker;
}

void
gpu_maker_unload (GpuMaker *maker, gboolean is_there)
{
  GHashTableIter iter;
  Made *made;

  g_mutex_lock (&maker->lock);
  g_hash_table_iter_init (&iter, maker->made);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &made))
    {
      if (made->module != NULL && is_there)
        maker->runtime->type->module_free (maker->runtime, made->module);
      made->module = NULL;
      made->kernel = NULL;
    }
  g_mutex_unlock (&maker->lock);
}

void
gpu_maker_free (GpuMaker *maker, gboolean is_there)
{
  if (maker->pool != NULL)
    g_thread_pool_free (maker->pool, TRUE, TRUE);
  gpu_maker_unload (maker, is_there);
  g_hash_table_unref (maker->made);
  g_cond_clear (&maker->done);
  g_mutex_clear (&maker->lock);
  g_free (maker);
}

/* In a thread of the pool. */
static void
compile (gpointer data, gpointer user_data)
{
  GpuMaker *maker = user_data;
  Made *made = data;
  GBytes *code = maker->runtime->type->compile (maker->runtime, maker->index, made->source, NULL);

  g_mutex_lock (&maker->lock);
  made->code = code;
  made->state = code != NULL ? COMPILED : FAILED;
  maker->n_pending--;
  g_cond_broadcast (&maker->done);
  g_mutex_unlock (&maker->lock);
}

static Made *
begin (GpuMaker *maker, const char *source)
{
  Made *made = g_new0 (Made, 1);

  made->source = g_strdup (source);
  g_hash_table_insert (maker->made, made->source, made);
  if (maker->pool == NULL)
    maker->pool = g_thread_pool_new (
        compile, maker, (int) CLAMP (g_get_num_processors () - 1, 1, MAX_THREADS), FALSE, NULL);
  maker->n_pending++;
  g_thread_pool_push (maker->pool, made, NULL);
  return made;
}

/* Loads the code once; a failure is final. */
static void
load (GpuMaker *maker, Made *made)
{
  const AdjGpuRuntimeType *type = maker->runtime->type;

  made->module = type->module_load (maker->runtime, made->code, NULL);
  if (made->module != NULL)
    made->kernel = type->find_kernel (maker->runtime, made->module, "made", NULL);
  if (made->kernel == NULL)
    made->state = FAILED;
}

AdjGpuKernel *
gpu_maker_find (GpuMaker *maker, const char *source)
{
  AdjGpuKernel *kernel;
  Made *made;

  if (maker->runtime->type->compile == NULL)
    return NULL;
  g_mutex_lock (&maker->lock);
  made = g_hash_table_lookup (maker->made, source);
  if (made == NULL)
    made = begin (maker, source);
  if (made->state == COMPILED && made->kernel == NULL)
    load (maker, made);
  kernel = made->kernel;
  g_mutex_unlock (&maker->lock);
  return kernel;
}

gboolean
gpu_maker_wait (GpuMaker *maker)
{
  gint64 until = g_get_monotonic_time () + WAIT_US;
  gboolean pending;

  g_mutex_lock (&maker->lock);
  while (maker->n_pending > 0 && g_cond_wait_until (&maker->done, &maker->lock, until))
    ;
  pending = maker->n_pending > 0;
  g_mutex_unlock (&maker->lock);
  return pending;
}
