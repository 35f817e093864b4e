/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* What compiled autograd did when it captured the graph of a region, as the capture module writes
 * it and AdjRegion.capture has it:
 *
 *   {"nodes": ["torch::autograd::GraphRoot", "SumBackward0", …],  visited, in that order: a node
 *                                                                  call is a number of this list
 *    "reasons": ["Cache miss due to …", …]}                        why it captured again
 *
 * Each member may be missing.  @reader must be a plain one, here and below. */
gboolean adjoint_read_capture (const ValueReader *reader,
                               const JsonItem *item,
                               AdjValue *out,
                               GError **error);

/* What surrounds one call of such a graph, whose inputs are the lists `inputs`, `sizes`, `scalars`
 * and `hooks`, as AdjRecordedCall.backward has it:
 *
 *   {"inputs": [{"from": "gradient", "node": 0},  of each item of `inputs`: a gradient that the
 *                                                 program gave, …
 *               {"from": "saved", "node": 2},     … what that node call had saved, …
 *               {"from": "leaf", "node": 4, "name": "0.weight"},
 *               {"from": "grad", "node": 4, "of": 2}],   … the gradient that a leaf has before:
 *                                                        "of" is a number of this list
 *    "hooks": [{"name": "train.clip",             of each item of `hooks`: what is called, …
 *               "where": "train.py:12",           … where it stands, …
 *               "type": "tensor_pre_hook",        … PyTorch's hook_type, or the function that calls
 *                                                 it: "call_backward", "self_invoke"
 *               "call": "call_hook"},             … in which node; …
 *              {"name": "….BackwardState", "holds": [{"name": "train.clip", "where": …}], …}],
 *                                                 … or what holds hooks of a compiled forward
 *    "results": {"call_hook": value, …},          by node: what was given there; of a hook after
 *                                                 accumulation {"grad": the gradient it left,
 *                                                 "leaf": the leaf, where it changed that}
 *    "gradients": [{"of": 2, "grad": value}, …]}  of each leaf what it has afterwards, or null
 *
 * Each member, and each member of an entry but "from", "name" of a hook and "of" of a gradient, may
 * be missing; "results" is empty where the graph was compiled further. */
gboolean adjoint_read_backward (const ValueReader *reader,
                                const JsonItem *item,
                                AdjValue *out,
                                GError **error);

G_END_DECLS
