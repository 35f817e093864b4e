/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"
#include "adj-kernel-source.h"

/* The CUDA backend: launchers over the queue's AdjKDevice, which finds kernels by symbol in the
 * modules built from kernels/cuda. */
extern const AdjKBackend adj_k_cuda_backend;

/* A fatbin with a part of the kernels. */
typedef struct
{
  const char *name; /* of its source file */
  const void *bytes;
  size_t size;
} AdjKCudaModule;

/* All modules; ends with one without a name.  There is none in a build without the option cuda. */
extern const AdjKCudaModule adj_k_cuda_modules[];

/* The module that has the kernel @symbol; NULL: none has it. */
const char *adj_k_cuda_find_module (const char *symbol);

/* All sources; ends with one without a name. */
extern const AdjKSource adj_k_cuda_sources[];
