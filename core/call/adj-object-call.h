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
  const AdjSchema *schema; /* of @method */
  const AdjValue *args;    /* (unowned): as given by the caller */
  guint n_args;
  const AdjValue *kwargs; /* (unowned): DICT or NONE */
  AdjTensor *token;       /* (unowned) (nullable): effect token that it takes */
  AdjTensor *new_token;   /* (unowned) (nullable): effect token that it returns */
  AdjValue result;        /* (owned) */
};

/* -- for modes; %FALSE: the context is in error -- */

/* Passes @call on. */
ADJ_PUBLIC gboolean adj_mode_call_object_below (AdjMode *mode, AdjObjectCall *call);
G_END_DECLS
