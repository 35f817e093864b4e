/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* The traces of core/aot as passes over graphs that can be run forwards. */

extern const AdjPass adj_pass_functionalize;
extern const AdjPass adj_pass_joint;

G_END_DECLS
