/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* The policy of activation checkpointing for a node (ir/SPEC.md §4). */
typedef enum
{
  ADJ_RECOMPUTE_NONE,
  ADJ_RECOMPUTE_MUST_SAVE,
  ADJ_RECOMPUTE_PREFER_SAVE,
  ADJ_RECOMPUTE_MUST_CPU_OFFLOAD, /* saved, in the memory of the CPU until backward */
  ADJ_RECOMPUTE_PREFER_CPU_OFFLOAD,
  ADJ_RECOMPUTE_MUST_RECOMPUTE,
  ADJ_RECOMPUTE_PREFER_RECOMPUTE,
  ADJ_N_RECOMPUTE,
} AdjRecompute;

ADJ_PUBLIC const char *
adj_recompute_name (AdjRecompute policy); /* "PREFER_RECOMPUTE"; "" for NONE */
ADJ_PUBLIC AdjRecompute
adj_recompute_from_name (const char *name); /* ADJ_N_RECOMPUTE when unknown */

G_END_DECLS
