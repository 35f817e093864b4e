/* SPDX-License-Identifier: MIT */
/* In a build without the option cuda: no modules. */

#include "adj-kernel-cuda.h"

const AdjKCudaModule adj_k_cuda_modules[] = { { NULL, NULL, 0 } };
