/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* Reading and returning states, for the classes of this folder. */

/* Whether @value is a tensor in the form of a state. */
gboolean object_is_tensor (const AdjValue *value);
/* @value (out) (transfer full): the tensor under @name in @state; an empty one of float32 if it is
 * absent. */
gboolean
object_read_tensor (const AdjValue *state, const char *name, AdjValue *value, GError **error);
/* 0 if @state has none. */
gboolean object_read_int (const AdjValue *state, const char *name, gint64 *value, GError **error);
/* Sets @error: the entry @name must be @what; returns %FALSE. */
gboolean object_refuse_state (GError **error, const char *name, const char *what);
/* (transfer full): a LIST of copies. */
AdjValue object_copy_list (const AdjValue *items, guint n);

/* @result (out) (transfer full): a new tensor with the elements of @stored. */
gboolean object_give_tensor (AdjContext *cx, const AdjValue *stored, AdjValue *result);
/* The same for a LIST. */
gboolean object_give_tensors (AdjContext *cx, const AdjValue *stored, guint n, AdjValue *result);

G_END_DECLS
