/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-object-call-internal.h"

G_BEGIN_DECLS

/* Header of an object, beside its state. */
struct _AdjObjectHeader
{
  char *name;                  /* (owned): of @real, qualified */
  const AdjObjectClass *klass; /* (nullable): the class whose functions are called: of a fake object
                                  the fake class; %NULL: not live */
  const AdjObjectClass *real;  /* (nullable): the class that it is an object of */
  gboolean is_fake;
  GRecMutex lock; /* held while a method runs, or the state is read */
  AdjValue flat;  /* (owned): the state of an object that is not live; NONE: unknown; RAW: unknown,
                     and why */
  AdjArena *arena;
  const AdjSchema **schemas; /* of the methods of @real */
};

static inline gboolean
object_state_is_known (const AdjObject *object)
{
  const AdjValueKind kind = object->header->flat.kind;

  return object->header->klass != NULL || (kind != ADJ_VALUE_NONE && kind != ADJ_VALUE_RAW);
}

/* (transfer full) (nullable): an instance of @klass for an object of @real in @state. */
AdjObject *object_instance_new (const AdjObjectClass *klass,
                                const AdjObjectClass *real,
                                const AdjValue *state,
                                gboolean is_fake,
                                GError **error);

/* -- kept-value.c -- */

/* (transfer full): a copy of the metadata of @tensor, which is fake, to be kept. */
AdjTensor *kept_value_store (AdjTensor *tensor);
/* (transfer full): a new fake tensor with the value of @kept. */
AdjTensor *kept_value_load (AdjTensor *kept, AdjSymbols *symbols);
/* Makes @tensor refer to no kept value. */
void kept_value_drop (AdjTensor *tensor);

G_END_DECLS
