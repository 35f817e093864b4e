/* SPDX-License-Identifier: MIT */
/* The CPU backends: kernels complete when they return and need no queue. */

#include "adj-kernel-backend.h"
#include "adj-kernel-winograd.h"

#define CPU_ENTRY(RESULT, name, parameters, arguments)                                             \
  static RESULT name##_on_cpu (ADJ_K_PARAMETERS parameters) { return adj_k_##name arguments; }

ADJ_K_ENTRIES (CPU_ENTRY)

#define CPU_FIELD(RESULT, name, parameters, arguments) .name = name##_on_cpu,

const AdjKBackend adj_k_cpu_backend = { .name = "cpu", ADJ_K_ENTRIES (CPU_FIELD) };

static bool
conv_fast (AdjKQueue *queue, const AdjKConv *conv)
{
  return adj_k_winograd_pays (conv, ADJ_K_CONV_FORWARD) ? adj_k_winograd (conv) : adj_k_conv (conv);
}

static bool
conv_input_fast (AdjKQueue *queue, const AdjKConv *conv)
{
  return adj_k_winograd_pays (conv, ADJ_K_CONV_INPUT) ? adj_k_winograd_input (conv)
                                                      : adj_k_conv_input (conv);
}

static bool
conv_weight_fast (AdjKQueue *queue, const AdjKConv *conv)
{
  return adj_k_winograd_pays (conv, ADJ_K_CONV_WEIGHT) ? adj_k_winograd_weight (conv)
                                                       : adj_k_conv_weight (conv);
}

const AdjKBackend adj_k_cpu_fast_backend = { .name = "cpu",
                                             .conv = conv_fast,
                                             .conv_input = conv_input_fast,
                                             .conv_weight = conv_weight_fast,
                                             ADJ_K_OTHER_ENTRIES (CPU_FIELD) };
