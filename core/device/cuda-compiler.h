/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu.h"

G_BEGIN_DECLS

/* CUDA's compiler at run time, NVRTC, opened when it is first asked for. */

/**
 * adj_cuda_compile:
 * @source: CUDA C, which may include the files of adj_k_cuda_sources
 * @major, @minor: the compute capability to compile for
 *
 * Compiles @source, or finds what an earlier process made of the same text.  Any thread may call
 * it; it takes from a millisecond to seconds.
 *
 * Returns: (transfer full) (nullable): machine code; %NULL with ADJ_ERROR_NOT_FOUND where there is
 *   no compiler, or with ADJ_ERROR_PARSE and its first message
 */
GBytes *adj_cuda_compile (const char *source, guint major, guint minor, GError **error);

/* (nullable): that there is none. */
const char *adj_cuda_compiler_missing (void);

G_END_DECLS
