/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "call/adj-object.h"

G_BEGIN_DECLS

/* (transfer full): an empty queue of tensors. */
AdjObject *queue_new (void);
/* (transfer full): a function of (queue, x) that pushes x.cos () and x.sin () and returns (pop
 * () + size (), pop () - size (), queue). */
AdjFunction *queue_function_new (void);
/* (transfer full): an f32[3] tensor */
AdjTensorData *queue_input_new (void);

G_END_DECLS
