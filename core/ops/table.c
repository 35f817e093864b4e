/* SPDX-License-Identifier: MIT */
/* The table of operators, made at first use from all records, and queries on records. */

#include <string.h>

#include "call/adj-schema-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/adj-packet.h"
#include "ops/complex-body.h"
#include "ops/table-private.h"

static const OpFamily *const families[] = {
#define FAMILY(name) &adj_family_##name,
#include "ops/families.inc"
#undef FAMILY
};

/* Functions of torch that are written in terms of operators. */
static const AdjOp functions[] = {
#define SPACE(prefix, stem)
#define ALIAS(name, packet)
#define FUNCTION(text, line, rule)                                                                 \
  { .schema = text, .help = line, .decompose = rule, .flags = ADJ_OP_COMPOSITE },
#include "ops/torch.inc"
#undef SPACE
#undef ALIAS
#undef FUNCTION
};

/* Records first, in order, so that an AdjOpId is an index; then their variants, then functions. */
typedef struct
{
  AdjArena *arena;
  OpEntry *entries;
  guint n;
  guint n_ops; /* number of operators, without functions */
  GHashTable *by_target;
} Table;

static OpEntry *
add_entry (Table *table, const AdjOp *record, const char *schema)
{
  OpEntry *entry = &table->entries[table->n++];
  GError *error = NULL;

  if (!op_entry_init (entry, table->arena, record, schema, &error))
    g_error ("%s: %s", schema, error->message);
  g_hash_table_insert (table->by_target, (gpointer) entry->op.parsed->target, entry);
  return entry;
}

static void
add_record (Table *table, const AdjOp *record)
{
  op_entry_fill (add_entry (table, record, record->schema));
}

/* @schema (transfer full) (nullable) */
static void
add_variant (Table *table, const OpEntry *base, char *schema, void (*init) (AdjOp *op))
{
  OpEntry *variant;

  if (schema == NULL)
    return;
  variant = add_entry (table, &base->op, adj_arena_strdup (table->arena, schema));
  variant->base = &base->op;
  memset (variant->op.autocast, 0, sizeof variant->op.autocast);
  init (&variant->op);
  g_free (schema);
}

static void
add_variants (Table *table, const OpEntry *base)
{
  const AdjSchema *schema = base->op.parsed;
  AdjOpFlags flags = base->op.flags;

  if ((flags & ADJ_OP_INPLACE) != 0)
    add_variant (table, base, adj_variant_inplace_schema (&base->op, schema),
                 adj_schema_is_view (schema) ? adj_variant_init_turn : adj_variant_init_write);
  if ((flags & ADJ_OP_OUT) != 0)
    add_variant (table, base, adj_variant_out_schema (&base->op, schema), adj_variant_init_write);
  if ((flags & ADJ_OP_COPY) != 0)
    add_variant (table, base, adj_variant_copy_schema (schema), adj_variant_init_copy);
  if (base->op.prim != NULL)
    add_variant (table, base, g_strdup (base->op.prim), adj_variant_init_prim);
}

static Table *
make_table (void)
{
  Table *table = g_new0 (Table, 1);

  table->arena = adj_arena_new ();
  table->entries = g_new0 (OpEntry, 4 * ADJ_N_OPS + G_N_ELEMENTS (functions));
  table->by_target = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint f = 0; f < G_N_ELEMENTS (families); f++)
    for (guint i = 0; i < families[f]->n; i++)
      add_record (table, &families[f]->ops[i]);
  g_assert (table->n == ADJ_N_OPS);
  for (guint i = 0; i < ADJ_N_OPS; i++)
    add_variants (table, &table->entries[i]);
  table->n_ops = table->n;
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    add_entry (table, &functions[i], functions[i].schema);
  return table;
}

/* Made at first use, then constant except for the programs of its entries. */
static const Table *
get_table (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, GPOINTER_TO_SIZE (make_table ()));
  return GSIZE_TO_POINTER (once);
}

guint
adj_ops_get_n (void)
{
  return get_table ()->n_ops;
}

const AdjOp *
adj_ops_get (guint index)
{
  const Table *table = get_table ();

  g_return_val_if_fail (index < table->n_ops, NULL);

  return &table->entries[index].op;
}

guint
adj_functions_get_n (void)
{
  return G_N_ELEMENTS (functions);
}

const AdjOp *
adj_functions_get (guint index)
{
  const Table *table = get_table ();

  g_return_val_if_fail (index < G_N_ELEMENTS (functions), NULL);

  return &table->entries[table->n_ops + index].op;
}

const AdjOp *
adj_op (AdjOpId id)
{
  g_return_val_if_fail (id < ADJ_N_OPS, NULL);

  return adj_ops_get (id);
}

const AdjOp *
adj_op_find (const char *target)
{
  const OpEntry *entry = g_hash_table_lookup (get_table ()->by_target, target);

  return entry != NULL ? &entry->op : NULL;
}

gboolean
adj_op_is_pure (const AdjOp *op)
{
  return (op->flags & (ADJ_OP_EFFECT | ADJ_OP_RANDOM)) == 0 &&
         !adj_schema_mutates (adj_op_get_schema (op));
}

const AdjOp *
adj_op_get_base (const AdjOp *op)
{
  return op_entry (op)->base;
}

const AdjOp *
adj_op_get_functional (const AdjOp *op)
{
  const OpEntry *entry = op_entry (op);
  const AdjSchema *schema = op->parsed;
  gsize stem = strlen (schema->name);
  const char *overload = *schema->overload != '\0' ? schema->overload : "default";
  g_autofree char *target = NULL;

  if (!adj_schema_mutates (schema))
    return NULL;
  if (entry->base != NULL)
    return entry->base;
  if (g_str_has_suffix (schema->name, "_"))
    target = g_strdup_printf ("torch.ops.%s.%.*s.%s", schema->ns, (int) stem - 1, schema->name,
                              overload);
  else
    target = g_strdup_printf ("torch.ops.%s.%s_functional.%s", schema->ns, schema->name, overload);
  return adj_op_find (target);
}

const AdjExpr *
adj_op_get_body (const AdjOp *op)
{
  return op_entry (op)->body;
}

double
adj_op_call_get_flops (const AdjOpCall *call)
{
  return call->op->flops != NULL ? call->op->flops (call) : 0;
}

double
adj_op_call_get_reduction (const AdjOpCall *call)
{
  return call->op->reduction != NULL ? call->op->reduction (call) : 1;
}

AdjBand
adj_op_call_get_band (const AdjOpCall *call)
{
  gboolean complex = FALSE;

  for (guint i = 0; call->op->expr != NULL && i < call->schema->n_arguments; i++)
    complex |= op_argument_is_complex (call, i);
  return complex ? MAX (call->op->band, ADJ_BAND_SMOOTH) : call->op->band;
}
