/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* (transfer full): what Dynamo captures of a GPT-2 of that depth. */
AdjGraph *deep_gpt2_new (guint n_layers);

G_END_DECLS
