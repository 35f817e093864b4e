/* SPDX-License-Identifier: MIT */

/* Builds an operator, of the table or of a program, from its record. */

#include "call/adj-schema-internal.h"
#include "ops/adj-ops.h"
#include "ops/table-private.h"

gboolean
op_entry_init (
    OpEntry *entry, AdjArena *arena, const AdjOp *record, const char *schema, GError **error)
{
  entry->op = *record;
  entry->op.schema = schema;
  entry->op.parsed = adj_schema_parse (schema, arena, error);
  if (entry->op.parsed == NULL || record->expr == NULL)
    return entry->op.parsed != NULL;
  entry->body = adj_expr_parse (arena, record->expr, -1, error);
  return entry->body != NULL;
}

void
op_entry_fill (OpEntry *entry)
{
  if (entry->body == NULL)
    return;
  if (entry->op.meta == NULL && entry->op.traced == NULL &&
      adj_pointwise_takes_number (entry->op.parsed))
    entry->op.traced = adj_pointwise_traced;
  if (entry->op.meta == NULL)
    entry->op.meta = adj_pointwise_meta;
  if (entry->op.kernel == NULL)
    entry->op.kernel = adj_pointwise_kernel;
  if (entry->op.flops == NULL)
    entry->op.flops = adj_pointwise_flops;
}

/* Fails for a token on an operator that writes: tokens order values only. */
static gboolean
check_token (const AdjOp *op, GError **error)
{
  if ((op->flags & ADJ_OP_TOKEN) == 0 || !adj_schema_mutates (op->parsed))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "'%s' writes, so that no token can order it",
               op->schema);
  return FALSE;
}

/* PyTorch orders operators with a C++ object, whose state may change, unless they write tensors or
 * return views. */
static void
order_by_objects (AdjOp *op)
{
  if (adj_schema_takes_scripted (op->parsed) && !adj_schema_mutates (op->parsed) &&
      !adj_schema_is_view (op->parsed) && (op->flags & ADJ_OP_UNORDERED) == 0)
    op->flags |= ADJ_OP_EFFECT | ADJ_OP_TOKEN;
}

AdjOp *
adj_op_new_own (const AdjOp *record, GError **error)
{
  OpEntry *entry = g_new0 (OpEntry, 1);

  entry->arena = adj_arena_new ();
  if (!op_entry_init (entry, entry->arena, record, record->schema, error) ||
      !check_token (&entry->op, error))
    {
      adj_op_free_own (&entry->op);
      return NULL;
    }
  order_by_objects (&entry->op);
  op_entry_fill (entry);
  return &entry->op;
}

void
adj_op_free_own (AdjOp *op)
{
  OpEntry *entry = op_entry (op);

  if (entry->free_rules != NULL)
    entry->free_rules (entry->rules);
  op_entry_drop_programs (entry);
  adj_arena_free (entry->arena);
  g_free (entry);
}

gboolean
adj_op_is_own (const AdjOp *op)
{
  return op_entry (op)->arena != NULL;
}

void
adj_op_set_rules (AdjOp *op, gpointer rules, GDestroyNotify free_rules)
{
  op_entry (op)->free_rules = free_rules;
  g_atomic_pointer_set (&op_entry (op)->rules, rules);
}

gconstpointer
adj_op_get_rules (const AdjOp *op)
{
  return g_atomic_pointer_get (&op_entry (op)->rules);
}
