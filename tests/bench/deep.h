/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* (transfer full): the graph that Dynamo captures of a GPT-2 with @n_layers layers. */
AdjGraph *deep_gpt2_new (guint n_layers);

G_END_DECLS
