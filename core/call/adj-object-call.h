/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"
#include "call/adj-object.h"
#include "call/adj-schema.h"

G_BEGIN_DECLS

/* A call of a method on its way through the modes. */
struct _AdjObjectCall
{
  AdjContext *cx;
  AdjObject *object; /* (unowned) */
  const char *name;
  const AdjMethod *method; /* of its class */
  const AdjSchema *schema; /* of that */
  const AdjValue *args;    /* (unowned): as they were given */
  guint n_args;
  const AdjValue *kwargs; /* (unowned): DICT or NONE */
  AdjTensor *token;       /* (unowned) (nullable): that orders it */
  AdjTensor *new_token;   /* (unowned) (nullable): that it gives */
  AdjValue result;        /* (owned) */
};

/* -- for modes; %FALSE: the context is in error -- */

/* Passes @call on. */
ADJ_PUBLIC gboolean adj_mode_call_object_below (AdjMode *mode, AdjObjectCall *call);
G_END_DECLS
