/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"
#include "adj-kernel-source.h"

/* The kernels of CUDA: launchers over the queue's AdjKDevice, which finds the symbols in the module
 * that kernels/cuda make. */
extern const AdjKBackend adj_k_cuda_backend;

/* A fatbin with some of the kernels. */
typedef struct
{
  const char *name; /* of its source */
  const void *bytes;
  size_t size;
} AdjKCudaModule;

/* All modules; ends with one without a name.  There is none in a build without the option cuda. */
extern const AdjKCudaModule adj_k_cuda_modules[];

/* The module that has the kernel @symbol; NULL: none has it. */
const char *adj_k_cuda_find_module (const char *symbol);

/* All sources; ends with one without a name. */
extern const AdjKSource adj_k_cuda_sources[];
