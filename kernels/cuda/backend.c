/* SPDX-License-Identifier: MIT */
/* The row of CUDA. */

#include "adj-kernel-cuda.h"
#include "kernel-list.h"
#include "launch.h"

#define CUDA_FIELD(RESULT, name, parameters, arguments) .name = adj_k_cuda_##name,

const AdjKBackend adj_k_cuda_backend = { .name = "cuda", ADJ_K_ENTRIES (CUDA_FIELD) };
