/* SPDX-License-Identifier: MIT */
/* The AccumulateGrad node of a leaf: adds gradients to the leaf's grad, after its hooks and in the
 * leaf's layout. */

#include "autograd/autograd-private.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"

typedef struct
{
  AdjGradNode parent;
  AdjTensor *leaf; /* (nullable): %NULL once the leaf is freed */
  gboolean owns_leaf;
} Accumulator;

/* Whether @grad has the strides of a dense leaf, or is contiguous for another one; no stride may be
 * 0. */
static gboolean
obeys_layout (AdjContext *cx, const AdjShape *leaf, const AdjShape *grad)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);

  if (!adj_shape_is_dense (leaf, symbols))
    return adj_shape_is_contiguous (grad, symbols);
  for (guint i = 0; i < leaf->rank; i++)
    if (adj_size_is (symbols, leaf->size[i], 1)
            ? adj_size_is (symbols, grad->stride[i], 0)
            : !adj_size_test (symbols, ADJ_SIZE_EQ, leaf->stride[i], grad->stride[i]))
      return FALSE;
  return TRUE;
}

static AdjTensor *
clone_like (AdjContext *cx, AdjTensor *grad, const AdjShape *leaf)
{
  AdjArena *arena;
  AdjTensor *copy;

  if (!adj_shape_is_dense (leaf, adj_context_get_symbols (cx)))
    return adj_apply_clone_contiguous (cx, grad);
  arena = adj_arena_new ();
  copy = ADJ_APPLY (cx, ADJ_OP_new_empty_strided, ADJ_TENSOR (grad),
                    adj_rule_list_sizes (arena, leaf->size, leaf->rank),
                    adj_rule_list_sizes (arena, leaf->stride, leaf->rank));
  if (copy != NULL)
    copy = ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (copy), ADJ_TENSOR (grad));
  adj_arena_free (arena);
  return copy;
}

static const AdjOp *
find_add_inplace (void)
{
  return adj_op_find ("torch.ops.aten.add_.Tensor");
}

/* The new gradient of @leaf after adding @grad, borrowed from the scope. @n_holders: how many
 * references to @grad belong to callers that no longer use it: with no others it is stored without
 * a copy. */
static AdjTensor *
accumulate (AdjContext *cx, AdjTensor *leaf, AdjTensor *old, AdjTensor *grad, guint n_holders)
{
  const AdjShape *shape = &adj_tensor_get_meta (leaf)->shape;
  AdjValue items[2] = { ADJ_TENSOR (old), ADJ_TENSOR (grad) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjValue result;

  if (old != NULL && adj_context_get_grad_enabled (cx))
    return ADJ_APPLY (cx, ADJ_OP_add_Tensor, items[0], items[1]);
  if (old != NULL)
    return adj_call (cx, find_add_inplace (), &args, NULL, &result) ? old : NULL;
  if (!adj_context_get_grad_enabled (cx) && adj_tensor_is_held_by (grad, n_holders) &&
      obeys_layout (cx, shape, &adj_tensor_get_meta (grad)->shape))
    return ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (grad));
  return clone_like (cx, grad, shape);
}

gboolean
leaf_run_hook (AdjContext *cx, const AdjHook *hook, AdjTensor *leaf)
{
  ((AdjLeafHookFunc) hook->func) (cx, leaf, hook->data);
  return !adj_context_has_error (cx);
}

const GPtrArray *
leaf_get_hooks (const AdjTensor *leaf)
{
  const Variable *variable = variable_find (leaf);

  return variable != NULL ? variable->leaf_hooks : NULL;
}

static gboolean
run_leaf_hooks (AdjContext *cx, AdjTensor *leaf)
{
  g_autoptr (GPtrArray) hooks = hook_list_snapshot (leaf_get_hooks (leaf));
  gboolean done = TRUE;

  for (guint i = 0; hooks != NULL && i < hooks->len && done; i++)
    done = leaf_run_hook (cx, g_ptr_array_index (hooks, i), leaf);
  return done;
}

gboolean
leaf_was_missed (const AdjTensor *leaf)
{
  const Variable *variable = variable_find (leaf);

  return variable != NULL && variable->missed;
}

gboolean
leaf_add (AdjContext *cx, AdjTensor *leaf, AdjTensor *grad, guint n_holders)
{
  const Autograd *autograd = autograd_find (cx);
  Variable *variable = variable_get (leaf);

  variable->missed =
      grad == NULL || (variable->node == NULL && !adj_tensor_get_requires_grad (leaf));
  if (variable->missed)
    return TRUE;
  if (variable->node != NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "leaf variable has been moved into the graph interior");
      return FALSE;
    }
  grad = accumulate (cx, leaf, variable->grad, grad, n_holders);
  if (grad == NULL)
    return FALSE;
  adj_tensor_ref (grad);
  if (variable->grad != NULL)
    adj_tensor_unref (variable->grad);
  variable->grad = grad;
  if (autograd != NULL && autograd->watch != NULL)
    autograd->watch (leaf, grad, autograd->watch_data);
  return TRUE;
}

void
engine_watch_accumulation (AdjContext *cx, AccumulationFunc func, gpointer data)
{
  Autograd *autograd = autograd_get (cx);

  if (autograd == NULL)
    return;
  autograd->watch = func;
  autograd->watch_data = data;
}

/* Adds nothing to a leaf that no longer requires a gradient. */
static gboolean
accumulator_apply (AdjGradNode *node,
                   AdjContext *cx,
                   AdjTensor *const *grads,
                   const gboolean *needed,
                   AdjTensor **out)
{
  AdjTensor *leaf = ((Accumulator *) node)->leaf;

  if (leaf == NULL)
    return TRUE;
  return leaf_add (cx, leaf, grads[0], 1) && (leaf_was_missed (leaf) || run_leaf_hooks (cx, leaf));
}

static gboolean
accumulator_visit (AdjGradNode *node, GradVisitor *visitor)
{
  AdjTensor *leaf = ((Accumulator *) node)->leaf;
  AdjTensor *grad = leaf != NULL ? adj_tensor_get_grad (leaf) : NULL;
  gboolean requires_grad = leaf != NULL && adj_tensor_get_requires_grad (leaf);

  visitor->leaf (visitor, "requires_grad", &ADJ_BOOL (requires_grad), FALSE);
  visitor->leaf (visitor, "leaf", leaf != NULL ? &ADJ_TENSOR (leaf) : &ADJ_NONE, TRUE);
  visitor->leaf (visitor, "grad", grad != NULL ? &ADJ_TENSOR (grad) : &ADJ_NONE, TRUE);
  return TRUE;
}

static void
accumulator_finalize (AdjGradNode *node)
{
  Accumulator *accumulator = (Accumulator *) node;

  if (accumulator->leaf != NULL)
    variable_get (accumulator->leaf)->accumulator = NULL;
  if (accumulator->owns_leaf)
    adj_tensor_unref (accumulator->leaf);
}

static void
accumulator_prefetch (const AdjGradNode *node, guint step)
{
  const AdjTensor *leaf = ((const Accumulator *) node)->leaf;

  if (step == 0)
    __builtin_prefetch (&((const Accumulator *) node)->leaf);
  else if (leaf != NULL)
    adj_tensor_prefetch (leaf, step - 1);
}

static const GradNodeClass accumulator_class = {
  .apply = accumulator_apply,
  .visit = accumulator_visit,
  .prefetch = accumulator_prefetch,
  .finalize = accumulator_finalize,
};

gboolean
grad_node_is_accumulator (const AdjGradNode *node, AdjTensor **leaf)
{
  *leaf = accumulator_get_leaf (node);
  return node->klass == &accumulator_class;
}

AdjTensor *
accumulator_get_leaf (const AdjGradNode *node)
{
  return node->klass == &accumulator_class ? ((const Accumulator *) node)->leaf : NULL;
}

void
accumulator_forget_leaf (AdjGradNode *node)
{
  ((Accumulator *) node)->leaf = NULL;
}

/* The accumulator of @leaf. It holds no reference to a leaf that is a view made with grad mode off:
 * that view holds its base, whose history may lead here, which would be a cycle. */
AdjGradNode *
accumulator_get (AdjContext *cx, AdjTensor *leaf)
{
  Variable *variable = variable_get (leaf);
  Autograd *autograd;
  Accumulator *accumulator;

  if (variable->accumulator != NULL)
    return adj_grad_node_ref (variable->accumulator);
  autograd = autograd_get (cx);
  if (autograd == NULL)
    return NULL;
  accumulator = (Accumulator *) grad_node_new (autograd, &accumulator_class, sizeof (Accumulator),
                                               g_strdup ("AccumulateGrad"));
  autograd->next_sequence--;
  accumulator->parent.sequence = G_MAXUINT64;
  accumulator->leaf = leaf;
  accumulator->owns_leaf = variable->base == NULL;
  if (accumulator->owns_leaf)
    adj_tensor_ref (leaf);
  grad_node_set_inputs (&accumulator->parent, 1);
  accumulator->parent.inputs[0] = *adj_tensor_get_meta (leaf);
  variable->accumulator = &accumulator->parent;
  return variable->accumulator;
}
