/* SPDX-License-Identifier: MIT */
/* The autograd mode: for each call that requires a gradient it records a node with the operator's
 * gradient rule. */

#include "autograd/autograd-private.h"
#include "autograd/custom-private.h"
#include "autograd/higher-private.h"
#include "autograd/leaf-private.h"
#include "autograd/transform-private.h"
#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op-internal.h"
#include "call/adj-op.h"
#include "call/adj-trace-wrapped.h"
#include "ops/adj-op-id.h"
#include "rules/adj-operators.h"
#include "trace/adj-composite.h"

/* -- recording -- */

static gboolean
pass_on (Autograd *autograd, AdjOpCall *call)
{
  return autograd->selective != NULL ? selective_call (autograd->selective, &autograd->mode, call)
                                     : adj_mode_call_below (&autograd->mode, call);
}

static gboolean
is_no_conjugate (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR || !adj_tensor_get_meta (leaf->tensor)->conjugate;
}

/* Whether lazy conjugates among the arguments are resolved: the operator does not accept them. */
static gboolean
takes_copies (const AdjOpCall *call)
{
  if ((call->op->flags & ADJ_OP_CONJUGATES) != 0 || adj_schema_is_view (call->schema))
    return FALSE;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!call->schema->arguments[i].type.written &&
        !adj_value_foreach (&call->args[i], is_no_conjugate, NULL))
      return TRUE;
  return FALSE;
}

typedef struct
{
  Autograd *autograd;
  AdjContext *cx;
} Copying;

static gboolean
copy_conjugate (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Copying *copying = data;
  const AdjValue args[] = { *leaf, ADJ_NONE };
  AdjOpCall clone = { .cx = copying->cx, .op = adj_op (ADJ_OP_clone), .args = args };
  gboolean done;

  if (is_no_conjugate (leaf, NULL))
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  clone.schema = adj_op_get_schema (clone.op);
  done = pass_on (copying->autograd, &clone);
  if (done)
    *out = ADJ_TENSOR (g_steal_pointer (&clone.results[0].tensor));
  adj_op_call_clear (&clone);
  return done;
}

static gboolean
call_below (Autograd *autograd, AdjOpCall *call)
{
  Copying copying = { autograd, call->cx };
  const AdjValue *args = call->args;
  AdjValue copies[ADJ_MAX_ARGUMENTS];
  gboolean done = TRUE;
  guint n = 0;

  if (!takes_copies (call))
    return pass_on (autograd, call);
  for (; done && n < call->schema->n_arguments; n++)
    {
      copies[n] = ADJ_NONE;
      done = adj_value_map (&args[n], copy_conjugate, &copying, &copies[n]);
    }
  call->args = copies;
  done = done && pass_on (autograd, call);
  call->args = args;
  while (n-- > 0)
    adj_value_clear (&copies[n]);
  return done;
}

static gboolean
tensor_requires_grad (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_TENSOR || !adj_tensor_get_requires_grad (leaf->tensor);
}

static gboolean
any_requires_grad (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!adj_value_foreach (&call->args[i], tensor_requires_grad, NULL))
      return TRUE;
  return FALSE;
}

/* detach_(): self loses its history. */
static gboolean
detach_in_place (const AdjOpCall *call)
{
  Variable *variable = variable_find (call->args[0].tensor);

  if (variable == NULL || (call->op->flags & ADJ_OP_METADATA) == 0)
    return TRUE;
  if (variable->base != NULL)
    return adj_op_call_fail (call, "Can't detach views in-place. Use detach() instead");
  variable_set_history (variable->tensor, NULL, 0);
  variable->requires_grad = FALSE;
  return TRUE;
}

/* Fails for resize_ of a tensor that requires a gradient, which has no gradient rule. */
static gboolean
check_resize (const AdjOpCall *call)
{
  return call->op != adj_op (ADJ_OP_resize_) ||
         !adj_tensor_get_requires_grad (call->args[0].tensor) ||
         adj_op_call_fail (call, "cannot resize variables that require grad");
}

static gboolean
call_recorded (Autograd *autograd, AdjOpCall *call)
{
  OpNode *node = op_node_new (autograd, call, FALSE);
  gboolean found, done;

  adj_context_set_sequence (call->cx, (gint64) op_node_get_sequence (node));
  done = op_node_prepare (node, call, &found) && call_below (autograd, call) &&
         (!found || op_node_complete (node, call));
  op_node_unref (node);
  return done;
}

/* -- lists in place -- */

static gboolean
check_element (const AdjOpCall *call, guint i)
{
  g_autofree char *reason = variable_why_not_write (call->args[0].items[i].tensor);

  return reason == NULL || adj_op_call_fail (call, "argument '%s', tensor %u: %s",
                                             call->schema->arguments[0].name, i, reason);
}

/* Prepares a node for every element of a list that is written, as if each were written by its own
 * call. */
static gboolean
prepare_each (Autograd *autograd, const AdjOpCall *call, OpNode **nodes)
{
  const gint8 *from = NULL;
  const AdjOp *op = adj_op_get_element (call->op, &from);

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjValue args[ADJ_MAX_ARGUMENTS];
      AdjOpCall element = {
        .cx = call->cx, .op = op, .schema = adj_op_get_schema (op), .args = args, .within = call
      };
      gboolean found = FALSE;

      adj_op_take_element (call->op, call->args, i, args);
      nodes[i] = op_node_new (autograd, &element, TRUE);
      if (!op_node_prepare (nodes[i], &element, &found) || (found && !check_element (call, i)))
        return FALSE;
      if (!found)
        g_clear_pointer (&nodes[i], op_node_unref);
    }
  return TRUE;
}

static gboolean
complete_each (const AdjOpCall *call, OpNode *const *nodes)
{
  const gint8 *from = NULL;
  const AdjOp *op = adj_op_get_element (call->op, &from);

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjTensor *tensor = call->args[0].items[i].tensor;
      AdjValue args[ADJ_MAX_ARGUMENTS];
      AdjOpCall element = {
        .cx = call->cx, .op = op, .schema = adj_op_get_schema (op), .args = args, .within = call
      };
      AdjOpResult result = { .meta = *adj_tensor_get_meta (tensor), .tensor = tensor };

      adj_op_take_element (call->op, call->args, i, args);
      element.results = &result;
      element.n_results = 1;
      if (nodes[i] != NULL && !op_node_complete (nodes[i], &element))
        return FALSE;
    }
  return TRUE;
}

static gboolean
call_each_recorded (Autograd *autograd, AdjOpCall *call)
{
  guint n = call->args[0].n;
  g_autofree OpNode **nodes = g_new0 (OpNode *, n + 1);
  gboolean done = prepare_each (autograd, call, nodes) && call_below (autograd, call) &&
                  complete_each (call, nodes);

  for (guint i = 0; i < n; i++)
    op_node_unref (nodes[i]);
  return done;
}

static gboolean
writes_list (const AdjOpCall *call)
{
  const gint8 *from = NULL;

  return call->schema->n_returns == 0 && call->args[0].kind == ADJ_VALUE_LIST &&
         adj_op_get_element (call->op, &from) != NULL;
}

/* -- the mode -- */

static gboolean
autograd_call (AdjMode *mode, AdjOpCall *call)
{
  const AdjOpFlags flags = call->op->flags;
  gboolean recorded = adj_context_get_grad_enabled (call->cx) &&
                      (flags & ADJ_OP_NO_GRADIENT) == 0 && any_requires_grad (call);
  gboolean done;

  if (!check_resize (call))
    return FALSE;
  if ((flags & ADJ_OP_NO_GRADIENT) != 0)
    done = detach_in_place (call) && call_below ((Autograd *) mode, call);
  else if (recorded)
    done = writes_list (call) ? call_each_recorded ((Autograd *) mode, call)
                              : call_recorded ((Autograd *) mode, call);
  else
    done = call_below ((Autograd *) mode, call);
  if (!done)
    return FALSE;
  variable_mark_views (call);
  if ((flags & ADJ_OP_METADATA) != 0)
    variable_turn (call, recorded);
  return TRUE;
}

static gboolean
autograd_checkpoint (AdjMode *mode,
                     AdjContext *cx,
                     AdjFunction *body,
                     const AdjValue *args,
                     const AdjValue *kwargs,
                     AdjValue *result)
{
  AdjCheckpointOptions options = { 0 };

  return checkpoint_options_read (&options, cx, kwargs) &&
         checkpoint_run_region (cx, body, args->items, args->n, &options, result);
}

/* Calls inside the operator's functions are not recorded: the operator itself has a gradient. */
static gboolean
autograd_higher (AdjMode *mode, AdjHigherCall *call)
{
  AdjMode *entry = adj_context_set_entry (call->cx, mode->below);
  gboolean requires_grad = FALSE;
  gboolean done;

  for (guint i = 0; i < call->n_args && !requires_grad; i++)
    requires_grad = !adj_value_foreach (&call->args[i], tensor_requires_grad, NULL);
  if (requires_grad && adj_context_get_grad_enabled (call->cx))
    done = higher_record ((Autograd *) mode, call);
  else
    done = adj_mode_call_higher_below (mode, call);
  adj_context_set_entry (call->cx, entry);
  return done;
}

/* Fails the backward of a call that traces keep whole; @data: its name. */
static gboolean
refuse_backward (AdjContext *cx,
                 AdjTensor *const *grads,
                 guint n_grads,
                 AdjTensor **grad_inputs,
                 guint n_inputs,
                 gpointer data)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "Autograd not implemented for %s",
                    (const char *) data);
  return FALSE;
}

static gboolean
append_tensor (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

static gboolean
connect_wrapped (const AdjWrappedCall *call)
{
  static const AdjCustomGrad refusal = { .name = "NotImplemented",
                                         .backward = refuse_backward,
                                         .data = (gpointer) "trace_wrapped" };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();

  for (guint i = 0; i < call->n_args; i++)
    adj_value_foreach (&call->args[i], append_tensor, inputs);
  adj_value_foreach (&call->result, append_tensor, outputs);
  return adj_autograd_connect (call->cx, &refusal, (AdjTensor *const *) inputs->pdata, inputs->len,
                               (AdjTensor *const *) outputs->pdata, outputs->len);
}

/* Calls the function with autograd at the top again, since it is part of the user's program. */
static gboolean
autograd_wrapped (AdjMode *mode, AdjWrappedCall *call)
{
  gboolean requires_grad = FALSE;
  gboolean enabled = adj_context_set_grad_enabled (call->cx, FALSE);
  gboolean done;

  for (guint i = 0; i < call->n_args && !requires_grad; i++)
    requires_grad = !adj_value_foreach (&call->args[i], tensor_requires_grad, NULL);
  done = adj_mode_call_wrapped_below (mode, call);
  adj_context_set_grad_enabled (call->cx, enabled);
  return done && (!enabled || !requires_grad || connect_wrapped (call));
}

/* As trace_wrapped; the state of an object has no history. */
static gboolean
autograd_object (AdjMode *mode, AdjObjectCall *call)
{
  static const AdjCustomGrad refusal = { .name = "NotImplemented",
                                         .backward = refuse_backward,
                                         .data = (gpointer) "call_torchbind" };
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  gboolean enabled = adj_context_set_grad_enabled (call->cx, FALSE);
  gboolean requires_grad = !adj_value_foreach (call->kwargs, tensor_requires_grad, NULL);
  gboolean done = adj_mode_call_object_below (mode, call);

  adj_context_set_grad_enabled (call->cx, enabled);
  for (guint i = 0; i < call->n_args; i++)
    {
      requires_grad |= !adj_value_foreach (&call->args[i], tensor_requires_grad, NULL);
      adj_value_foreach (&call->args[i], append_tensor, inputs);
    }
  adj_value_foreach (call->kwargs, append_tensor, inputs);
  adj_value_foreach (&call->result, append_tensor, outputs);
  return done &&
         (!enabled || !requires_grad || outputs->len == 0 ||
          adj_autograd_connect (call->cx, &refusal, (AdjTensor *const *) inputs->pdata, inputs->len,
                                (AdjTensor *const *) outputs->pdata, outputs->len));
}

/* Other operators with effects have no gradient. */
static gboolean
autograd_effect (AdjMode *mode, AdjEffectCall *call)
{
  return call->op->calls_function ? leaf_function_call (mode, call)
                                  : adj_mode_call_effect_below (mode, call);
}

static gboolean
autograd_accumulate (AdjMode *mode, AdjContext *cx, AdjTensor *leaf, AdjTensor *grad)
{
  return leaf_add (cx, leaf, grad, 1);
}

static void
autograd_finalize (AdjMode *mode)
{
  Autograd *autograd = (Autograd *) mode;

  function_hooks_let_go (autograd);
  g_ptr_array_unref (autograd->function_hooks);
  g_ptr_array_unref (autograd->saved_hooks);
  g_clear_pointer (&autograd->walkers, g_ptr_array_unref);
}

static const AdjModeClass autograd_class = {
  .name = "autograd",
  .call = autograd_call,
  .higher = autograd_higher,
  .checkpoint = autograd_checkpoint,
  .hook = function_hook_add,
  .apply = function_apply,
  .wrapped = autograd_wrapped,
  .object = autograd_object,
  .effect = autograd_effect,
  .transform = transform_step,
  .accumulate = autograd_accumulate,
  .finalize = autograd_finalize,
};

AdjContext *
adj_context_new_with_autograd (void)
{
  AdjContext *cx = adj_context_new ();

  adj_context_push_mode (cx, adj_composite_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  return cx;
}

AdjMode *
adj_autograd_mode_new (void)
{
  Autograd *autograd = g_new0 (Autograd, 1);

  autograd->mode.klass = &autograd_class;
  autograd->function_hooks = g_ptr_array_new ();
  autograd->saved_hooks = g_ptr_array_new_with_free_func ((GDestroyNotify) saved_hooks_unref);
  return &autograd->mode;
}

Autograd *
autograd_find (AdjContext *cx)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass == &autograd_class)
      return (Autograd *) mode;
  return NULL;
}

Autograd *
autograd_get (AdjContext *cx)
{
  Autograd *autograd = autograd_find (cx);

  if (autograd == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "the context has no autograd mode: push adj_autograd_mode_new ()");
  return adj_context_has_error (cx) ? NULL : autograd;
}

AdjAutogradFlags
adj_autograd_set_flags (AdjContext *cx, AdjAutogradFlags flags)
{
  Autograd *autograd;
  AdjAutogradFlags before;

  g_return_val_if_fail (cx != NULL, 0);

  autograd = autograd_find (cx);
  if (autograd == NULL)
    return 0;
  before = autograd->flags;
  autograd->flags = flags;
  return before;
}

AdjAutogradFlags
autograd_flags (AdjContext *cx)
{
  const Autograd *autograd = autograd_find (cx);

  return autograd != NULL ? autograd->flags : 0;
}
