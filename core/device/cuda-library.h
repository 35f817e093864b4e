/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* A library of CUDA that is opened by name when it is first asked for: its functions, a handle for
 * each device, and what it advised for each shape of a call, asked once. */
typedef struct
{
  const char *const *names;     /* of the file, the newest first; ends with %NULL */
  const char *const *functions; /* of a library with handles, the first makes one: int (void **),
                                 * 0 is success */
  guint n_functions;
  void **table; /* gets the functions */
  GMutex lock;  /* of what follows */
  gsize opened; /* of g_once_init: 1: it is not here, 2: it is */
  struct
  {
    void *handle;
    guint generation; /* of the runtime */
  } devices[64];
  GHashTable *choices; /* GBytes of a shape → what was chosen (owned), since the first */
} CudaLibrary;

gboolean cuda_library_open (CudaLibrary *self);
/* With the lock held.  %NULL: it cannot be had. */
void *cuda_library_get_handle (CudaLibrary *self, const AdjGpuRuntime *runtime, int device);
/* With the lock held.  (nullable): what was kept for @shape, of @size bytes. */
gpointer cuda_library_find (CudaLibrary *self, gconstpointer shape, gsize size);
/* With the lock held.  @choice: (transfer full): freed with g_free() */
void cuda_library_keep (CudaLibrary *self, gconstpointer shape, gsize size, gpointer choice);

G_END_DECLS
