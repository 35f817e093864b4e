/* SPDX-License-Identifier: MIT */
/* The node of an operator: saves what its gradient rule reads, and evaluates the rule in the
 * backward. */

#include <string.h>

#include "autograd/op-node-private.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"

/* -- saving -- */

gboolean
op_node_describe_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
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
  AdjContext *cx;
  guint index;
  SavedKind kind;
} Saving;

static gboolean
save_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Saving *saving = data;
  GPtrArray *list = saving->op_node->saved;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  *out = ADJ_NODE (((AdjNodeId){ list->len }));
  return saved_add (list, saving->cx, leaf->tensor, saving->index, saving->kind);
}

/* The union of what the @needed entries read. */
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

/* Whether @bit is set; the last bit represents all later ones, as long lists need. */
static gboolean
is_bit (guint64 mask, guint bit)
{
  return ((mask >> MIN (bit, 63)) & 1) != 0;
}

static gboolean
writes (const OpNode *op_node, const AdjOpCall *call, guint arg)
{
  return call->schema->arguments[arg].type.written || (op_node->in_place && arg == 0);
}

/* Whether argument @arg is written and has no gradient, such as running statistics or drawn noise.
 * The rule then reads its value after the call. */
static gboolean
is_by_product (const OpNode *op_node, const AdjOpCall *call, guint arg)
{
  if (!writes (op_node, call, arg))
    return FALSE;
  for (guint i = 0; i < op_node->rule->n_entries; i++)
    if (op_node->rule->entries[i].arg == arg)
      return FALSE;
  return TRUE;
}

/* Saves arguments: before the call those that are no by-products (copied if they are written),
 * after it the by-products. */
static gboolean
save_args (OpNode *op_node, const AdjOpCall *call, gboolean after)
{
  const AdjRuleUse *use = &op_node->use;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];
      AdjValue copy = *value;

      if (op_node->rule != NULL && after != is_by_product (op_node, call, i))
        continue;
      if (is_bit (use->args, i))
        {
          if (writes (op_node, call, i) && !after && value->kind == ADJ_VALUE_TENSOR)
            {
              copy.tensor = ADJ_APPLY (call->cx, ADJ_OP_clone, *value);
              if (copy.tensor == NULL)
                return FALSE;
            }
          if (!adj_value_map (&copy, save_leaf, &(Saving){ op_node, call->cx, i, SAVED_ARGUMENT },
                              &op_node->args[i]))
            return FALSE;
        }
      else if (is_bit (use->described_args, i))
        adj_value_map (value, op_node_describe_leaf, NULL, &op_node->args[i]);
    }
  return TRUE;
}

/* Whether result @index has a gradient. */
gboolean
op_node_is_differentiable (const OpNode *op_node, const AdjOpCall *call, guint index)
{
  const AdjOpResult *result = &call->results[index];

  return result->tensor != NULL && adj_dtype_is_differentiable (result->meta.dtype) &&
         (op_node->rule == NULL || is_bit (op_node->rule->grads, index));
}

/* Saves results, after the call. */
static gboolean
save_results (OpNode *op_node, const AdjOpCall *call)
{
  const AdjRuleUse *use = &op_node->use;

  for (guint i = 0; i < call->n_results; i++)
    {
      AdjValue value = ADJ_NONE;
      SavedKind kind = op_node_is_differentiable (op_node, call, i) ? SAVED_RESULT : SAVED_AS_IS;

      if (call->results[i].tensor == NULL)
        {
          op_node->results[i] = call->results[i].plain;
          continue;
        }
      value = ADJ_TENSOR (call->results[i].tensor);
      if (is_bit (use->results, i))
        {
          if (!save_leaf (&value, &op_node->results[i], &(Saving){ op_node, call->cx, i, kind }))
            return FALSE;
        }
      else if (is_bit (use->described_results, i))
        adj_value_map (&value, op_node_describe_leaf, NULL, &op_node->results[i]);
    }
  return !adj_context_has_error (call->cx);
}

/* -- nodes of operators -- */

/* Releases the saved tensors. Other saved values stay: a node without saved tensors can run again.
 */
static void
op_node_release (AdjGradNode *node)
{
  OpNode *op_node = (OpNode *) node;

  op_node->released |= op_node->saved->len > 0;
  g_ptr_array_set_size (op_node->saved, 0);
}

static void
op_node_finalize (AdjGradNode *node)
{
  OpNode *op_node = (OpNode *) node;

  for (guint i = 0; i < adj_op_get_schema (op_node->op)->n_arguments; i++)
    adj_value_clear (&op_node->args[i]);
  for (guint i = 0; i < op_node->n_results; i++)
    adj_value_clear (&op_node->results[i]);
  for (guint i = 0; op_node->kept != NULL && i < adj_op_get_schema (op_node->op)->n_arguments; i++)
    adj_value_clear (&op_node->kept[i]);
  g_free (op_node->results);
  g_free (op_node->n_entry_edges);
  g_free (op_node->kept);
  g_ptr_array_unref (op_node->saved);
}

typedef struct
{
  OpNode *op_node;
  AdjContext *cx;
} Unpacking;

static gboolean
unpack_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Unpacking *unpacking = data;
  OpNode *op_node = unpacking->op_node;
  AdjTensor *tensor;

  if (leaf->kind != ADJ_VALUE_NODE)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = saved_unpack (g_ptr_array_index (op_node->saved, leaf->node.index), unpacking->cx,
                         &op_node->parent, adj_op_get_schema (op_node->op));
  *out = tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

/* (transfer full) (nullable): the saved value unpacked. %NULL: the context is in error. */
static AdjValue *
unpack_values (OpNode *op_node, AdjContext *cx, const AdjValue *values, guint n)
{
  AdjValue *out = g_new0 (AdjValue, n + 1);
  gboolean done = TRUE;

  for (guint i = 0; i < n && done; i++)
    done = adj_value_map (&values[i], unpack_leaf, &(Unpacking){ op_node, cx }, &out[i]);
  return out;
}

static void
free_values (AdjValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear (&values[i]);
  g_free (values);
}

/* Stores the result of a rule's entry: one gradient, or the items of a list. */
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

/* Evaluates the entries that are needed. */
static gboolean
eval_entries (OpNode *op_node, AdjRuleCall *call, AdjTensor **out)
{
  AdjValue values[ADJ_MAX_ARGUMENTS];
  gboolean done;

  adj_rule_call_init (call);
  done = adj_rule_call_eval_needed (call, values);
  for (guint i = 0; i < op_node->rule->n_entries && done; i++)
    {
      if (call->grads->needed[i])
        done = put_entry (op_node, call->cx, &values[i], out, op_node_count_edges (op_node, i));
      out += op_node_count_edges (op_node, i);
    }
  adj_rule_call_clear (call);
  return done;
}

static gboolean
op_node_apply (AdjGradNode *node,
               AdjContext *cx,
               AdjTensor *const *grads,
               const gboolean *needed,
               AdjTensor **out)
{
  OpNode *op_node = (OpNode *) node;
  guint n_args = adj_op_get_schema (op_node->op)->n_arguments;
  gboolean entry_needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  AdjValue *args, *results;
  gboolean done = FALSE;
  guint edge = 0;

  if (!grad_any_defined (grads, node->n_inputs))
    return TRUE;
  if (op_node->rule == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "%s has no derivative, in PyTorch neither",
                        adj_op_get_schema (op_node->op)->target);
      return FALSE;
    }
  if (op_node->released)
    return saved_fail_released (cx, node);
  for (guint i = 0; i < op_node->rule->n_entries; i++)
    for (guint k = 0; k < op_node_count_edges (op_node, i); k++)
      entry_needed[i] |= needed[edge++];

  args = unpack_values (op_node, cx, op_node->args, n_args);
  results = unpack_values (op_node, cx, op_node->results, op_node->n_results);
  if (!adj_context_has_error (cx))
    {
      const AdjRuleGrads rule_grads = { results, node->inputs, grads, node->n_inputs,
                                        entry_needed };
      AdjRuleCall call = { .cx = cx, .rule = op_node->rule, .args = args, .grads = &rule_grads };

      done = eval_entries (op_node, &call, out);
    }
  free_values (args, n_args);
  free_values (results, op_node->n_results);
  return done;
}

static GPtrArray *
op_node_get_saved (AdjGradNode *node)
{
  return ((OpNode *) node)->saved;
}

/* -- what it keeps, for others -- */

typedef struct
{
  OpNode *op_node;
  GradVisitor *visitor;
  const char *name;
  gboolean is_tensor;
} Visiting;

static void
visit_value (const Visiting *visiting, AdjValue *value)
{
  GPtrArray *saved = visiting->op_node->saved;

  if (value->kind == ADJ_VALUE_NODE)
    {
      visiting->visitor->saved (visiting->visitor, visiting->name, &visiting->op_node->parent,
                                g_ptr_array_index (saved, value->node.index));
      return;
    }
  visiting->visitor->leaf (visiting->visitor, visiting->name, value, visiting->is_tensor);
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    visit_value (visiting, &value->items[i]);
}

/* Results by name; a list is one result in the schema, and its items are results here. */
static void
visit_results (OpNode *op_node, GradVisitor *visitor)
{
  const AdjRule *rule = op_node->rule;
  const gboolean named = rule != NULL && op_node->n_results == rule->schema->n_returns;

  for (guint i = 0; i < op_node->n_results; i++)
    {
      AdjValue *result = &op_node->results[named ? rule->results_by_name[i] : i];

      if (result->kind != ADJ_VALUE_NONE)
        visit_value (&(Visiting){ op_node, visitor, "result", FALSE }, result);
    }
}

/* Arguments by name, then results, as PyTorch's nodes do. */
static gboolean
op_node_visit (AdjGradNode *node, GradVisitor *visitor)
{
  OpNode *op_node = (OpNode *) node;
  const AdjRule *rule = op_node->rule;
  const guint64 used = op_node->use.args | op_node->use.described_args;

  if (op_node->released)
    return FALSE;
  for (guint i = 0; used != 0 && i < rule->schema->n_arguments; i++)
    {
      const guint arg = rule->by_name[i];
      const AdjArgument *argument = &rule->schema->arguments[arg];

      if (is_bit (used, arg) && op_node->args[arg].kind != ADJ_VALUE_NONE)
        visit_value (&(Visiting){ op_node, visitor, argument->name,
                                  argument->type.kind == ADJ_TYPE_KIND_TENSOR },
                     &op_node->args[arg]);
    }
  visit_results (op_node, visitor);
  for (guint i = 0; op_node->n_entry_edges != NULL && i < rule->n_entries; i++)
    if (op_node->n_entry_edges[i] != 1)
      visitor->leaf (visitor, "length of a list", &ADJ_INT (op_node->n_entry_edges[i]), FALSE);
  return TRUE;
}

static gconstpointer
op_node_get_kind (const AdjGradNode *node)
{
  return ((const OpNode *) node)->op;
}

static void
op_node_prefetch (const AdjGradNode *node, guint step)
{
  const OpNode *op_node = (const OpNode *) node;

  if (step == 0)
    {
      __builtin_prefetch (&op_node->op);
      __builtin_prefetch (op_node->args);
    }
  else if (step == 1)
    {
      __builtin_prefetch (op_node->results);
      __builtin_prefetch (op_node->saved);
    }
  else if (step == 2)
    __builtin_prefetch (op_node->saved->pdata);
  else
    for (guint i = 0; i < op_node->saved->len; i++)
      saved_prefetch (g_ptr_array_index (op_node->saved, i), step - 3);
}

const GradNodeClass op_node_class = {
  .apply = op_node_apply,
  .visit = op_node_visit,
  .get_kind = op_node_get_kind,
  .prefetch = op_node_prefetch,
  .release = op_node_release,
  .get_saved = op_node_get_saved,
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

/* -- for the mode -- */

OpNode *
op_node_new (Autograd *autograd, const AdjOpCall *call, gboolean in_place)
{
  const gsize size = sizeof (OpNode) + call->schema->n_arguments * sizeof (AdjValue);
  OpNode *self =
      (OpNode *) grad_node_new (autograd, &op_node_class, size, node_name (call->schema));

  self->op = call->op;
  self->rule = adj_rule_find (call->op, ADJ_RULE_GRAD, adj_context_get_release (call->cx));
  self->saved = saved_list_new ();
  self->in_place = in_place;
  grad_node_set_place (&self->parent, adj_context_get_place (call->cx));
  return self;
}

void
op_node_unref (OpNode *self)
{
  if (self != NULL)
    adj_grad_node_unref (&self->parent);
}

guint64
op_node_get_sequence (const OpNode *self)
{
  return self->parent.sequence;
}

gboolean
op_node_prepare (OpNode *self, const AdjOpCall *call, gboolean *found)
{
  gboolean needed[ADJ_MAX_ARGUMENTS] = { FALSE };

  *found = op_node_connect_args (self, call, needed);
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (!*found)
    return TRUE;
  if (self->rule != NULL)
    {
      self->use = use_of (self->rule, needed);
      op_node_use_form (self, call);
    }
  if (!op_node_check_written (call, self->rule) || !save_args (self, call, FALSE))
    return FALSE;
  op_node_keep_for_form (self, call);
  return TRUE;
}

gboolean
op_node_complete (OpNode *self, const AdjOpCall *call)
{
  self->n_results = call->n_results;
  self->results = g_new0 (AdjValue, call->n_results + 1);
  return (self->rule == NULL || save_args (self, call, TRUE)) && save_results (self, call) &&
         op_node_connect_results (self, call);
}
