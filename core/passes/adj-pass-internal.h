/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

extern const AdjPass adj_pass_dce;
extern const AdjPass adj_pass_cse;
extern const AdjPass adj_pass_constant_fold;
extern const AdjPass adj_pass_decompose;
extern const AdjPass adj_pass_normalise;

G_END_DECLS
