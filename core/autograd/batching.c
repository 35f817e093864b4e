/* SPDX-License-Identifier: MIT */
/* torch.func.vmap: operators on batches.  A tensor of the level wraps another with one more
 * dimension, which is moved to the front; the operator is called on those by its rule, is
 * decomposed, or is called for each entry. */

#include "autograd/batching-private.h"
#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* -- arguments -- */

AdjTensor *
batching_front (const Batching *b, guint arg)
{
  const AdjValue *value = &b->call->args[arg];

  if (value->kind != ADJ_VALUE_TENSOR)
    return NULL;
  return batching_is_batched (b, arg) ? level_bring_out (b->call->cx, b->level, value->tensor, 0)
                                      : value->tensor;
}

gboolean
batching_is_batched (const Batching *b, guint arg)
{
  const AdjValue *value = &b->call->args[arg];

  return value->kind == ADJ_VALUE_TENSOR && level_unwrap (b->level, value->tensor, NULL) != NULL;
}

guint
batching_rank (const Batching *b, guint arg)
{
  return adj_tensor_get_rank (b->call->args[arg].tensor);
}

/* -- one after the other -- */

typedef struct
{
  const Batching *b;
  gint64 index;
} Entry;

static gboolean
take_entry (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Entry *entry = data;
  AdjTensor *tensor = leaf->kind == ADJ_VALUE_TENSOR ? leaf->tensor : NULL;
  guint dim;
  AdjTensor *inner = tensor != NULL ? level_unwrap (entry->b->level, tensor, &dim) : NULL;

  if (inner == NULL)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = ADJ_APPLY (entry->b->call->cx, ADJ_OP_select_int, ADJ_TENSOR (inner), ADJ_INT (dim),
                      ADJ_INT (entry->index));
  *out = ADJ_TENSOR (adj_keep (tensor));
  return tensor != NULL;
}

static gboolean
call_entry (const Batching *b, gint64 index, AdjValue *result)
{
  Entry entry = { b, index };
  AdjValue args[ADJ_MAX_ARGUMENTS];
  gboolean done = TRUE;
  guint n = 0;

  for (; done && n < b->call->schema->n_arguments; n++)
    {
      args[n] = ADJ_NONE;
      done = adj_value_map (&b->call->args[n], take_entry, &entry, &args[n]);
    }
  done = done && adj_call_bound (b->call->cx, b->call->op, args, result);
  while (n-- > 0)
    adj_value_clear (&args[n]);
  return done;
}

/* Stacks the results of all entries; results that are not tensors must be equal. */
static gboolean
stack_results (const Batching *b, const AdjValue *entries, gint64 n, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  AdjValue *column = adj_scope_alloc (cx, (gsize) n * sizeof *column);

  if (entries[0].kind == ADJ_VALUE_TENSOR)
    {
      *out = ADJ_TENSOR (ADJ_APPLY (
          cx, ADJ_OP_stack,
          { .kind = ADJ_VALUE_LIST, .n = (guint) n, .items = (AdjValue *) entries }, ADJ_INT (0)));
      return out->tensor != NULL;
    }
  *out = entries[0];
  if (!adj_value_is_container (&entries[0]))
    return TRUE;
  out->items = adj_scope_alloc (cx, (out->n + 1) * sizeof *out->items);
  for (guint k = 0; k < out->n; k++)
    {
      for (gint64 i = 0; i < n; i++)
        column[i] = entries[i].items[k];
      if (!stack_results (b, column, n, &out->items[k]))
        return FALSE;
    }
  return TRUE;
}

/* Each entry has a result of its own, which is a tensor at least. */
static gboolean
check_memory (const AdjOpCall *call, gint64 n)
{
  return (guint64) n <= adj_op_memory () / sizeof (AdjTensorMeta) ||
         adj_op_call_fail_as (call, ADJ_ERROR_MEMORY,
                              "%" G_GINT64_FORMAT " entries of a batch do not fit in memory", n);
}

gboolean
batching_each (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  gint64 n = b->level->size.word;

  if (!adj_size_is_int (b->level->size) || n <= 0)
    return adj_op_call_fail (call, "has no rule for a batch whose size is no positive number");
  if (adj_schema_mutates (call->schema))
    return adj_op_call_fail (call, "is not known to work on a batch");
  if (!check_memory (call, n))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      AdjValue entry;

      if (!adj_context_may_go_on (call->cx) || !call_entry (b, i, &entry))
        return FALSE;
      g_array_append_val (entries, entry);
    }
  return stack_results (b, (const AdjValue *) (gpointer) entries->data, n, out);
}

/* -- the mode -- */

/* Stores @given as result @index, a tensor of the level. */
static gboolean
put_result (const Batching *b, guint index, const AdjValue *given)
{
  AdjOpCall *call = b->call;
  AdjOpResult *result = &call->results[index];
  const AdjType *type = &call->schema->returns[call->returns_list ? 0 : index].type;
  AdjTensor *tensor;

  if (given->kind != ADJ_VALUE_TENSOR)
    {
      result->is_none = TRUE;
      result->plain = *given;
      return TRUE;
    }
  if (type->written && result->alias_of >= 0)
    tensor = adj_op_call_tensor (call, (guint) result->alias_of);
  else
    tensor = b->wrapped ? given->tensor : level_wrap (call->cx, b->level, given->tensor, b->dim);
  if (tensor == NULL)
    return FALSE;
  result->is_none = FALSE;
  result->tensor = adj_tensor_ref (tensor);
  result->meta = *adj_tensor_get_meta (tensor);
  return TRUE;
}

static gboolean
put_results (const Batching *b, const AdjValue *value)
{
  AdjOpCall *call = b->call;
  gboolean one = !call->returns_list && call->schema->n_returns < 2;

  for (guint i = 0; i < call->n_results; i++)
    {
      if (!one && i >= value->n)
        return adj_op_call_fail (call, "gives %u results and not %u", value->n, call->n_results);
      if (!put_result (b, i, one ? value : &value->items[i]))
        return FALSE;
    }
  return TRUE;
}

/* Decomposes the operator; its parts are calls that enter this mode again. @declined (out): the
 * rule gives None in this case. */
static gboolean
take_apart (Batching *b, const AdjRule *rule, gboolean *declined)
{
  AdjContext *cx = b->call->cx;
  AdjMode *entry = adj_context_set_entry (cx, &b->level->mode);
  AdjRuleCall rule_call = { .cx = cx, .rule = rule, .args = b->call->args };
  AdjValue value;
  gboolean done;

  adj_rule_call_init (&rule_call);
  done = adj_rule_call_eval (&rule_call, 0, &value);
  *declined = done && value.kind == ADJ_VALUE_NONE;
  b->wrapped = done && !*declined;
  done = done && (*declined || put_results (b, &value));
  adj_rule_call_clear (&rule_call);
  adj_context_set_entry (cx, entry);
  return done;
}

static gboolean
draws (const AdjOp *op)
{
  return (op->flags & ADJ_OP_RANDOM) != 0;
}

/* Whether each entry draws its own numbers, even if no argument is batched. */
static gboolean
draws_for_entries (const Level *level, const AdjOpCall *call)
{
  return draws (call->op) && level->randomness != RANDOMNESS_SAME;
}

static gboolean
run (Batching *b)
{
  const AdjOp *op = b->call->op, *base = adj_op_get_base (op);
  BatchFunc rule = batching_find_rule (base != NULL ? base : op);
  const AdjRule *parts = NULL;
  gboolean declined = TRUE;
  AdjValue value;

  if (draws (b->call->op))
    rule = batching_draw;
  if (rule == NULL && !adj_schema_mutates (b->call->schema))
    parts = adj_rule_find (op, ADJ_RULE_DECOMPOSE, adj_context_get_release (b->call->cx));
  if (parts != NULL && !take_apart (b, parts, &declined))
    return FALSE;
  return !declined ||
         ((rule != NULL ? rule (b, &value) : batching_each (b, &value)) && put_results (b, &value));
}

static gboolean
call_batch (Batching *b)
{
  AdjContext *cx = b->call->cx;
  gboolean done;

  if (!adj_op_call_infer (b->call))
    return FALSE;
  adj_scope_begin (cx);
  done = run (b) && !adj_context_has_error (cx);
  adj_scope_end (cx);
  return done;
}

typedef struct
{
  const Level *level;
  gboolean found;
} Search;

static gboolean
peel_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Search *search = data;
  AdjTensor *tensor;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = level_peel (&search->level->mode, leaf->tensor);
  search->found |= level_unwrap (search->level, tensor, NULL) != NULL;
  *out = ADJ_TENSOR (adj_tensor_ref (tensor));
  return TRUE;
}

gboolean
batching_call (AdjMode *mode, AdjOpCall *call)
{
  Search search = { (const Level *) mode, FALSE };
  Batching b = { call, (Level *) mode, FALSE, 0 };
  const AdjValue *args = call->args;
  AdjValue peeled[ADJ_MAX_ARGUMENTS];
  AdjMode *entry;
  gboolean done;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    adj_value_map (&args[i], peel_leaf, &search, &peeled[i]);
  call->args = peeled;
  entry = adj_context_set_entry (call->cx, mode->below);
  done = search.found || draws_for_entries (b.level, call) ? call_batch (&b)
                                                           : adj_mode_call_below (mode, call);
  adj_context_set_entry (call->cx, entry);
  call->args = args;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    adj_value_clear (&peeled[i]);
  return done;
}
