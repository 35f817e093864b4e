/* SPDX-License-Identifier: MIT */
/* Higher-order operators: the backward is the same operator, called with functions that compute the
 * gradients of its functions (joint-body.c).  An operator without such a rule fails in the
 * backward, by name. */

#include "autograd/custom-private.h"
#include "autograd/higher-private.h"
#include "call/adj-context-internal.h"
#include "call/adj-op.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "rules/adj-operators.h"
#include "trace/adj-examples.h"

typedef struct
{
  AdjCustomClass klass;
  const AdjHigherOp *op;
  Autograd *autograd;  /* (unowned): while the forward runs */
  AdjHigherCall *call; /* (unowned): while the forward runs */
  AdjValue args;       /* (owned): TUPLE; with a NODE for each tensor, its index among them */
  AdjFunction *joints[ADJ_MAX_BODIES]; /* (owned) */
  JointShape shape;
  gboolean *has_tangent; /* (owned): by tensor result */
  guint n_outputs;
} Higher;

static void
higher_free (gpointer data)
{
  Higher *higher = data;

  adj_value_clear (&higher->args);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    g_clear_pointer (&higher->joints[i], adj_function_unref);
  g_free (higher->shape.needs);
  g_free (higher->has_tangent);
  g_free (higher);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Higher, higher_free)

/* -- arguments -- */

/* Rewrites @args for the backward, or for a forward that has one: the kind of groups as in a
 * recorded call, and another identifier. */
static void
mark_args (const AdjHigherOp *op, AdjValue *args, const char *pass)
{
  AdjValue *identifier = &args->items[op->identifier];

  for (guint i = 0; i < op->n_groups; i++)
    args->items[op->groups[i]].kind = op->groups_kind;
  if (op->identifier != 0)
    {
      g_autofree char *name = g_strdup_printf (
          "___%s_%s", pass, identifier->kind == ADJ_VALUE_STRING ? identifier->text : "None");

      adj_value_clear (identifier);
      *identifier = adj_value_new_string (name);
    }
}

/* -- the forward -- */

static gboolean
run_forward (AdjCustomCall *custom,
             AdjTensor *const *inputs,
             guint n_inputs,
             AdjTensor **outputs,
             guint n_outputs)
{
  Higher *higher = adj_custom_call_get_data (custom);
  AdjHigherCall *call = higher->call;
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = call->n_args, .items = (AdjValue *) call->args };
  g_auto (AdjValue) marked = adj_value_copy (&args);
  AdjHigherCall below = *call;
  g_autoptr (GPtrArray) tensors = NULL;
  gboolean done;

  mark_args (higher->op, &marked, "forward");
  below.args = marked.items;
  adj_custom_call_save (custom, inputs, n_inputs);
  done = adj_mode_call_higher_below (&higher->autograd->mode, &below);
  call->result = below.result;
  tensors = custom_list_tensors (&call->result, 1);
  if (done && tensors->len != n_outputs)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "gives %u tensors where %u are expected",
                            tensors->len, n_outputs);
  for (guint i = 0; i < n_outputs && done; i++)
    outputs[i] = tensors->pdata[i];
  return done;
}

/* -- the backward -- */

static gboolean
puts_tangents_first (const AdjHigherOp *op, const AdjContext *cx)
{
  return op->tangents_first &&
         (op->tangents_last_in == NULL ||
          g_strcmp0 (op->tangents_last_in, adj_context_get_release (cx)) != 0);
}

/* Puts the tangents into the first group of @args. */
static gboolean
add_tangents (const Higher *higher, AdjContext *cx, AdjTensor *const *grads, AdjValue *args)
{
  AdjValue *group = &args->items[higher->op->groups[0]];
  g_autofree AdjValue *items = g_new0 (AdjValue, group->n + higher->shape.n_tangents + 1);
  guint n = 0, first = puts_tangents_first (higher->op, cx) ? 0 : group->n;
  AdjValue all;

  for (guint i = 0; i < higher->n_outputs; i++)
    {
      AdjTensor *grad = grads[i];

      if (!higher->has_tangent[i])
        continue;
      if (higher->op->tangents_contiguous)
        grad = ADJ_APPLY (cx, ADJ_OP_contiguous, ADJ_TENSOR (grad));
      if (grad == NULL)
        return FALSE;
      items[first + n++] = ADJ_TENSOR (grad);
    }
  for (guint i = 0; i < group->n; i++)
    items[i < first ? i : i + n] = group->items[i];
  all = (AdjValue){ .kind = group->kind, .n = group->n + n, .items = items };
  all = adj_value_copy (&all);
  adj_value_clear (group);
  *group = all;
  return TRUE;
}

/* Distributes the gradients in @result, which are in the order of the grouped arguments. */
static void
hand_out (const Higher *higher, AdjContext *cx, const AdjValue *result, AdjTensor **grad_inputs)
{
  guint next = 0;

  for (guint i = 0; i < higher->op->n_groups; i++)
    {
      const AdjValue *group = &higher->args.items[higher->op->groups[i]];

      for (guint k = 0; k < group->n; k++, next++)
        if (group->items[k].kind == ADJ_VALUE_NODE && next < result->n &&
            result->items[next].kind == ADJ_VALUE_TENSOR)
          grad_inputs[group->items[k].node.index] =
              adj_scope_add (cx, adj_keep (result->items[next].tensor));
    }
}

static gboolean
run_backward (AdjCustomCall *custom,
              AdjTensor *const *grads,
              guint n_grads,
              AdjTensor **grad_inputs,
              guint n_inputs)
{
  const Higher *higher = adj_custom_call_get_data (custom);
  AdjContext *cx = adj_custom_call_get_context (custom);
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) result = ADJ_NONE;

  if (!custom_unpack_tensors (custom, &higher->args, &args))
    return FALSE;
  mark_args (higher->op, &args, "backward");
  if (!add_tangents (higher, cx, grads, &args) ||
      !adj_call_higher (cx, higher->op, args.items, args.n, higher->joints, &result))
    return FALSE;
  hand_out (higher, cx, &result, grad_inputs);
  return TRUE;
}

/* -- the gradients of its functions -- */

/* (transfer full) */
static AdjValue
describe (const AdjValue *leaf)
{
  AdjTensorMeta *meta;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    return adj_value_copy (leaf);
  meta = g_memdup2 (adj_tensor_get_meta (leaf->tensor), sizeof *meta);
  meta->storage = -1;
  meta->requires_grad = FALSE;
  return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
}

static gboolean
append_output (const AdjValue *leaf, gpointer data)
{
  GArray *outputs = data;

  g_array_append_val (outputs, *leaf);
  return leaf->kind == ADJ_VALUE_TENSOR || leaf->kind == ADJ_VALUE_NONE;
}

/* Metadata of the functions before they are differentiated. */
typedef struct
{
  GArray *inputs;   /* (owned): for one call of a function */
  GArray *tangents; /* (owned): one for each floating output */
} Examples;

static void
examples_clear (Examples *examples)
{
  g_clear_pointer (&examples->inputs, g_array_unref);
  g_clear_pointer (&examples->tangents, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Examples, examples_clear)

/* Calls the operator and its first function with fake tensors in @cx, so that arguments that do not
 * fit are reported. */
static gboolean
probe (Higher *higher, AdjContext *cx, const AdjHigherCall *call, Examples *examples)
{
  g_autoptr (AdjExamples) importer =
      adj_examples_new (cx, adj_context_get_symbols (call->cx), FALSE);
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = call->n_args, .items = (AdjValue *) call->args };
  g_auto (AdjValue) own = ADJ_NONE;
  g_auto (AdjValue) result = ADJ_NONE;
  g_auto (AdjValue) out = ADJ_NONE;
  g_autoptr (GArray) inputs = NULL;
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GPtrArray) tensors = NULL;
  AdjHigherCall alone = *call;

  if (!adj_examples_import (importer, &args, &own) ||
      !adj_call_higher (cx, call->op, own.items, own.n, call->bodies, &result))
    return FALSE;
  alone.cx = cx;
  alone.args = own.items;
  inputs = adj_higher_list_inputs (&alone);
  if (inputs == NULL ||
      !adj_higher_call_body (&alone, 0, (gconstpointer) inputs->data, inputs->len, &out))
    return FALSE;
  if (!adj_value_foreach (&out, append_output, leaves))
    return adj_higher_fail (
        &alone, ADJ_ERROR_UNSUPPORTED,
        "%s gives %s: where there are gradients it must give tensors or None",
        call->op->body_names[0],
        adj_value_kind_name (g_array_index (leaves, AdjValue, leaves->len - 1).kind));
  for (guint i = 0; i < inputs->len; i++)
    {
      AdjValue example = describe (&g_array_index (inputs, AdjValue, i));

      g_array_append_val (examples->inputs, example);
    }
  for (guint i = 0; i < leaves->len; i++)
    if (joint_has_tangent (&g_array_index (leaves, AdjValue, i)))
      {
        AdjValue example = describe (&g_array_index (leaves, AdjValue, i));

        g_array_append_val (examples->tangents, example);
      }
  tensors = custom_list_tensors (&result, 1);
  higher->n_outputs = tensors->len;
  higher->has_tangent = g_new0 (gboolean, tensors->len + 1);
  for (guint i = 0; i < tensors->len; i++)
    higher->has_tangent[i] = joint_has_tangent (&ADJ_TENSOR (tensors->pdata[i]));
  return TRUE;
}

static gboolean
find_examples (Higher *higher, const AdjHigherCall *call, Examples *examples)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (adj_context_get_symbols (call->cx));
  g_autoptr (GError) error = NULL;

  examples->inputs = adj_value_array_new ();
  examples->tangents = adj_value_array_new ();
  adj_context_set_unbacked (cx, adj_context_get_unbacked (call->cx));
  adj_context_push_mode (cx, adj_fake_mode_new ());
  probe (higher, cx, call, examples);
  if (adj_context_take_error (cx, &error))
    adj_context_fail (call->cx, error->domain, error->code, "%s", error->message);
  return error == NULL;
}

/* Which inputs of the functions need a gradient. */
static void
find_needs (Higher *higher, const AdjHigherCall *call, guint n_inputs)
{
  JointShape *shape = &higher->shape;
  guint next = 0;

  shape->n_inputs = n_inputs;
  shape->needs = g_new0 (gboolean, n_inputs + 1);
  for (guint i = 0; i < call->op->n_groups; i++)
    {
      const AdjValue *group = &call->args[call->op->groups[i]];

      for (guint k = 0; k < group->n; k++, next++)
        shape->needs[next] = group->items[k].kind == ADJ_VALUE_TENSOR &&
                             adj_tensor_get_requires_grad (group->items[k].tensor);
    }
}

/* Finds the inputs whose gradient is defined in some of the graphs and None in others. */
static gboolean
find_uneven (const JointShape *shape, AdjGraph *const *graphs, guint n, gboolean *uneven)
{
  gboolean found = FALSE;

  for (guint i = 0; i < shape->n_inputs; i++)
    {
      guint n_none = 0;

      for (guint k = 0; k < n; k++)
        {
          const AdjNode *output =
              adj_graph_get_node (graphs[k], adj_graph_get_output (graphs[k]).index);

          n_none += output->args.items[0].items[i].kind == ADJ_VALUE_NONE;
        }
      uneven[i] = n_none > 0 && n_none < n;
      found |= uneven[i];
    }
  return found;
}

/* Traces the gradients of each branch; a gradient that only some branches define becomes zeros in
 * the others (PyTorch 2.6 loses it). */
static gboolean
trace_joints (Higher *higher,
              const AdjHigherCall *call,
              const AdjValue *examples,
              AdjGraph **graphs)
{
  g_autofree gboolean *uneven = g_new0 (gboolean, higher->shape.n_inputs + 1);

  for (guint i = 0; i < call->op->n_bodies; i++)
    {
      graphs[i] = joint_body_trace (call->cx, call->bodies[i], &higher->shape, NULL, examples);
      if (graphs[i] == NULL)
        return FALSE;
    }
  if (!find_uneven (&higher->shape, graphs, call->op->n_bodies, uneven))
    return TRUE;
  for (guint i = 0; i < call->op->n_bodies; i++)
    {
      adj_graph_unref (graphs[i]);
      graphs[i] = joint_body_trace (call->cx, call->bodies[i], &higher->shape, uneven, examples);
      if (graphs[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
make_joints (Higher *higher, const AdjHigherCall *call)
{
  g_auto (Examples) examples = { NULL };
  JointShape *shape = &higher->shape;
  AdjGraph *graphs[ADJ_MAX_BODIES] = { NULL };
  guint n_in_group = call->args[call->op->groups[0]].n;
  gboolean done;

  if (!find_examples (higher, call, &examples))
    return FALSE;
  find_needs (higher, call, examples.inputs->len);
  shape->n_tangents = examples.tangents->len;
  shape->first_tangent = puts_tangents_first (call->op, call->cx) ? 0 : n_in_group;
  shape->gives_outputs = call->op->gives_outputs;
  for (guint i = 0; i < shape->n_tangents; i++)
    {
      AdjValue tangent = adj_value_copy (&g_array_index (examples.tangents, AdjValue, i));

      g_array_insert_val (examples.inputs, shape->first_tangent + i, tangent);
    }
  done = trace_joints (higher, call, (gconstpointer) examples.inputs->data, graphs);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    if (graphs[i] != NULL)
      {
        higher->joints[i] = adj_graph_function_new (graphs[i]);
        adj_graph_unref (graphs[i]);
      }
  return done;
}

/* -- recording -- */

static gboolean
record (Autograd *autograd, AdjHigherCall *call, const GPtrArray *inputs)
{
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = call->n_args, .items = (AdjValue *) call->args };
  g_autoptr (Higher) higher = g_new0 (Higher, 1);
  g_autofree AdjTensor **outputs = NULL;
  Higher *data = higher;

  higher->klass =
      (AdjCustomClass){ .name = call->op->grad, .forward = run_forward, .backward = run_backward };
  higher->op = call->op;
  higher->autograd = autograd;
  higher->call = call;
  higher->args = custom_number_tensors (&args);
  if (!make_joints (higher, call))
    return FALSE;
  outputs = g_new0 (AdjTensor *, higher->n_outputs + 1);
  if (!adj_custom_apply (call->cx, &data->klass, g_steal_pointer (&higher), higher_free,
                         (AdjTensor *const *) inputs->pdata, inputs->len, outputs, data->n_outputs))
    return FALSE;
  custom_replace_tensors (&call->result, outputs);
  return TRUE;
}

static gboolean
refuse_backward (AdjContext *cx,
                 AdjTensor *const *grads,
                 guint n_grads,
                 AdjTensor **grad_inputs,
                 guint n_inputs,
                 gpointer data)
{
  const AdjHigherOp *op = data;

  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "autograd is not implemented for %s",
                    op->target);
  return FALSE;
}

/* Records a node whose backward fails: the operator has no gradient. */
static gboolean
record_without (Autograd *autograd, AdjHigherCall *call, const GPtrArray *inputs)
{
  const AdjCustomGrad refusal = { .name = "DelayedError",
                                  .backward = refuse_backward,
                                  .data = (gpointer) call->op };
  g_autoptr (GPtrArray) outputs = NULL;

  if (!adj_mode_call_higher_below (&autograd->mode, call))
    return FALSE;
  outputs = custom_list_tensors (&call->result, 1);
  for (guint i = outputs->len; i-- > 0;)
    if (!joint_has_tangent (&ADJ_TENSOR (outputs->pdata[i])))
      g_ptr_array_remove_index (outputs, i);
  return adj_autograd_connect (call->cx, &refusal, (AdjTensor *const *) inputs->pdata, inputs->len,
                               (AdjTensor *const *) outputs->pdata, outputs->len);
}

gboolean
higher_record (Autograd *autograd, AdjHigherCall *call)
{
  g_autoptr (GPtrArray) inputs = custom_list_tensors (call->args, call->n_args);

  return call->op->grad != NULL ? record (autograd, call, inputs)
                                : record_without (autograd, call, inputs);
}
