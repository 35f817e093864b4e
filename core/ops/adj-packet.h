/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* What one name of a Python program stands for: the overloads of an operator ("torch.add", the
 * method "add_", "operator.iadd"), or a function of torch itself that is written in terms of
 * operators ("torch.nn.functional.relu").  ops/torch.inc says which names there are. */
typedef struct _AdjPacket AdjPacket;

/* %NULL when nothing goes by that name. */
ADJ_PUBLIC const AdjPacket *adj_packet_find_function (const char *target);
ADJ_PUBLIC const AdjPacket *adj_packet_find_method (const char *name);

/* (nullable): the name that we have and that is spelled most like @name. */
ADJ_PUBLIC char *adj_packet_suggest (const char *name, gboolean method);

/* The functions of torch that are written in terms of operators: composite operators with the
 * schema "torch.nn.functional::relu(…)". */
ADJ_PUBLIC guint adj_functions_get_n (void);
ADJ_PUBLIC const AdjOp *adj_functions_get (guint index);

ADJ_PUBLIC guint adj_packet_get_n_overloads (const AdjPacket *packet);
ADJ_PUBLIC const AdjOp *adj_packet_get_overload (const AdjPacket *packet, guint index);

/**
 * adj_packet_call:
 * @args: (nullable): TUPLE of positional arguments; of a method, with the receiver in front
 * @kwargs: (nullable): DICT
 * @result: (out): as of adj_call()
 *
 * Calls the first overload whose signature the arguments fit, by Python's rules: a number is no
 * tensor but in arithmetic, sizes may stand one by one (`x.view (2, 3)`), `input`, `axis` and
 * `keepdims` are other names of `self`, `dim` and `keepdim`.
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_packet_call (AdjContext *cx,
                                     const AdjPacket *packet,
                                     const AdjValue *args,
                                     const AdjValue *kwargs,
                                     AdjValue *result);

G_END_DECLS
