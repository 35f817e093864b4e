/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* A library of CUDA that is loaded by name at first use: its functions, a handle for each device,
 * and a cache of its choices by the shape of a call. */
typedef struct
{
  const char *const *names;     /* file names, the newest first; ends with %NULL */
  const char *const *functions; /* of a library with handles, the first makes one and returns 0 */
  guint n_functions;
  void **table; /* (out): addresses of @functions */
  GMutex lock;  /* guards the members below */
  gsize opened; /* for g_once_init: 1: it is missing, 2: it is loaded */
  struct
  {
    void *handle;
    guint generation; /* of the runtime when the handle was made */
  } devices[64];
  GHashTable *choices; /* GBytes of a shape → choice (owned); %NULL before the first */
} CudaLibrary;

gboolean cuda_library_open (CudaLibrary *self);
/* With the lock held.  %NULL: no handle could be made. */
void *cuda_library_get_handle (CudaLibrary *self, const AdjGpuRuntime *runtime, int device);
/* With the lock held.  (nullable): the choice for @shape, of @size bytes. */
gpointer cuda_library_find (CudaLibrary *self, gconstpointer shape, gsize size);
/* With the lock held.  @choice: (transfer full): freed with g_free() */
void cuda_library_keep (CudaLibrary *self, gconstpointer shape, gsize size, gpointer choice);

G_END_DECLS
