/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Ways in which a partitioned pair is silently wrong or wasteful; Adjoint makes none of them. */
extern const AdjCheck adj_check_merged_random;
extern const AdjCheck adj_check_recomputed_random;
extern const AdjCheck adj_check_repeated_write;
extern const AdjCheck adj_check_saved_reference;
extern const AdjCheck adj_check_saved_twice;
extern const AdjCheck adj_check_unsaved;

G_END_DECLS
