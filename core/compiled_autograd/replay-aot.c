/* SPDX-License-Identifier: MIT */
/* At the level of nodes the backward of a compiled function is call_aot_bwd_prologue followed by
 * its graph (compiled_autograd/SPEC.md §4.6), in which a view may become a copy: gradients may have
 * other strides than in the trace. */

#include "compiled_autograd/replay-private.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "tensor/adj-shape-internal.h"

#define PROLOGUE "torch._dynamo.compiled_autograd.call_aot_bwd_prologue"

typedef struct
{
  GradVisitor parent;
  Replay *replay;
  AdjNodeId prologue;
  guint n_items; /* number of the prologue's results taken so far */
} Taking;

/* The next result of the prologue, a tensor like @meta. */
static AdjTensor *
take_item (Taking *taking, const AdjTensorMeta *meta)
{
  AdjTensor *taken = replay_new_like (taking->replay, meta);

  replay_add_item (taking->replay, taking->prologue, taking->n_items++, &ADJ_TENSOR (taken));
  return taken;
}

static void
take_kept (GradVisitor *visitor, const char *name, AdjTensor **tensor)
{
  Taking *taking = (Taking *) visitor;

  stand_ins_exchange (&taking->replay->stand_ins, tensor,
                      take_item (taking, adj_tensor_get_meta (*tensor)));
}

/* Reads a size from the existing node. */
static void
pass_size (GradVisitor *visitor, const char *name, AdjValue *size)
{
  ((Taking *) visitor)->n_items++;
}

static void
pass_function (GradVisitor *visitor, const char *name, AdjFunction *function)
{
}

/* The prologue makes gradients contiguous, unless they are dense. */
static AdjTensor *
take_grad (Taking *taking, const AdjTensor *grad)
{
  AdjSymbols *symbols = adj_context_get_symbols (taking->replay->cx);
  AdjTensorMeta meta = *adj_tensor_get_meta (grad);

  if (!adj_shape_is_dense (&meta.shape, symbols))
    adj_shape_init (&meta.shape, symbols, meta.shape.rank, meta.shape.size);
  return take_item (taking, &meta);
}

static AdjNodeId
add_prologue (Replay *self, const CollectedCall *call, AdjTensor *const *grads)
{
  const guint n_sizes = call->first_edge_size - call->first_size;
  g_autofree AdjValue *kept = g_new0 (AdjValue, call->n_slots + 1);
  g_autofree AdjValue *sizes = g_new0 (AdjValue, n_sizes + 1);
  g_autofree AdjValue *given = g_new0 (AdjValue, call->node->n_inputs + 1);
  AdjValue args[4] = { { .kind = ADJ_VALUE_TUPLE, .n = call->n_slots, .items = kept },
                       { .kind = ADJ_VALUE_LIST, .n = n_sizes, .items = sizes },
                       { .kind = ADJ_VALUE_LIST },
                       { .kind = ADJ_VALUE_TUPLE, .items = given } };

  self->stand_ins.slot = call->first_slot;
  for (guint i = 0; i < call->n_slots; i++)
    kept[i] = ADJ_TENSOR (stand_ins_next (&self->stand_ins));
  for (guint i = 0; i < n_sizes; i++)
    sizes[i] = replay_get_size (self, call->first_size + i);
  for (guint i = 0; i < call->node->n_inputs; i++)
    if (grads[i] != NULL)
      given[args[3].n++] = ADJ_TENSOR (grads[i]);
  return replay_add_call (self, PROLOGUE, args, G_N_ELEMENTS (args), &ADJ_NONE);
}

/* Zeros for undefined gradients are made after the prologue. */
void
replay_begin_compiled (Replay *self, const CollectedCall *call, AdjTensor **grads, guint object)
{
  Taking taking = { .parent = { .cx = self->collection->cx,
                                .tensor = take_kept,
                                .size = pass_size,
                                .function = pass_function },
                    .replay = self };

  replay_add_item (self, self->lists[3], object, &ADJ_NONE);
  taking.prologue = add_prologue (self, call, grads);
  call->node->klass->visit (call->node, &taking.parent);
  for (guint i = 0; i < call->node->n_inputs; i++)
    if (grads[i] != NULL)
      {
        AdjTensor *taken = take_grad (&taking, grads[i]);

        adj_tensor_ref (taken);
        adj_tensor_unref (grads[i]);
        grads[i] = taken;
      }
  adj_tracer_write_as (self->tracer, adj_op (ADJ_OP_view), adj_op (ADJ_OP_reshape));
}

void
replay_end_compiled (Replay *self)
{
  adj_tracer_write_as (self->tracer, adj_op (ADJ_OP_view), adj_op (ADJ_OP_view));
}
