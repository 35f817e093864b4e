/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Contexts in which every operator of core/ops can be called, composite ones by their rules. */

/* (transfer full): a context whose only mode computes with the CPU kernels; it records no gradients
 * (see adj_context_new_with_autograd()). */
ADJ_PUBLIC AdjContext *adj_context_new (void);
/* (transfer full): a context without a mode: push at least one.  @symbols: (nullable): symbols of
 * its sizes; a reference is taken. */
ADJ_PUBLIC AdjContext *adj_context_new_empty (AdjSymbols *symbols);

G_END_DECLS
