/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cuda: kernels as source for one call of one graph, with sizes, strides and
 * types as constants.  Until one is compiled, and where it cannot be, the kernels of the library
 * compute the same bits. */

#include "cuda/args.h"

/* Runs the kernel @symbol of ADJ_CUDA_KERNELS specialised for these @args; false: it is not
 * available. */
bool adj_k_cuda_run_special (
    AdjKQueue *queue, const char *symbol, const AdjKLaunch *shape, const void *args, size_t size);

/* Runs the steps over @views, which have the same sizes and merged dims; the first one decides the
 * order; false: the kernel is not available. */
bool adj_k_cuda_run_steps (
    AdjKQueue *queue, const AdjKStep *steps, int n_steps, const AdjKView *views, int n_views);
