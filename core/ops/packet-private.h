/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"
#include "ops/adj-packet.h"

G_BEGIN_DECLS

struct _AdjPacket
{
  const char *name; /* as it is looked up, "torch.nn.functional.relu"; or the operator's, "add" */
  GPtrArray *overloads;   /* of AdjOp, in the order in which they are tried */
  gboolean complete;      /* the operators of that name are among them */
  gboolean takes_numbers; /* in Tensor slots too: arithmetic */
};

/* The arguments of a Python call as @op's schema wants them. */
typedef struct
{
  AdjArena *arena;
  AdjValue args;   /* TUPLE, in @arena */
  AdjValue kwargs; /* DICT, in @arena */
} PacketCall;

/* Whether @args, @kwargs fit the schema of @op.  %FALSE: @why, made in @call's arena, says what
 * does not. */
gboolean packet_bind (PacketCall *call,
                      const AdjSchema *schema,
                      gboolean takes_numbers,
                      const AdjValue *args,
                      const AdjValue *kwargs,
                      const char **why);

G_END_DECLS
