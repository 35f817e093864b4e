/* SPDX-License-Identifier: MIT */
/* A GPU by name, and its kernels, which are loaded at first use. */

#include "device/adj-gpu.h"

#include <string.h>

#include "device/adj-gpu-internal.h"
#include "device/gpu-maker.h"

struct _AdjGpu
{
  gatomicrefcount ref_count;
  AdjGpuRuntime *runtime; /* (owned) */
  guint index;
  char *name;
  GMutex lock;
  AdjGpuModule *module; /* (owned) (nullable) */
  guint generation;     /* of the device when @module was loaded */
  GHashTable *kernels;  /* symbol → AdjGpuKernel (unowned) */
  GpuMaker *maker;      /* (owned) */
  gboolean compiles;
};

AdjGpu *
adj_gpu_new (AdjGpuRuntime *runtime, guint index)
{
  AdjGpu *gpu = g_new0 (AdjGpu, 1);

  g_atomic_ref_count_init (&gpu->ref_count);
  gpu->runtime = runtime;
  gpu->index = index;
  gpu->name = g_strdup_printf ("%s:%u", runtime->type->name, index);
  g_mutex_init (&gpu->lock);
  gpu->kernels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gpu->maker = gpu_maker_new (runtime, index);
  gpu->compiles = TRUE;
  return gpu;
}

AdjGpu *
adj_gpu_ref (AdjGpu *gpu)
{
  g_return_val_if_fail (gpu != NULL, NULL);

  g_atomic_ref_count_inc (&gpu->ref_count);
  return gpu;
}

guint
adj_gpu_get_generation (const AdjGpu *gpu)
{
  return __atomic_load_n (&gpu->runtime->generation, __ATOMIC_ACQUIRE);
}

static void
unload (AdjGpu *gpu)
{
  g_hash_table_remove_all (gpu->kernels);
  gpu_maker_unload (gpu->maker, gpu->generation == adj_gpu_get_generation (gpu));
  if (gpu->module != NULL && gpu->generation == adj_gpu_get_generation (gpu))
    gpu->runtime->type->module_free (gpu->runtime, gpu->module);
  gpu->module = NULL;
}

void
adj_gpu_unref (AdjGpu *gpu)
{
  if (gpu == NULL || !g_atomic_ref_count_dec (&gpu->ref_count))
    return;

  unload (gpu);
  gpu_maker_free (gpu->maker, FALSE);
  g_hash_table_unref (gpu->kernels);
  gpu->runtime->type->free (gpu->runtime);
  g_mutex_clear (&gpu->lock);
  g_free (gpu->name);
  g_free (gpu);
}

/* -- by name -- */

/* Parses "cuda:1"; %FALSE: it is no such name. */
static gboolean
parse_name (const char *name, const char *kind, guint *index)
{
  gsize length = strlen (kind);
  guint64 number = 0;

  if (!g_str_has_prefix (name, kind))
    return FALSE;
  *index = 0;
  if (name[length] == '\0')
    return TRUE;
  if (name[length] != ':' ||
      !g_ascii_string_to_unsigned (name + length + 1, 10, 0, G_MAXINT, &number, NULL))
    return FALSE;
  *index = (guint) number;
  return TRUE;
}

static AdjGpu *
open_device (AdjGpuRuntime *runtime, guint index, GError **error)
{
  guint n = 0;

  if (runtime->type->count (runtime, &n, error) && index < n)
    return adj_gpu_new (runtime, index);
  if (n > 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                 "there is no device '%s:%u': there %s %u, counted from 0", runtime->type->name,
                 index, n == 1 ? "is" : "are", n);
  runtime->type->free (runtime);
  return NULL;
}

AdjGpu *
adj_gpu_open (const char *name, GError **error)
{
  guint index;

  if (name == NULL)
    name = "cuda";
  if (parse_name (name, "cuda", &index))
    return open_device (adj_cuda_runtime_new (), index, error);
  if (parse_name (name, "emulated", &index))
    return open_device (adj_emulated_runtime_new (NULL), index, error);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "no device is called '%s'; there are: cpu, cuda, cuda:N, emulated", name);
  return NULL;
}

guint
adj_gpu_count (GError **error)
{
  AdjGpuRuntime *runtime = adj_cuda_runtime_new ();
  guint n = 0;
  gboolean found = runtime->type->count (runtime, &n, error);

  runtime->type->free (runtime);
  return found ? n : 0;
}

/* -- what it is -- */

const char *
adj_gpu_get_name (const AdjGpu *gpu)
{
  g_return_val_if_fail (gpu != NULL, NULL);

  return gpu->name;
}

gboolean
adj_gpu_describe (const AdjGpu *gpu, AdjGpuInfo *info, GError **error)
{
  g_return_val_if_fail (gpu != NULL && info != NULL, FALSE);

  return gpu->runtime->type->describe (gpu->runtime, gpu->index, info, error);
}

const char *
adj_gpu_find_missing (const AdjGpu *gpu)
{
  const AdjGpuRuntimeType *type;

  g_return_val_if_fail (gpu != NULL, NULL);

  type = gpu->runtime->type;
  return type->find_missing != NULL ? type->find_missing () : NULL;
}

AdjGpuRuntime *
adj_gpu_get_runtime (const AdjGpu *gpu)
{
  return gpu->runtime;
}

gboolean
adj_gpu_is_same (const AdjGpu *a, const AdjGpu *b)
{
  return a->runtime == b->runtime && a->index == b->index;
}

gboolean
adj_gpu_use (AdjGpu *gpu, GError **error)
{
  return gpu->runtime->type->use (gpu->runtime, gpu->index, error);
}

/* -- kernels -- */

AdjGpuKernel *
adj_gpu_find_kernel (AdjGpu *gpu, const char *symbol, GError **error)
{
  const AdjGpuRuntimeType *type = gpu->runtime->type;
  AdjGpuKernel *kernel;

  g_mutex_lock (&gpu->lock);
  if (gpu->generation != adj_gpu_get_generation (gpu))
    unload (gpu);
  kernel = g_hash_table_lookup (gpu->kernels, symbol);
  if (kernel == NULL && gpu->module == NULL)
    {
      gpu->module = type->module_new (gpu->runtime, error);
      gpu->generation = adj_gpu_get_generation (gpu);
    }
  if (kernel == NULL && gpu->module != NULL)
    {
      kernel = type->find_kernel (gpu->runtime, gpu->module, symbol, error);
      if (kernel != NULL)
        g_hash_table_insert (gpu->kernels, g_strdup (symbol), kernel);
    }
  g_mutex_unlock (&gpu->lock);
  return kernel;
}

AdjGpuKernel *
adj_gpu_make_kernel (AdjGpu *gpu, const char *source)
{
  AdjGpuKernel *kernel = NULL;

  g_mutex_lock (&gpu->lock);
  if (gpu->generation != adj_gpu_get_generation (gpu))
    unload (gpu);
  gpu->generation = adj_gpu_get_generation (gpu);
  if (gpu->compiles)
    kernel = gpu_maker_find (gpu->maker, source);
  g_mutex_unlock (&gpu->lock);
  return kernel;
}

gboolean
adj_gpu_wait_for_kernels (AdjGpu *gpu)
{
  return gpu_maker_wait (gpu->maker);
}

void
adj_gpu_set_compiles (AdjGpu *gpu, gboolean compiles)
{
  gpu->compiles = compiles;
}

void
adj_gpu_recover (AdjGpu *gpu)
{
  const AdjGpuRuntimeType *type = gpu->runtime->type;
  AdjGpuStream *stream;

  g_mutex_lock (&gpu->lock);
  stream =
      type->use (gpu->runtime, gpu->index, NULL) ? type->stream_new (gpu->runtime, NULL) : NULL;
  if (stream != NULL && type->stream_wait (gpu->runtime, stream, NULL))
    type->stream_free (gpu->runtime, stream);
  else
    {
      unload (gpu);
      if (stream != NULL)
        type->stream_free (gpu->runtime, stream);
      __atomic_add_fetch (&gpu->runtime->generation, 1, __ATOMIC_RELEASE);
      type->reset (gpu->runtime, gpu->index);
    }
  g_mutex_unlock (&gpu->lock);
}
