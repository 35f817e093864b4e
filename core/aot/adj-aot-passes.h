/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* The traces of core/aot as passes over graphs that can be run forwards. */

extern const AdjPass adj_pass_functionalize;
extern const AdjPass adj_pass_joint;
extern const AdjPass adj_pass_export;
/* Effect tokens inside the graph instead of as inputs and outputs, and back. */
extern const AdjPass adj_pass_unlift_tokens;
extern const AdjPass adj_pass_lift_tokens;

G_END_DECLS
