/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-object-call-internal.h"

G_BEGIN_DECLS

/* What the library keeps of an object beside its state. */
struct _AdjObjectHeader
{
  char *name;                  /* (owned): of @real, qualified */
  const AdjObjectClass *klass; /* (nullable): whose functions hold for it: of a fake object the
                                  fake class; %NULL: it is not live */
  const AdjObjectClass *real;  /* (nullable): the class that it is an object of */
  gboolean is_fake;
  GRecMutex lock; /* held while a method runs, or the state is read */
  AdjValue flat;  /* (owned): the state of an object that is not live; NONE: not known */
  AdjArena *arena;
  const AdjSchema **schemas; /* of the methods of @real */
};

static inline gboolean
object_state_is_known (const AdjObject *object)
{
  return object->header->klass != NULL || object->header->flat.kind != ADJ_VALUE_NONE;
}

/* (transfer full) (nullable): an instance of @klass for an object of @real in @state. */
AdjObject *object_instance_new (const AdjObjectClass *klass,
                                const AdjObjectClass *real,
                                const AdjValue *state,
                                gboolean is_fake,
                                GError **error);

/* -- kept-value.c -- */

/* (transfer full): what @tensor, a fake one, shows now, to be kept. */
AdjTensor *kept_value_store (AdjTensor *tensor);
/* (transfer full): a tensor of its own that shows @kept. */
AdjTensor *kept_value_load (AdjTensor *kept, AdjSymbols *symbols);
/* @tensor shows no kept value. */
void kept_value_drop (AdjTensor *tensor);

G_END_DECLS
