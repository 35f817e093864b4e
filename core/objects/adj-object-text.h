/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* A line "name: value" for each entry of @state, indented by two blanks; of tensors with more than
 * @max_items elements the ends alone. */
ADJ_PUBLIC void adj_object_state_print (const AdjValue *state, guint max_items, GString *out);
/* Class and state of @object; of a state that cannot be told, why. */
ADJ_PUBLIC void adj_object_print (AdjObject *object, guint max_items, GString *out);

G_END_DECLS
