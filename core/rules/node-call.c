/* SPDX-License-Identifier: MIT */
/* Runs a backward node by the gradient rule of its operator: what it saves becomes the arguments
 * and results that the rule reads. */

#include <string.h>

#include "rules/node-op-private.h"

gboolean
node_call_fail (const NodeCall *call, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list list;

  va_start (list, format);
  text = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s: %s", call->self->name, text);
  return FALSE;
}

static gboolean
set_up (NodeCall *call)
{
  const AdjOp *op = node_op_find_operator (call->self);

  call->rule =
      op != NULL ? adj_rule_find (op, ADJ_RULE_GRAD, adj_context_get_release (call->cx)) : NULL;
  if (call->rule == NULL)
    return FALSE;
  call->schema = adj_op_get_schema (op);
  return TRUE;
}

/* Entry of the rule for the argument called @name. */
static guint
find_entry (const NodeCall *call, const char *name)
{
  guint i = 0;

  while (i < call->rule->n_entries &&
         !g_str_equal (call->rule->schema->arguments[call->rule->entries[i].arg].name, name))
    i++;
  return i;
}

static const AdjTensorMeta *
find_form (const AdjValue *grads)
{
  for (guint i = 0; i < grads->n; i++)
    if (grads->items[i].kind == ADJ_VALUE_TENSOR)
      return adj_tensor_get_meta (grads->items[i].tensor);
  return NULL;
}

static gboolean
take_attributes (NodeCall *call, const AdjValue *values, guint n)
{
  g_auto (GStrv) names = g_strsplit (call->self->kept, " ", -1);
  guint n_names = *call->self->kept != '\0' ? g_strv_length (names) : 0;

  if (n_names != n)
    return node_call_fail (call, "is given %u attributes, and keeps %u in PyTorch 2.15: %s", n,
                           n_names, call->self->kept);
  for (guint i = 0; i < call->schema->n_arguments; i++)
    call->described[i].meta = call->form;
  for (guint i = 0; i < n; i++)
    if (!node_call_take (call, names[i], &values[i]))
      return FALSE;
  return TRUE;
}

static gboolean
refuse_argument (NodeCall *call, guint i)
{
  return node_call_fail (call, "its formula here reads '%s', which it does not keep",
                         call->schema->arguments[i].name);
}

/* Completes an argument that is not saved: described tensors become META, others get their default;
 * fails if the rule reads one without. */
static gboolean
complete_arg (NodeCall *call, guint i, const AdjRuleUse *use)
{
  const AdjArgument *argument = &call->schema->arguments[i];
  const gboolean reads = (((use->args | use->described_args) >> MIN (i, 63)) & 1) != 0;
  guint other;

  if (call->args[i].kind != ADJ_VALUE_NONE)
    return TRUE;
  if (node_op_find_alike (call->self, call->schema, i, &other) &&
      call->args[other].kind == ADJ_VALUE_TENSOR)
    call->described[i] =
        (DescribedArgument){ TRUE, *adj_tensor_get_meta (call->args[other].tensor) };
  if (call->described[i].has_any)
    call->args[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &call->described[i].meta };
  else if (((call->kept_args >> i) & 1) == 0 && argument->has_default)
    call->args[i] = argument->default_value;
  else if (((call->kept_args >> i) & 1) == 0 && reads)
    return refuse_argument (call, i);
  return TRUE;
}

static AdjRuleUse
use_of (const AdjRule *rule, const gboolean *needed)
{
  AdjRuleUse use = { 0 };

  for (guint i = 0; i < rule->n_entries; i++)
    if (needed[i])
      {
        use.args |= rule->entries[i].use.args;
        use.described_args |= rule->entries[i].use.described_args;
      }
  return use;
}

/* Maps the flags of the node's inputs to needed entries of the rule. */
static gboolean
find_needed (const NodeCall *call, const AdjValue *flags, guint *entries, gboolean *needed)
{
  g_auto (GStrv) inputs = g_strsplit (call->self->inputs, " ", -1);
  guint n = g_strv_length (inputs);

  if (!adj_value_is_container (flags) || flags->n != n)
    return node_call_fail (call, "takes %u flags, one for each of: %s", n, call->self->inputs);
  for (guint i = 0; i < n; i++)
    {
      const gboolean is_needed = flags->items[i].kind == ADJ_VALUE_BOOL && flags->items[i].boolean;

      entries[i] = find_entry (call, inputs[i]);
      if (is_needed && entries[i] == call->rule->n_entries)
        return node_call_fail (call, "'%s' has no gradient here", inputs[i]);
      if (entries[i] < call->rule->n_entries)
        needed[entries[i]] = is_needed;
    }
  return TRUE;
}

static void
append (const NodeCall *call, GArray *items, guint entry, const AdjValue *values)
{
  guint arg = call->rule->entries[entry].arg;
  guint n = call->schema->arguments[arg].type.is_list ? call->n_items[arg] : 1;
  const AdjValue *value = &values[entry];

  for (guint i = 0; i < n; i++)
    {
      const AdjValue *item = value;
      AdjValue copy;

      if (adj_value_is_container (value))
        item = i < value->n ? &value->items[i] : &ADJ_NONE;
      copy = adj_value_copy (item);
      g_array_append_val (items, copy);
    }
}

/* (nullable) */
static const AdjValue *
find_arg (const NodeCall *call, const char *name, AdjValueKind kind)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, name) && call->args[i].kind == kind)
      return &call->args[i];
  return NULL;
}

/* Metadata of an undefined gradient: for split, those of its part; else those of the first defined
 * one. */
static void
describe_grad (const NodeCall *call, guint index, AdjTensorMeta *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjValue *self = find_arg (call, "self", ADJ_VALUE_META);
  const AdjValue *dim = find_arg (call, "dim", ADJ_VALUE_INT);
  const AdjValue *size = find_arg (call, "split_size", ADJ_VALUE_INT);
  const AdjValue *sizes = find_arg (call, "split_sizes", ADJ_VALUE_LIST);
  AdjSize part = ADJ_SIZE (0), all[ADJ_MAX_RANK];
  guint axis;

  *out = call->form;
  if (self == NULL || dim == NULL || (size == NULL && sizes == NULL))
    return;
  axis = (guint) (dim->integer < 0 ? dim->integer + self->meta->shape.rank : dim->integer);
  if (axis >= self->meta->shape.rank)
    return;
  *out = *self->meta;
  if (size != NULL && adj_size_is_int (out->shape.size[axis]))
    part = ADJ_SIZE (MIN (size->integer, out->shape.size[axis].word - index * size->integer));
  else if (sizes == NULL || index >= sizes->n || !adj_value_get_size (&sizes->items[index], &part))
    return;
  memcpy (all, self->meta->shape.size, sizeof all);
  all[axis] = part;
  adj_shape_init (&out->shape, symbols, out->shape.rank, all);
}

static gboolean
evaluate (NodeCall *call,
          const AdjValue *grads,
          const guint *entries,
          guint n,
          const gboolean *needed,
          AdjValue *out)
{
  g_autofree AdjTensor **tensors = g_new0 (AdjTensor *, grads->n + 1);
  g_autofree AdjTensorMeta *forms = g_new0 (AdjTensorMeta, grads->n + 1);
  const AdjRuleGrads of_call = { call->results, forms, tensors, grads->n, needed };
  AdjRuleCall rule_call = {
    .cx = call->cx, .rule = call->rule, .args = call->args, .grads = &of_call
  };
  AdjValue values[ADJ_MAX_ARGUMENTS];
  gboolean done;

  for (guint i = 0; i < grads->n; i++)
    {
      tensors[i] = grads->items[i].kind == ADJ_VALUE_TENSOR ? grads->items[i].tensor : NULL;
      if (tensors[i] != NULL)
        forms[i] = *adj_tensor_get_meta (tensors[i]);
      else
        describe_grad (call, i, &forms[i]);
    }
  adj_rule_call_init (&rule_call);
  done = adj_rule_call_eval_needed (&rule_call, values);
  if (done)
    {
      GArray *items = adj_value_array_new ();

      for (guint i = 0; i < n; i++)
        if (entries[i] < call->rule->n_entries)
          append (call, items, entries[i], values);
        else
          g_array_append_val (items, ADJ_NONE);
      *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
      g_array_unref (items);
    }
  adj_rule_call_clear (&rule_call);
  return done;
}

static gboolean
call_rule (NodeCall *call, const AdjValue *args, guint n_args, AdjValue *out)
{
  guint entries[ADJ_MAX_ARGUMENTS];
  gboolean needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  const AdjTensorMeta *form = find_form (&args[0]);
  AdjRuleUse use;

  if (form != NULL)
    call->form = *form;
  if (!find_needed (call, &args[1], entries, needed) ||
      !take_attributes (call, args + 2, n_args - 2))
    return FALSE;
  if (form == NULL)
    memset (needed, 0, sizeof needed);
  use = use_of (call->rule, needed);
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!complete_arg (call, i, &use))
      return FALSE;
  return evaluate (call, &args[0], entries, args[1].n, needed, out);
}

gboolean
adj_node_op_call (
    AdjContext *cx, const AdjNodeOp *self, const AdjValue *args, guint n_args, AdjValue *out)
{
  NodeCall *call = g_new0 (NodeCall, 1);
  gboolean done;

  *out = ADJ_NONE;
  call->cx = cx;
  call->self = self;
  call->arena = adj_arena_new ();
  if (!set_up (call))
    done = node_call_fail (call, "the gradient of %s is not known here", self->op);
  else if (n_args < 2 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[1]))
    done = node_call_fail (call, "takes a list of gradients and a list of flags");
  else
    done = call_rule (call, args, n_args, out);
  adj_arena_free (call->arena);
  g_free (call);
  return done;
}
