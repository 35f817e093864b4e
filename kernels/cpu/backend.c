/* SPDX-License-Identifier: MIT */
/* The row of the CPU: kernels that are done when they return and need no queue. */

#include "adj-kernel-backend.h"

#define CPU_ENTRY(RESULT, name, parameters, arguments)                                             \
  static RESULT name##_on_cpu (ADJ_K_PARAMETERS parameters) { return adj_k_##name arguments; }

ADJ_K_ENTRIES (CPU_ENTRY)

const AdjKBackend adj_k_cpu_backend = { .name = "cpu",
#define CPU_FIELD(RESULT, name, parameters, arguments) .name = name##_on_cpu,
                                        ADJ_K_ENTRIES (CPU_FIELD) };
