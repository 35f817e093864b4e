/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object-call.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

#define ADJ_TARGET_CALL_TORCHBIND "torch.ops.higher_order.call_torchbind"
/* The name under which a state has what the class of PyTorch pickled of an object, where a file has
 * no more. */
#define ADJ_OBJECT_PICKLED "__getstate__"
#define ADJ_TARGET_WITH_EFFECTS "torch.ops.higher_order.with_effects"

/* The same as adj_object_call(), ordered after the call that gave @token (nullable). @new_token
 * (out): borrowed from the innermost scope. */
gboolean adj_object_call_after (AdjContext *cx,
                                AdjTensor *token,
                                AdjObject *object,
                                const char *method,
                                const AdjValue *args,
                                guint n_args,
                                const AdjValue *kwargs,
                                AdjValue *result,
                                AdjTensor **new_token);

/* -- for modes; %FALSE: the context is in error -- */

/* Calls the method; operators that it calls enter at @entry. */
gboolean adj_object_call_run (AdjObjectCall *call, AdjMode *entry);
/* The same where there are no bytes: of the fake object that stands for the object. */
gboolean adj_object_call_run_fake (AdjObjectCall *call, AdjMode *entry);
/* Sets the context's error, which begins with class and method; returns %FALSE. */
gboolean adj_object_call_fail (const AdjObjectCall *call, AdjError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* (transfer full): the state of an object that is not live, as adj_object_new_flat() took it. */
AdjValue adj_object_dup_flat (const AdjObject *object);

/* Whether objects can be made of the record; %FALSE with ADJ_ERROR_UNSUPPORTED. */
gboolean adj_object_class_check (const AdjObjectClass *klass, GError **error);
/* (transfer none) (nullable): the schema of a method of @object; @method: (out) (optional). */
const AdjSchema *
adj_object_find_method (const AdjObject *object, const char *name, const AdjMethod **method);

/* Whether a call_torchbind of a graph has no effect: the class of its object is known, and the
 * method is pure. */
gboolean adj_object_node_is_pure (const AdjGraph *graph, const AdjNode *node);

/* -- copies (object-copies.c) -- */

/* From now on methods are called on deep copies, one for each object; @widened: floating tensors in
 * their states are float64. */
void adj_context_set_object_copies (AdjContext *cx, gboolean widened);
/* The copy of @object as it is now, or @object itself. (transfer none) (nullable): %NULL with the
 * context in error. */
AdjObject *adj_context_get_object_copy (AdjContext *cx, AdjObject *object);
/* The same if there is one, else @object itself: none of its methods was called. (transfer none) */
AdjObject *adj_context_find_object_copy (const AdjContext *cx, AdjObject *object);
/* What the run was given for @object: itself, or, where its copy is widened, its state so widened.
 * (transfer full) */
AdjObject *adj_context_dup_object_given (const AdjContext *cx, AdjObject *object);

/* -- fake objects (fake-object.c) -- */

/* The one that stands for @object in @cx, made of its state when first asked for; @object itself
 * where it is fake or traced as it is. (transfer none) (nullable): %NULL with the context in
 * error. */
AdjObject *adj_object_get_fake (AdjContext *cx, AdjObject *object);
/* (transfer full) (nullable): a fake object of a class and a state, in which tensors may be META
 * or DATA. */
AdjObject *adj_object_new_fake (AdjContext *cx,
                                const char *name,
                                const AdjObjectClass *klass,
                                const AdjValue *state);

/* Whether it has an effect, which must be kept and ordered. */
gboolean adj_object_call_has_effect (const AdjObjectCall *call);

/* -- kept values (kept-value.c) -- */

/* A value that a fake object was given or gave. */
typedef struct _AdjKeptValue AdjKeptValue;

AdjKeptValue *adj_kept_value_ref (AdjKeptValue *value);
void adj_kept_value_unref (AdjKeptValue *value);
/* (transfer none) (nullable): which one @tensor shows; %NULL: none, or it was written since. */
AdjKeptValue *adj_kept_value_find (const AdjTensor *tensor);

G_END_DECLS
