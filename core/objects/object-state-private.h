/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"

G_BEGIN_DECLS

/* What the classes of this folder read of a state and give of it. */

/* Whether @value is a tensor as a state holds it. */
gboolean object_is_tensor (const AdjValue *value);
/* @value (out) (transfer full): the tensor that @state has under @name; an empty one of float32
 * when it has none. */
gboolean
object_read_tensor (const AdjValue *state, const char *name, AdjValue *value, GError **error);
/* 0 when @state has none. */
gboolean object_read_int (const AdjValue *state, const char *name, gint64 *value, GError **error);
/* Sets @error: the entry @name must be @what; returns %FALSE. */
gboolean object_refuse_state (GError **error, const char *name, const char *what);
/* (transfer full): a LIST of copies. */
AdjValue object_copy_list (const AdjValue *items, guint n);

/* @result (out) (transfer full): a new tensor of @stored. */
gboolean object_give_tensor (AdjContext *cx, const AdjValue *stored, AdjValue *result);
/* A LIST of them. */
gboolean object_give_tensors (AdjContext *cx, const AdjValue *stored, guint n, AdjValue *result);

G_END_DECLS
