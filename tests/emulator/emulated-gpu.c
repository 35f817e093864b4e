/* SPDX-License-Identifier: MIT */
/* The emulated GPU of tests: the kernels of kernels/cuda run as fibers, confined to device
 * memory. */

#include "emulated-gpu.h"

#include <dlfcn.h>

#include "adj-emulator.h"

static bool
holds (const void *device, const void *at, size_t size)
{
  return adj_emulated_runtime_holds (device, at, size);
}

/* Loads a compiled kernel: @symbol is the path of a library that contains the kernel "made". */
static AdjEmulatedKernel
open_made (const char *symbol, gsize size)
{
  void *library = dlopen (symbol, RTLD_NOW | RTLD_LOCAL);
  AdjEmulatedKernel kernel = { .symbol = symbol, .size = size };

  if (library == NULL)
    g_error ("%s", dlerror ());
  kernel.run = (void (*) (const void *)) dlsym (library, "made_emulated");
  g_assert_nonnull (kernel.run);
  return kernel;
}

static gboolean
run_kernel (const AdjGpuRuntime *device,
            const char *symbol,
            const AdjKLaunch *launch,
            gconstpointer args,
            gsize size)
{
  const AdjEmulatedKernel *kernel = adj_emulator_find (symbol);
  AdjEmulatedKernel made;
  const char *problem;

  if (kernel == NULL && g_path_is_absolute (symbol) && args != NULL)
    {
      made = open_made (symbol, size);
      kernel = &made;
    }
  if (g_path_is_absolute (symbol) && args == NULL)
    return TRUE;
  if (kernel == NULL || args == NULL)
    return kernel != NULL;
  g_assert_cmpuint (kernel->size, ==, size);
  adj_emulator_confine (holds, device);
  adj_emulator_launch (kernel, launch->grid[0], launch->block[0], args);
  adj_emulator_confine (NULL, NULL);
  problem = adj_emulator_take_problem ();
  g_assert_cmpstr (problem, ==, NULL);
  return TRUE;
}

AdjGpu *
emulated_gpu_new (const AdjEmulation *emulation)
{
  AdjEmulation with_kernels = emulation != NULL ? *emulation : (AdjEmulation){ 0 };

  with_kernels.run = run_kernel;
  return adj_gpu_new (adj_emulated_runtime_new (&with_kernels), 0);
}
