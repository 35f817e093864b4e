/* SPDX-License-Identifier: MIT */
/* Libraries of CUDA by dlopen. */

#include "device/cuda-library.h"

#include <dlfcn.h>

static gboolean
find_functions (CudaLibrary *self)
{
  void *library = NULL;

  for (guint i = 0; self->names[i] != NULL && library == NULL; i++)
    library = dlopen (self->names[i], RTLD_NOW | RTLD_LOCAL);
  for (guint i = 0; library != NULL && i < self->n_functions; i++)
    if ((self->table[i] = dlsym (library, self->functions[i])) == NULL)
      return FALSE;
  return library != NULL;
}

gboolean
cuda_library_open (CudaLibrary *self)
{
  if (g_once_init_enter (&self->opened))
    g_once_init_leave (&self->opened, find_functions (self) ? 2 : 1);
  return self->opened == 2;
}

void *
cuda_library_get_handle (CudaLibrary *self, const AdjGpuRuntime *runtime, int device)
{
  guint generation = __atomic_load_n (&runtime->generation, __ATOMIC_ACQUIRE);
  int (*create) (void **handle) = (int (*) (void **)) self->table[0];

  if (device < 0 || (gsize) device >= G_N_ELEMENTS (self->devices))
    return NULL;
  if (self->devices[device].handle == NULL || self->devices[device].generation != generation)
    {
      self->devices[device].generation = generation;
      if (create (&self->devices[device].handle) != 0)
        self->devices[device].handle = NULL;
    }
  return self->devices[device].handle;
}

gpointer
cuda_library_find (CudaLibrary *self, gconstpointer shape, gsize size)
{
  g_autoptr (GBytes) key = g_bytes_new_static (shape, size);

  return self->choices != NULL ? g_hash_table_lookup (self->choices, key) : NULL;
}

void
cuda_library_keep (CudaLibrary *self, gconstpointer shape, gsize size, gpointer choice)
{
  if (self->choices == NULL)
    self->choices =
        g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, g_free);
  g_hash_table_insert (self->choices, g_bytes_new (shape, size), choice);
}
