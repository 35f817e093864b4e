/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu.h"

G_BEGIN_DECLS

/* CUDA's compiler at run time, NVRTC, loaded at first use. */

/**
 * adj_cuda_compile:
 * @source: CUDA C, which may include the files of adj_k_cuda_sources
 * @major, @minor: the compute capability to compile for
 *
 * Compiles @source, or finds the cached result of an earlier process.  Any thread may call it; it
 * takes from a millisecond to seconds.
 *
 * Returns: (transfer full) (nullable): machine code; %NULL with ADJ_ERROR_NOT_FOUND where there is
 *   no compiler, or with ADJ_ERROR_PARSE and its first message
 */
GBytes *adj_cuda_compile (const char *source, guint major, guint minor, GError **error);

/* (nullable): why there is no compiler. */
const char *adj_cuda_compiler_missing (void);

G_END_DECLS
