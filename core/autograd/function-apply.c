/* SPDX-License-Identifier: MIT */
/* autograd_function_apply: makes a custom function from the two functions of a
 * torch.autograd.Function in a graph. */

#include "autograd/custom-private.h"

typedef struct
{
  const AdjFunctionApply *apply; /* (unowned): while the forward runs */
  AdjFunction *backward;         /* (owned) */
  gboolean takes_context;
  AdjValue *output; /* (unowned): receives the value that the forward returns */
  AdjValue saved;   /* (owned): LIST of saved values; a NODE for an output is its index among the
                       tensors that the operation saves */
} Applied;

static void
applied_free (gpointer data)
{
  Applied *applied = data;

  adj_function_unref (applied->backward);
  adj_value_clear (&applied->saved);
  g_free (applied);
}

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  AdjTensor ***next = data;

  *(*next)++ = leaf->kind == ADJ_VALUE_TENSOR ? leaf->tensor : NULL;
  return TRUE;
}

static void
mark_outputs (AdjCustomCall *call, const AdjValue *indices, AdjTensor *const *outputs, guint n)
{
  for (guint i = 0; indices != NULL && adj_value_is_container (indices) && i < indices->n; i++)
    {
      const AdjValue *index = &indices->items[i];

      if (index->kind == ADJ_VALUE_INT && index->integer >= 0 && index->integer < n &&
          outputs[index->integer] != NULL)
        adj_custom_call_mark_non_differentiable (call, outputs[index->integer]);
    }
}

typedef struct
{
  AdjTensor *const *outputs;
  guint n_outputs;
  GPtrArray *saved; /* of AdjTensor */
} Keeping;

static gboolean
keep_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Keeping *keeping = data;

  for (guint i = 0; leaf->kind == ADJ_VALUE_TENSOR && i < keeping->n_outputs; i++)
    if (keeping->outputs[i] == leaf->tensor)
      {
        *out = ADJ_NODE (((AdjNodeId){ keeping->saved->len }));
        g_ptr_array_add (keeping->saved, leaf->tensor);
        return TRUE;
      }
  *out = adj_value_copy (leaf);
  return TRUE;
}

/* Saved values are held beside the operation, as in PyTorch, so that they are no inputs of a
 * captured backward. Only outputs are saved by the operation, since they hold it themselves. */
static void
keep (AdjCustomCall *call, const AdjValue *saved, AdjTensor *const *outputs, guint n_outputs)
{
  Applied *applied = adj_custom_call_get_data (call);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  Keeping keeping = { outputs, n_outputs, tensors };

  adj_value_map (saved, keep_leaf, &keeping, &applied->saved);
  adj_custom_call_save (call, (AdjTensor *const *) tensors->pdata, tensors->len);
}

static gboolean
run_forward (AdjCustomCall *call,
             AdjTensor *const *inputs,
             guint n_inputs,
             AdjTensor **outputs,
             guint n_outputs)
{
  Applied *applied = adj_custom_call_get_data (call);
  const AdjFunctionApply *apply = applied->apply;
  g_auto (AdjValue) given = ADJ_NONE;
  AdjTensor **next = outputs;

  if (!adj_function_call (apply->forward, adj_custom_call_get_context (call), apply->args,
                          apply->n_args, &given))
    return FALSE;
  *applied->output = adj_value_copy (&given.items[0]);
  adj_value_foreach (applied->output, append_leaf, &next);
  keep (call, &given.items[1], outputs, n_outputs);
  mark_outputs (call, apply->non_differentiable, outputs, n_outputs);
  return TRUE;
}

static gboolean
take_gradients (AdjCustomCall *call, const AdjValue *given, AdjTensor **grad_inputs, guint n_inputs)
{
  const gboolean several = given->kind == ADJ_VALUE_TUPLE || given->kind == ADJ_VALUE_LIST;
  const AdjValue *items = several ? given->items : given;
  guint n = several ? given->n : 1;
  AdjContext *cx = adj_custom_call_get_context (call);

  if (n != n_inputs)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "the backward gives %u gradients, but there are %u inputs", n, n_inputs);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (items[i].kind == ADJ_VALUE_TENSOR)
      grad_inputs[i] = adj_scope_add (cx, adj_keep (items[i].tensor));
  return TRUE;
}

static gboolean
run_backward (AdjCustomCall *call,
              AdjTensor *const *grads,
              guint n_grads,
              AdjTensor **grad_inputs,
              guint n_inputs)
{
  const Applied *applied = adj_custom_call_get_data (call);
  g_auto (AdjValue) saved = ADJ_NONE;
  g_auto (AdjValue) given = ADJ_NONE;
  g_autofree AdjValue *args = NULL;
  guint n = 0;

  if (!custom_unpack_tensors (call, &applied->saved, &saved))
    return FALSE;
  args = g_new0 (AdjValue, 1 + n_grads + saved.n);
  if (applied->takes_context)
    args[n++] = ADJ_NONE;
  for (guint i = 0; i < n_grads; i++)
    args[n++] = grads[i] != NULL ? ADJ_TENSOR (grads[i]) : ADJ_NONE;
  for (guint i = 0; i < saved.n; i++)
    args[n++] = saved.items[i];
  return adj_function_call (applied->backward, adj_custom_call_get_context (call), args, n,
                            &given) &&
         take_gradients (call, &given, grad_inputs, n_inputs);
}

static const AdjCustomClass applied_class = {
  .name = "ApplyTemplate",
  .forward = run_forward,
  .backward = run_backward,
};

gboolean
function_apply (AdjMode *mode, AdjContext *cx, const AdjFunctionApply *apply, AdjValue *result)
{
  Applied *applied = g_new0 (Applied, 1);
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, apply->n_inputs + 1);
  g_autofree AdjTensor **outputs = g_new0 (AdjTensor *, apply->n_outputs + 1);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_auto (AdjValue) output = ADJ_NONE;

  applied->apply = apply;
  applied->backward = adj_function_ref (apply->backward);
  applied->takes_context = apply->takes_context;
  applied->output = &output;
  for (guint i = 0; i < apply->n_inputs; i++)
    {
      const AdjValue *arg = &apply->args[apply->takes_context + i];

      if (arg->kind == ADJ_VALUE_TENSOR)
        inputs[i] = arg->tensor;
    }
  if (!adj_custom_apply (cx, &applied_class, applied, applied_free, inputs, apply->n_inputs,
                         outputs, apply->n_outputs))
    return FALSE;
  for (guint i = 0; i < apply->n_outputs; i++)
    if (outputs[i] != NULL)
      g_ptr_array_add (tensors, outputs[i]);
  custom_replace_tensors (&output, (AdjTensor *const *) tensors->pdata);
  *result = adj_value_steal (&output);
  return TRUE;
}
