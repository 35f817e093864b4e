/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cuda: kernels written out for one call of one graph, whose sizes, strides and
 * types are constants that the compiler of the device sees.  Without one, or until it is done, the
 * kernels of the library do the same, with the same bits. */

#include "cuda/args.h"

/* Runs the kernel @symbol of ADJ_CUDA_KERNELS as it is for these @args; false: it is not there. */
bool adj_k_cuda_run_special (
    AdjKQueue *queue, const char *symbol, const AdjKLaunch *shape, const void *args, size_t size);

/* Runs the steps over @views, which have the same sizes and merged dims, the first of them the one
 * whose order decides; false: the kernel is not there. */
bool adj_k_cuda_run_steps (
    AdjKQueue *queue, const AdjKStep *steps, int n_steps, const AdjKView *views, int n_views);
