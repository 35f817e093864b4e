/* SPDX-License-Identifier: MIT */
/* The modes of the metadata pass and of tracing, and tensors wrapped for functionalization,
 * composite ones by their parts. */

#include "aot/aot-private.h"

#include "autograd/adj-autograd.h"
#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "tensor/adj-symbols-internal.h"
#include "trace/adj-composite-internal.h"
#include "trace/adj-composite.h"
#include "trace/adj-functional.h"

/* Composites with kernels that PyTorch's traces decompose. */
static const AdjDecompositions traced = { "traced", "Composites with kernels", ADJ_TABLE_TRACED };

void
aot_push_modes (AdjContext *cx, const AdjAotOptions *options, const AdjAotObserver *observer)
{
  AdjMode *functional = adj_functional_mode_new ();

  if (observer != NULL && observer->tape != NULL)
    {
      observer->tape (NULL, observer->data);
      adj_functional_mode_set_tape (functional, observer->tape, observer->data);
    }
  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (options->autocast[i].on)
      adj_context_set_autocast (cx, i, options->autocast[i]);
  adj_context_push_mode (cx, adj_decompose_mode_new (&traced));
  adj_context_push_mode (cx, functional);
  adj_context_push_mode (cx, adj_composite_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  if (options->detaches == ADJ_DETACHES_2_6)
    adj_functional_mode_set_two_detaches (functional);
  adj_autograd_set_flags (
      cx, (options->detaches != ADJ_DETACHES_ONCE ? ADJ_AUTOGRAD_DETACH_ON_UNPACK : 0) |
              (options->copy_written ? ADJ_AUTOGRAD_COPY_WRITTEN : 0) |
              (options->defer_hooks ? ADJ_AUTOGRAD_DEFER_HOOKS : 0));
  adj_context_set_release (cx, options->release);
  adj_context_set_unbacked (cx, options->like != NULL &&
                                    adj_symbols_have_data (adj_graph_get_symbols (options->like)));
  if (adj_context_get_symbols (cx) != NULL)
    adj_symbols_set_by_sign (adj_context_get_symbols (cx), options->maxima_by_sign);
}

void
aot_pop_modes (AdjContext *cx, const AdjAotOptions *options)
{
  for (guint i = 0; i < 4; i++)
    adj_context_pop_mode (cx);
}

/* -- what the function sees -- */

static gboolean
input_backward (AdjContext *cx,
                AdjTensor *const *grads,
                guint n_grads,
                AdjTensor **grad_inputs,
                guint n_inputs,
                gpointer data)
{
  return TRUE;
}

static gboolean
pass_gradient (AdjContext *cx,
               AdjTensor *const *grads,
               guint n_grads,
               AdjTensor **grad_inputs,
               guint n_inputs,
               gpointer data)
{
  grad_inputs[0] = grads[0];
  return TRUE;
}

gboolean
aot_connect_same (AdjContext *cx, const char *name, AdjTensor *of, AdjTensor *same)
{
  const AdjCustomGrad identity = { .name = name, .backward = pass_gradient };

  return adj_autograd_connect (cx, &identity, &of, 1, &same, 1);
}

/* Makes @tensor require a gradient and, when it is no leaf, the result of an operation. */
static gboolean
give_history (AdjContext *cx, AdjTensor *tensor, gboolean is_leaf)
{
  static const AdjCustomGrad input = { .name = "Input", .backward = input_backward };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *seed;

  if (is_leaf)
    return adj_tensor_set_requires_grad (cx, tensor, TRUE);
  seed = adj_scope_add (cx, adj_tensor_new_empty (&meta, adj_context_get_symbols (cx), TRUE));
  return adj_tensor_set_requires_grad (cx, seed, TRUE) &&
         adj_autograd_connect (cx, &input, &seed, 1, &tensor, 1);
}

static AdjTensor *
wrap_innermost (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  return adj_functional_wrap (cx, tensor);
}

static gboolean
wrap_value (AdjContext *cx, const AdjValue *value, AdjValue *out)
{
  AdjTensor *tensor;

  *out = ADJ_NONE;
  if (value->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (value);
      return TRUE;
    }
  tensor = adj_composite_get_class (value->tensor) != NULL
               ? adj_composite_map (cx, value->tensor, wrap_innermost, NULL)
               : adj_functional_wrap (cx, value->tensor);
  if (tensor == NULL)
    return FALSE;
  *out = ADJ_TENSOR (adj_keep (tensor));
  return TRUE;
}

gboolean
aot_wrap_arguments (AdjContext *cx,
                    const AotArgument *arguments,
                    guint n,
                    const AdjValue *values,
                    AdjValue *wrapped)
{
  g_autoptr (GHashTable) objects = g_hash_table_new (NULL, NULL); /* tensor → its wrapper */

  for (guint i = 0; i < n; i++)
    {
      gpointer key = arguments != NULL ? GUINT_TO_POINTER (arguments[i].object) : NULL;
      gboolean is_tensor = arguments != NULL && values[i].kind == ADJ_VALUE_TENSOR;
      const AdjValue *known = is_tensor ? g_hash_table_lookup (objects, key) : NULL;

      wrapped[i] = ADJ_NONE;
      if (known != NULL)
        {
          wrapped[i] = adj_value_copy (known);
          continue;
        }
      if (is_tensor)
        g_hash_table_insert (objects, key, &wrapped[i]);
      if (arguments != NULL && arguments[i].is_freed)
        adj_storage_resize (adj_tensor_get_storage (values[i].tensor), 0);
      if (!wrap_value (cx, &values[i], &wrapped[i]) ||
          (arguments != NULL && values[i].kind == ADJ_VALUE_TENSOR &&
           aot_argument_requires_grad (&arguments[i]) &&
           !give_history (cx, wrapped[i].tensor, arguments[i].is_leaf)))
        return FALSE;
    }
  return TRUE;
}

/* -- what stands behind it -- */

static AdjTensor *
get_innermost (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  return adj_functional_get_value (cx, tensor);
}

AdjTensor *
aot_get_plain (AdjContext *cx, AdjTensor *tensor)
{
  return adj_composite_get_class (tensor) != NULL
             ? adj_composite_map (cx, tensor, get_innermost, NULL)
             : adj_functional_get_value (cx, tensor);
}

static gboolean
unwrap_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *tensor;

  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  tensor = aot_get_plain (data, leaf->tensor);
  if (tensor == NULL)
    return FALSE;
  adj_value_clear (out);
  *out = ADJ_TENSOR (adj_tensor_ref (tensor));
  return TRUE;
}

gboolean
aot_unwrap (AdjContext *cx, const AdjValue *value, AdjValue *out)
{
  return adj_value_map (value, unwrap_leaf, cx, out) && !adj_context_has_error (cx);
}

/* Merges the state of a part into that of the composite; all parts are changed alike. */
static void
add_functional_state (const AdjTensor *part, AdjFunctionalState *observed)
{
  AdjFunctionalState own;

  aot_get_functional_state (part, &own);
  observed->mutated |= own.mutated;
  observed->n_writes += own.n_writes;
  observed->n_no_grad += own.n_no_grad;
  observed->n_hidden += own.n_hidden;
  observed->metadata_changed |= own.metadata_changed;
  observed->n_turns += own.n_turns;
  observed->turned_with_grad |= own.turned_with_grad;
  observed->storage_changed |= own.storage_changed;
  observed->is_multi_output |= own.is_multi_output;
  observed->storage_resized |= own.storage_resized;
  observed->bytes_before += own.bytes_before;
  observed->bytes_after += own.bytes_after;
  if (observed->chain == NULL)
    observed->chain = own.chain;
}

void
aot_get_functional_state (const AdjTensor *tensor, AdjFunctionalState *observed)
{
  const AdjCompositeClass *klass = adj_composite_get_class (tensor);

  *observed = (AdjFunctionalState){ 0 };
  if (klass == NULL && !adj_functional_get_state (tensor, observed))
    *observed = (AdjFunctionalState){ 0 };
  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    add_functional_state (adj_composite_get_inner (tensor, i), observed);
}

AdjViewChain *
aot_get_recipe (const AdjTensor *tensor)
{
  AdjFunctionalState observed;

  aot_get_functional_state (tensor, &observed);
  return adj_view_chain_ref (observed.chain);
}
