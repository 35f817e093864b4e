/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"
#include "ops/adj-packet.h"

G_BEGIN_DECLS

struct _AdjPacket
{
  const char *name;       /* look-up key, "torch.nn.functional.relu"; or the operator's, "add" */
  GPtrArray *overloads;   /* of AdjOp, in the order in which they are tried */
  gboolean complete;      /* includes the operators of that name */
  gboolean takes_numbers; /* numbers are accepted for tensors: arithmetic */
};

/* The arguments of a Python call in the form of a schema. */
typedef struct
{
  AdjArena *arena;
  AdjValue args;   /* TUPLE, in @arena */
  AdjValue kwargs; /* DICT, in @arena */
} PacketCall;

/* Binds @args, @kwargs to @schema.  %FALSE: they do not fit; @why, in @call's arena, is the reason.
 */
gboolean packet_bind (PacketCall *call,
                      const AdjSchema *schema,
                      gboolean takes_numbers,
                      const AdjValue *args,
                      const AdjValue *kwargs,
                      const char **why);

G_END_DECLS
