/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* The overloads behind one name of a Python program: of an operator ("torch.add", the method
 * "add_", "operator.iadd"), or of a Python function written in terms of operators
 * ("torch.nn.functional.relu"). The names are in ops/torch.inc. */
typedef struct _AdjPacket AdjPacket;

/* %NULL: unknown name. */
ADJ_PUBLIC const AdjPacket *adj_packet_find_function (const char *target);
ADJ_PUBLIC const AdjPacket *adj_packet_find_method (const char *name);

/* (nullable): the known name that is most similar to @name. */
ADJ_PUBLIC char *adj_packet_suggest (const char *name, gboolean method);

/* Functions of torch written in terms of operators: composite operators with schemas like
 * "torch.nn.functional::relu(…)". */
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
 * Calls the first overload whose signature the arguments fit, by Python's rules: numbers are
 * accepted for tensors only in arithmetic, sizes may be separate arguments (`x.view (2, 3)`),
 * `input`, `axis` and `keepdims` are other names of `self`, `dim` and `keepdim`.
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_packet_call (AdjContext *cx,
                                     const AdjPacket *packet,
                                     const AdjValue *args,
                                     const AdjValue *kwargs,
                                     AdjValue *result);

G_END_DECLS
