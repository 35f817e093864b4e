/* SPDX-License-Identifier: MIT */
/* Leaf functions: the forward records the operators that its function calls; the backward, itself a
 * leaf function, differentiates that record. */

#include "autograd/autograd-private.h"
#include "autograd/leaf-private.h"
#include "call/adj-context-internal.h"
#include "interpreter/adj-effect-ops.h"
#include "rules/adj-gradient.h"
#include "trace/adj-composite.h"

/* One call: the record of its forward, kept until its backward. */
typedef struct
{
  grefcount refs;
  AdjValue real;     /* (owned): the function */
  guint n_inputs;    /* flat arguments */
  AdjTensorMeta *of; /* (owned): by input, metadata of its gradient */
  gboolean *needs;   /* (owned): by input, whether it gets a gradient */
  GPtrArray *inputs; /* (nullable): of AdjTensor or %NULL, owned */
  AdjValue outputs;  /* (owned): TUPLE; NONE: no record */
} Record;

static Record *
record_ref (Record *record)
{
  g_ref_count_inc (&record->refs);
  return record;
}

static void
record_unref (gpointer data)
{
  Record *record = data;

  if (!g_ref_count_dec (&record->refs))
    return;
  adj_value_clear (&record->real);
  adj_value_clear (&record->outputs);
  g_clear_pointer (&record->inputs, g_ptr_array_unref);
  g_free (record->of);
  g_free (record->needs);
  g_free (record);
}

static Record *
record_new (const AdjEffectCall *call)
{
  const gboolean enabled = adj_context_get_grad_enabled (call->cx);
  const AdjValue *args = call->args + ADJ_LEAF_N_BEFORE;
  Record *record = g_new0 (Record, 1);

  g_ref_count_init (&record->refs);
  record->real = adj_value_copy (&call->args[ADJ_LEAF_REAL]);
  record->n_inputs = call->n_args - ADJ_LEAF_N_BEFORE;
  record->of = g_new0 (AdjTensorMeta, record->n_inputs + 1);
  record->needs = g_new0 (gboolean, record->n_inputs + 1);
  for (guint i = 0; i < record->n_inputs; i++)
    {
      if (args[i].kind != ADJ_VALUE_TENSOR)
        continue;
      record->of[i] = *adj_tensor_get_meta (args[i].tensor);
      record->needs[i] = enabled && adj_tensor_get_requires_grad (args[i].tensor);
    }
  return record;
}

/* -- recording what the function does -- */

/* The function belongs to the user's program: its calls are recorded with grad mode on, also if the
 * context only runs a graph and has no autograd mode. */
typedef struct
{
  AdjMode *entry;
  gboolean enabled;
  gboolean pushed;
} Recording;

static Recording
begin_recording (AdjContext *cx)
{
  Recording recording = { .pushed = autograd_find (cx) == NULL };

  if (recording.pushed)
    {
      adj_context_push_mode (cx, adj_composite_mode_new ());
      adj_context_push_mode (cx, adj_autograd_mode_new ());
    }
  recording.entry = adj_context_set_entry (cx, NULL);
  recording.enabled = adj_context_set_grad_enabled (cx, TRUE);
  return recording;
}

static void
end_recording (AdjContext *cx, const Recording *recording)
{
  adj_context_set_grad_enabled (cx, recording->enabled);
  adj_context_set_entry (cx, recording->entry);
  if (!recording->pushed)
    return;
  adj_context_pop_mode (cx);
  adj_context_pop_mode (cx);
}

/* A tensor on the same storage without history. */
static gboolean
detach_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR
             ? ADJ_TENSOR (adj_tensor_new (adj_tensor_get_meta (leaf->tensor),
                                           adj_tensor_get_storage (leaf->tensor)))
             : adj_value_copy (leaf);
  return TRUE;
}

static void
unref_tensor (gpointer tensor)
{
  if (tensor != NULL)
    adj_tensor_unref (tensor);
}

/* The arguments as fresh leaves. (transfer full) */
static AdjValue
make_leaves (AdjContext *cx, Record *record, const AdjValue *args)
{
  const AdjValue given = { .kind = ADJ_VALUE_TUPLE,
                           .n = record->n_inputs,
                           .items = (AdjValue *) args };
  AdjValue leaves;

  adj_value_map (&given, detach_leaf, NULL, &leaves);
  g_clear_pointer (&record->inputs, g_ptr_array_unref);
  record->inputs = g_ptr_array_new_with_free_func (unref_tensor);
  for (guint i = 0; i < record->n_inputs; i++)
    {
      AdjTensor *tensor = record->needs[i] ? leaves.items[i].tensor : NULL;

      g_ptr_array_add (record->inputs, tensor != NULL ? adj_tensor_ref (tensor) : NULL);
      if (tensor != NULL)
        adj_tensor_set_requires_grad (cx, tensor, TRUE);
    }
  return leaves;
}

typedef struct
{
  AdjOpaque parent;
  Record *record; /* (owned) */
} Half;

static void
half_finalize (AdjOpaque *object)
{
  record_unref (((Half *) object)->record);
}

static AdjOpaque *
half_new (const AdjOpaqueClass *klass, Record *record)
{
  Half *half = (Half *) adj_opaque_new (klass, sizeof *half);

  half->record = record_ref (record);
  return &half->parent;
}

static gboolean
forward_call (AdjOpaque *object,
              AdjContext *cx,
              const AdjValue *args,
              guint n_args,
              const AdjValue *kwargs,
              AdjValue *out)
{
  Record *record = ((Half *) object)->record;
  const Recording recording = begin_recording (cx);
  g_auto (AdjValue) leaves = make_leaves (cx, record, args);
  AdjValue given = ADJ_NONE;
  gboolean done = adj_leaf_function_call (cx, &record->real, leaves.items, leaves.n, &given);

  end_recording (cx, &recording);
  adj_value_clear (&record->outputs);
  if (!done)
    return FALSE;
  record->outputs = given;
  return adj_value_map (&record->outputs, detach_leaf, NULL, out);
}

static const AdjOpaqueClass forward_class = {
  .name = "forward of a leaf function",
  .attribute = "_opaque_obj",
  .call = forward_call,
  .finalize = half_finalize,
};

/* -- backward -- */

static gboolean
go_back (AdjContext *cx, const Record *record, const AdjValue *grads, guint n, AdjTensor **found)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) root_grads = g_ptr_array_new ();
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  AdjGradRoots request;

  for (guint i = 0; i < MIN (n, record->outputs.n); i++)
    {
      const AdjValue *output = &record->outputs.items[i];

      if (output->kind != ADJ_VALUE_TENSOR || !adj_tensor_get_requires_grad (output->tensor) ||
          grads[i].kind != ADJ_VALUE_TENSOR)
        continue;
      g_ptr_array_add (roots, output->tensor);
      g_ptr_array_add (root_grads, grads[i].tensor);
    }
  for (guint i = 0; i < record->n_inputs; i++)
    if (record->needs[i])
      g_ptr_array_add (inputs, g_ptr_array_index (record->inputs, i));
  request = (AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                            (AdjTensor *const *) root_grads->pdata, roots->len };
  return roots->len == 0 || inputs->len == 0 ||
         adj_grad (cx, &request, (AdjTensor *const *) inputs->pdata, inputs->len,
                   ADJ_BACKWARD_ALLOW_UNUSED, found);
}

/* (transfer full): a gradient, or None, for each input. */
static AdjValue
spread_gradients (const Record *record, AdjTensor *const *found)
{
  AdjValue all = { .kind = ADJ_VALUE_TUPLE, .n = record->n_inputs };
  guint next = 0;

  all.items = g_new0 (AdjValue, record->n_inputs + 1);
  for (guint i = 0; i < record->n_inputs; i++)
    if (record->needs[i] && found[next++] != NULL)
      all.items[i] = ADJ_TENSOR (adj_keep (found[next - 1]));
  return all;
}

static gboolean
backward_call (AdjOpaque *object,
               AdjContext *cx,
               const AdjValue *args,
               guint n_args,
               const AdjValue *kwargs,
               AdjValue *out)
{
  Record *record = ((Half *) object)->record;
  g_autofree AdjTensor **found = g_new0 (AdjTensor *, record->n_inputs + 1);
  Recording recording;
  gboolean done;

  if (record->inputs == NULL || record->outputs.kind == ADJ_VALUE_NONE)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "invoke_leaf_function backward expects inputs/outputs to be set in "
                        "forward.");
      return FALSE;
    }
  recording = begin_recording (cx);
  adj_context_set_grad_enabled (cx, FALSE);
  done = go_back (cx, record, args, n_args, found);
  if (done)
    *out = spread_gradients (record, found);
  end_recording (cx, &recording);
  g_clear_pointer (&record->inputs, g_ptr_array_unref);
  adj_value_clear (&record->outputs);
  return done;
}

static const AdjOpaqueClass backward_class = {
  .name = "backward of a leaf function",
  .attribute = "_opaque_obj",
  .call = backward_call,
  .finalize = half_finalize,
};

/* Gradients without elements, for fake tensors. */
static gboolean
fake_backward_call (AdjOpaque *object,
                    AdjContext *cx,
                    const AdjValue *args,
                    guint n_args,
                    const AdjValue *kwargs,
                    AdjValue *out)
{
  const Record *record = ((Half *) object)->record;
  AdjSymbols *symbols = adj_context_get_symbols (cx);

  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = record->n_inputs };
  out->items = g_new0 (AdjValue, record->n_inputs + 1);
  for (guint i = 0; i < record->n_inputs; i++)
    if (record->needs[i])
      out->items[i] = ADJ_TENSOR (adj_tensor_new_empty (&record->of[i], symbols, TRUE));
  return TRUE;
}

static const AdjOpaqueClass fake_backward_class = {
  .name = "looks of the gradients of a leaf function",
  .attribute = "_opaque_obj",
  .call = fake_backward_call,
  .finalize = half_finalize,
};

/* -- the mode -- */

typedef struct
{
  Record *record; /* (owned) */
  const AdjEffectOp *op;
  GArray *outputs; /* of AdjTensorMeta: of the tensor results */
  guint n_results;
  GArray *places; /* of guint: indices of those results */
} Node;

static void
node_free (gpointer data)
{
  Node *node = data;

  record_unref (node->record);
  g_array_unref (node->outputs);
  g_array_unref (node->places);
  g_free (node);
}

static AdjValue
give_text (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = text };
}

/* The arguments of the function that require a gradient, as text: "0,2". (transfer full) */
static char *
list_needs (const Record *record)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < record->n_inputs; i++)
    if (record->needs[i])
      g_string_append_printf (text, "%s%u", text->len > 0 ? "," : "", i);
  return g_string_free (text, FALSE);
}

/* Calls the leaf function below without grad mode, with @real in place of its real function; the
 * result goes to @call. */
static gboolean
call_leaf_below (AdjEffectCall *call, const Record *record, AdjOpaque *real, AdjMode *mode)
{
  g_autofree AdjValue *args = g_memdup2 (call->args, call->n_args * sizeof *args);
  g_autofree char *needs = list_needs (record);
  AdjValue pair[2] = { give_text ("requires_grad_indices"), give_text (needs) };
  const AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  AdjEffectCall below = *call;
  gboolean enabled = adj_context_set_grad_enabled (call->cx, FALSE), done;

  args[ADJ_LEAF_REAL] = ADJ_OPAQUE (real);
  below.args = args;
  below.kwargs = &kwargs;
  done = adj_mode_call_effect_below (mode, &below);
  call->result = below.result;
  adj_context_set_grad_enabled (call->cx, enabled);
  return done;
}

static gboolean
run_backward (AdjContext *cx,
              AdjTensor *const *grads,
              guint n_grads,
              AdjTensor **grad_inputs,
              guint n_inputs,
              gpointer data)
{
  const Node *node = data;
  g_autoptr (AdjOpaque) real = half_new (&backward_class, node->record);
  g_autoptr (AdjOpaque) fake = half_new (&fake_backward_class, node->record);
  g_autoptr (AdjOpaque) spec = adj_tree_spec_new (node->n_results);
  g_autofree AdjValue *args = g_new0 (AdjValue, ADJ_LEAF_N_BEFORE + node->n_results);
  g_auto (AdjValue) result = ADJ_NONE;
  guint next = 0;

  args[ADJ_LEAF_REAL] = ADJ_OPAQUE (real);
  args[ADJ_LEAF_FAKE] = ADJ_OPAQUE (fake);
  args[ADJ_LEAF_SPEC] = ADJ_OPAQUE (spec);
  args[ADJ_LEAF_WRITTEN] = give_text ("");
  for (guint i = 0; i < n_grads; i++)
    {
      AdjTensor *grad = grads[i];

      if (grad == NULL)
        grad = adj_gradient_make_zeros (cx, &g_array_index (node->outputs, AdjTensorMeta, i));
      if (grad != NULL)
        args[ADJ_LEAF_N_BEFORE + g_array_index (node->places, guint, i)] = ADJ_TENSOR (grad);
    }
  if (adj_context_has_error (cx) ||
      !adj_call_effect (cx, node->op, args, ADJ_LEAF_N_BEFORE + node->n_results, NULL, &result))
    return FALSE;
  for (guint i = 0; i < node->record->n_inputs && i < result.n; i++)
    if (node->record->of[i].dtype != ADJ_DTYPE_NONE)
      {
        if (next < n_inputs && result.items[i].kind == ADJ_VALUE_TENSOR)
          grad_inputs[next] = adj_scope_add (cx, adj_tensor_ref (result.items[i].tensor));
        next++;
      }
  return TRUE;
}

static gboolean
connect (AdjEffectCall *call, Record *record)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  Node *node = g_new0 (Node, 1);
  const AdjCustomGrad custom = { "InvokeLeafFunctionAutogradOp", run_backward, node, node_free };

  node->record = record_ref (record);
  node->op = call->op;
  node->n_results = call->result.n;
  node->outputs = g_array_new (FALSE, FALSE, sizeof (AdjTensorMeta));
  node->places = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = ADJ_LEAF_N_BEFORE; i < call->n_args; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      g_ptr_array_add (inputs, call->args[i].tensor);
  for (guint i = 0; i < call->result.n; i++)
    if (call->result.items[i].kind == ADJ_VALUE_TENSOR)
      {
        AdjTensor *tensor = call->result.items[i].tensor;

        g_ptr_array_add (outputs, tensor);
        g_array_append_val (node->places, i);
        g_array_append_vals (node->outputs, adj_tensor_get_meta (tensor), 1);
      }
  return adj_autograd_connect (call->cx, &custom, (AdjTensor *const *) inputs->pdata, inputs->len,
                               (AdjTensor *const *) outputs->pdata, outputs->len);
}

gboolean
leaf_function_call (AdjMode *mode, AdjEffectCall *call)
{
  g_autoptr (AdjOpaque) real = NULL;
  Record *record;
  gboolean done, any = FALSE;

  if (call->n_args < ADJ_LEAF_N_BEFORE)
    return adj_mode_call_effect_below (mode, call);
  record = record_new (call);
  for (guint i = 0; i < record->n_inputs; i++)
    any |= record->needs[i];
  real = half_new (&forward_class, record);
  done = call_leaf_below (call, record, real, mode) && (!any || connect (call, record));
  record_unref (record);
  return done;
}
