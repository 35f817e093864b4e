/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

extern const AdjPass adj_pass_compiled_autograd;

G_END_DECLS
