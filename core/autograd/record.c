/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/autograd-private.h"

/* The mode: what it records of a call is a node that applies the operator's gradient rule. */

/* What was saved, with the version that its storage had. */
typedef struct
{
  AdjStorage *storage; /* (owned) */
  guint32 version;
  gint result; /* which of the results it is; -1: an argument */
} Saved;

typedef struct
{
  AdjGradNode parent;
  const AdjOp *op;
  const AdjRule *rule; /* (nullable): the operator has no gradient */
  AdjValue *args;      /* by argument; NONE where the rule does not look */
  AdjValue *results;   /* by result; detached where they would hold this node */
  guint n_results;
  GArray *saved;
  guint n_entry_edges[ADJ_MAX_ARGUMENTS]; /* edges of each entry: 1, or the length of the list */
  gboolean released;
} OpNode;

/* -- saving -- */

static gboolean
describe_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjValue meta = *leaf;

  if (leaf->kind == ADJ_VALUE_TENSOR)
    meta = (AdjValue){ .kind = ADJ_VALUE_META, .meta = adj_tensor_get_meta (leaf->tensor) };
  *out = adj_value_copy (&meta);
  return TRUE;
}

typedef struct
{
  OpNode *op_node;
  gint result;
} Saving;

static gboolean
note_version (const AdjValue *leaf, gpointer data)
{
  const Saving *saving = data;
  AdjStorage *storage;
  Saved saved;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  storage = adj_tensor_get_storage (leaf->tensor);
  saved = (Saved){ adj_storage_ref (storage), adj_storage_get_version (storage), saving->result };
  g_array_append_val (saving->op_node->saved, saved);
  return TRUE;
}

static void
save (OpNode *op_node, const AdjValue *value, gint result, AdjValue *out)
{
  Saving saving = { op_node, result };

  *out = adj_value_copy (value);
  adj_value_foreach (out, note_version, &saving);
}

/* What the entries that will be needed read. */
static AdjRuleUse
use_of (const AdjRule *rule, const gboolean *needed)
{
  AdjRuleUse use = { 0 };

  for (guint i = 0; i < rule->n_entries; i++)
    if (needed[i])
      {
        use.args |= rule->entries[i].use.args;
        use.described_args |= rule->entries[i].use.described_args;
        use.results |= rule->entries[i].use.results;
        use.described_results |= rule->entries[i].use.described_results;
      }
  return use;
}

static gboolean
is_bit (guint64 mask, guint bit)
{
  return bit < 64 && ((mask >> bit) & 1) != 0;
}

/* Before the call: an argument that it writes is saved as the copy of what it is now. */
static gboolean
save_args (OpNode *op_node, const AdjOpCall *call, const AdjRuleUse *use)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];
      AdjValue copy = *value;

      if (is_bit (use->args, i))
        {
          if (call->schema->arguments[i].type.written && value->kind == ADJ_VALUE_TENSOR)
            {
              copy.tensor = ADJ_APPLY (call->cx, ADJ_OP_clone, *value);
              if (copy.tensor == NULL)
                return FALSE;
            }
          save (op_node, &copy, -1, &op_node->args[i]);
        }
      else if (is_bit (use->described_args, i))
        adj_value_map (value, describe_leaf, NULL, &op_node->args[i]);
    }
  return TRUE;
}

/* Whether the gradient of result @index counts. */
static gboolean
is_differentiable (const OpNode *op_node, const AdjOpCall *call, guint index)
{
  const AdjOpResult *result = &call->results[index];

  return result->tensor != NULL && adj_dtype_is_floating (result->meta.dtype) &&
         (op_node->rule == NULL || is_bit (op_node->rule->grads, MIN (index, 63)));
}

/* After the call: a result that gets this node as its history would hold what holds it, so it is
 * saved detached. */
static gboolean
save_results (OpNode *op_node, Autograd *autograd, const AdjOpCall *call, const AdjRuleUse *use)
{
  gboolean enabled = autograd->enabled;

  autograd->enabled = FALSE;
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjValue value = ADJ_NONE;

      if (call->results[i].tensor == NULL)
        {
          op_node->results[i] = call->results[i].plain;
          continue;
        }
      value = ADJ_TENSOR (call->results[i].tensor);
      if (is_bit (use->results, i))
        {
          if (is_differentiable (op_node, call, i))
            value.tensor = ADJ_APPLY (call->cx, ADJ_OP_detach, value);
          if (value.tensor != NULL)
            save (op_node, &value, (gint) i, &op_node->results[i]);
        }
      else if (is_bit (use->described_results, i))
        adj_value_map (&value, describe_leaf, NULL, &op_node->results[i]);
    }
  autograd->enabled = enabled;
  return !adj_context_has_error (call->cx);
}

/* -- nodes of operators -- */

static void
op_node_release (AdjGradNode *node)
{
  OpNode *op_node = (OpNode *) node;

  for (guint i = 0; i < adj_op_get_schema (op_node->op)->n_arguments; i++)
    adj_value_clear (&op_node->args[i]);
  for (guint i = 0; i < op_node->n_results; i++)
    adj_value_clear (&op_node->results[i]);
  op_node->released = op_node->saved->len > 0;
  for (guint i = 0; i < op_node->saved->len; i++)
    adj_storage_unref (g_array_index (op_node->saved, Saved, i).storage);
  g_array_set_size (op_node->saved, 0);
}

static void
op_node_finalize (AdjGradNode *node)
{
  OpNode *op_node = (OpNode *) node;

  op_node_release (node);
  g_free (op_node->args);
  g_free (op_node->results);
  g_array_unref (op_node->saved);
}

static gboolean
check_saved (const OpNode *op_node, AdjContext *cx)
{
  const AdjGradNode *node = &op_node->parent;

  if (op_node->released)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: trying to backward through the graph a second time: its saved "
                        "values have been freed; retain the graph to do this",
                        node->name);
      return FALSE;
    }
  for (guint i = 0; i < op_node->saved->len; i++)
    {
      const Saved *saved = &g_array_index (op_node->saved, Saved, i);
      guint32 now = adj_storage_get_version (saved->storage);

      if (now != saved->version)
        {
          adj_context_fail (
              cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
              "%s: one of the variables needed for gradient computation has been modified by an "
              "inplace operation: %s %s is at version %u; expected version %u instead",
              node->name, saved->result < 0 ? "an argument of" : "the result of",
              adj_op_get_schema (op_node->op)->target, now, saved->version);
          return FALSE;
        }
    }
  return TRUE;
}

/* Results as part of the graph again, for a backward that is itself recorded. */
static void
unpack_results (OpNode *op_node, AdjContext *cx, AdjValue *out)
{
  const Autograd *autograd = autograd_find (cx);

  for (guint i = 0; i < op_node->n_results; i++)
    {
      AdjTensor *tensor = op_node->results[i].tensor;

      out[i] = op_node->results[i];
      if (out[i].kind != ADJ_VALUE_TENSOR || !autograd->enabled || i >= op_node->parent.n_inputs ||
          op_node->parent.inputs[i].dtype == ADJ_DTYPE_NONE)
        continue;
      tensor = adj_scope_add (
          cx, adj_tensor_new (adj_tensor_get_meta (tensor), adj_tensor_get_storage (tensor)));
      variable_set_history (tensor, &op_node->parent, i);
      out[i].tensor = tensor;
    }
}

/* Hands out what the entry gave: one tensor, or the items of a list. */
static gboolean
put_entry (const OpNode *op_node, AdjContext *cx, const AdjValue *value, AdjTensor **out, guint n)
{
  const AdjValue *items = adj_value_is_container (value) ? value->items : value;
  guint n_items = adj_value_is_container (value) ? value->n : 1;

  if (n_items != n)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: invalid number of gradients - expected %u, but got %u",
                        op_node->parent.name, n, n_items);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (items[i].kind == ADJ_VALUE_TENSOR)
      out[i] = adj_keep (items[i].tensor);
  return TRUE;
}

static gboolean
op_node_apply (AdjGradNode *node,
               AdjContext *cx,
               AdjTensor *const *grads,
               const gboolean *needed,
               AdjTensor **out)
{
  OpNode *op_node = (OpNode *) node;
  gboolean entry_needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  g_autofree AdjValue *results = g_new0 (AdjValue, op_node->n_results + 1);
  const AdjRuleGrads rule_grads = {
    .results = results,
    .outputs = node->inputs,
    .grads = grads,
    .n_grads = node->n_inputs,
    .needed = entry_needed,
  };
  AdjRuleCall call = {
    .cx = cx,
    .rule = op_node->rule,
    .args = op_node->args,
    .grads = &rule_grads,
  };
  gboolean done = TRUE;
  gboolean defined = FALSE;
  guint edge = 0;

  for (guint i = 0; i < node->n_inputs; i++)
    defined |= grads[i] != NULL;
  if (!defined)
    return TRUE;
  if (op_node->rule == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the gradient of %s is not there yet",
                        adj_op_get_schema (op_node->op)->target);
      return FALSE;
    }
  for (guint i = 0; i < op_node->rule->n_entries; i++)
    for (guint k = 0; k < op_node->n_entry_edges[i]; k++)
      entry_needed[i] |= needed[edge++];
  if (!check_saved (op_node, cx))
    return FALSE;
  unpack_results (op_node, cx, results);

  adj_rule_call_init (&call);
  edge = 0;
  for (guint i = 0; i < op_node->rule->n_entries && done; i++)
    {
      AdjValue value;

      if (entry_needed[i])
        done = adj_rule_call_eval (&call, i, &value) &&
               put_entry (op_node, cx, &value, out + edge, op_node->n_entry_edges[i]);
      edge += op_node->n_entry_edges[i];
    }
  adj_rule_call_clear (&call);
  return done;
}

static const GradNodeClass op_node_class = {
  .apply = op_node_apply,
  .release = op_node_release,
  .finalize = op_node_finalize,
};

/* "_log_softmax" is LogSoftmaxBackward. */
static char *
node_name (const AdjSchema *schema)
{
  GString *name = g_string_new (NULL);
  gboolean upper = TRUE;

  for (const char *p = schema->name; *p != '\0'; p++)
    if (*p == '_')
      upper = TRUE;
    else
      {
        g_string_append_c (name, upper ? g_ascii_toupper (*p) : *p);
        upper = FALSE;
      }
  g_string_append (name, "Backward");
  return g_string_free (name, FALSE);
}

/* -- edges -- */

/* Edges of the tensors of @value; says whether any leads somewhere. */
static gboolean
collect_edges (AdjContext *cx, const AdjValue *value, GArray *edges)
{
  const AdjValue *items = adj_value_is_container (value) ? value->items : value;
  guint n = adj_value_is_container (value) ? value->n : 1;
  gboolean found = FALSE;

  for (guint i = 0; i < n; i++)
    {
      GradEdge edge = { NULL, 0 };

      if (items[i].kind == ADJ_VALUE_TENSOR)
        edge = variable_get_edge (cx, items[i].tensor);
      found |= edge.node != NULL;
      g_array_append_val (edges, edge);
    }
  return found;
}

/* Fills edges and @needed (by entry, or one for all arguments without a rule); says whether any
 * argument requires a gradient. */
static gboolean
connect_args (OpNode *op_node, const AdjOpCall *call, gboolean *needed)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, TRUE, sizeof (GradEdge));
  gboolean found = FALSE;

  if (op_node->rule != NULL)
    for (guint i = 0; i < op_node->rule->n_entries; i++)
      {
        guint before = edges->len;

        needed[i] = collect_edges (call->cx, &call->args[op_node->rule->entries[i].arg], edges);
        op_node->n_entry_edges[i] = edges->len - before;
        found |= needed[i];
      }
  else
    for (guint i = 0; i < call->schema->n_arguments; i++)
      found |= collect_edges (call->cx, &call->args[i], edges);
  grad_node_set_edges (&op_node->parent, (gconstpointer) edges->data, edges->len);
  return found;
}

/* -- recording -- */

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

static gboolean
check_written (const AdjOpCall *call, const AdjRule *rule)
{
  if (rule == NULL && adj_schema_mutates (call->schema))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "writes its result, and one of the arguments requires grad: there "
                                "is no gradient of that");
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjArgument *argument = &call->schema->arguments[i];
      const Variable *variable;

      if (!argument->type.written || call->args[i].kind != ADJ_VALUE_TENSOR)
        continue;
      variable = variable_find (call->args[i].tensor);
      if (variable == NULL)
        continue;
      if (variable->node == NULL && variable->requires_grad)
        return adj_op_call_fail (call,
                                 "argument '%s' is a leaf Variable that requires grad and is being "
                                 "used in an in-place operation",
                                 argument->name);
      if (variable->is_view)
        return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                    "argument '%s' is a view: the gradient of writing through "
                                    "views is not there yet",
                                    argument->name);
    }
  return TRUE;
}

static void
mark_views (const AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjOpResult *result = &call->results[i];
      Variable *variable;

      if (result->tensor == NULL || result->alias_of < 0 ||
          call->schema->returns[call->returns_list ? 0 : i].type.written)
        continue;
      variable = variable_get (result->tensor);
      variable->is_view = TRUE;
      variable->view_version = adj_storage_get_version (adj_tensor_get_storage (result->tensor));
    }
}

static gboolean
record (OpNode *op_node, Autograd *autograd, AdjOpCall *call)
{
  gboolean needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  gboolean found = connect_args (op_node, call, needed);
  AdjRuleUse use = { 0 };

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (!found)
    return adj_mode_call_below (&autograd->mode, call);
  if (op_node->rule != NULL)
    use = use_of (op_node->rule, needed);
  if (!check_written (call, op_node->rule) || !save_args (op_node, call, &use) ||
      !adj_mode_call_below (&autograd->mode, call))
    return FALSE;

  op_node->n_results = call->n_results;
  op_node->results = g_new0 (AdjValue, call->n_results + 1);
  if (!save_results (op_node, autograd, call, &use))
    return FALSE;
  grad_node_set_inputs (&op_node->parent, call->n_results);
  for (guint i = 0; i < call->n_results; i++)
    if (is_differentiable (op_node, call, i))
      variable_set_history (call->results[i].tensor, &op_node->parent, i);
  return TRUE;
}

static gboolean
autograd_call (AdjMode *mode, AdjOpCall *call)
{
  Autograd *autograd = (Autograd *) mode;
  OpNode *op_node;
  gboolean done;

  if (!autograd->enabled || (call->op->flags & ADJ_OP_NO_GRADIENT) != 0)
    return adj_mode_call_below (mode, call);
  if (!any_requires_grad (call))
    {
      done = adj_mode_call_below (mode, call);
      if (done)
        mark_views (call);
      return done;
    }

  op_node = (OpNode *) grad_node_new (autograd, &op_node_class, sizeof (OpNode),
                                      node_name (call->schema));
  adj_context_set_sequence (call->cx, (gint64) op_node->parent.sequence);
  op_node->op = call->op;
  op_node->rule = adj_rule_find (call->op, ADJ_RULE_GRAD);
  op_node->args = g_new0 (AdjValue, MAX (call->schema->n_arguments, 1));
  op_node->saved = g_array_new (FALSE, FALSE, sizeof (Saved));
  grad_node_set_place (&op_node->parent, adj_context_get_place (call->cx));
  done = record (op_node, autograd, call);
  if (done)
    mark_views (call);
  adj_grad_node_unref (&op_node->parent);
  return done;
}

/* -- the mode -- */

static const AdjModeClass autograd_class = { .name = "autograd", .call = autograd_call };

AdjMode *
adj_autograd_mode_new (void)
{
  Autograd *autograd = g_new0 (Autograd, 1);

  autograd->mode.klass = &autograd_class;
  autograd->enabled = TRUE;
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

gboolean
adj_autograd_set_enabled (AdjContext *cx, gboolean enabled)
{
  Autograd *autograd;
  gboolean before;

  g_return_val_if_fail (cx != NULL, FALSE);

  autograd = autograd_find (cx);
  if (autograd == NULL)
    return FALSE;
  before = autograd->enabled;
  autograd->enabled = enabled;
  return before;
}
