/* SPDX-License-Identifier: MIT */
/* The table of decompositions, and the mode that replaces an operator by its rule. */

#include "trace/adj-decompose.h"

#include "base/adj-names-internal.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-release-facts.h"
#include "rules/adj-rule.h"

static const AdjDecompositions tables[] = {
  { "core", "PyTorch's core operators, as torch.export takes graphs down to", ADJ_TABLE_CORE },
  { "inductor", "what PyTorch's Inductor lowers from", ADJ_TABLE_INDUCTOR },
};

guint
adj_decompositions_get_n (void)
{
  return G_N_ELEMENTS (tables);
}

const AdjDecompositions *
adj_decompositions_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (tables), NULL);

  return &tables[index];
}

static const char *
name_of (guint i)
{
  return tables[i].name;
}

const AdjDecompositions *
adj_decompositions_find (const char *name, GError **error)
{
  gint i = adj_names_find ("table of decompositions", name_of, G_N_ELEMENTS (tables), name, error);

  return i >= 0 ? &tables[i] : NULL;
}

typedef struct
{
  AdjMode parent;
  const AdjDecompositions *table;
} DecomposeMode;

/* Gives @call its results; the shape rule decides which of them are views. */
static gboolean
put_results (AdjOpCall *call, const AdjValue *value)
{
  const AdjValue *items = adj_value_is_container (value) ? value->items : value;
  guint n = adj_value_is_container (value) ? value->n : 1;

  if (!adj_op_call_infer (call))
    return FALSE;
  if (n != call->n_results)
    return adj_op_call_fail (call, "its decomposition gives %u results, not %u", n,
                             call->n_results);
  for (guint i = 0; i < n; i++)
    {
      call->results[i].is_none = items[i].kind != ADJ_VALUE_TENSOR;
      if (call->results[i].is_none)
        continue;
      call->results[i].meta = *adj_tensor_get_meta (items[i].tensor);
      call->results[i].tensor = adj_keep (items[i].tensor);
    }
  return TRUE;
}

/* @declined: the rule gives None, since it does not apply to these arguments. */
static gboolean
evaluate (AdjOpCall *call, const AdjRule *rule, gboolean *declined)
{
  AdjRuleCall rule_call = { .cx = call->cx, .rule = rule, .args = call->args };
  AdjValue value;
  gboolean done;

  adj_scope_begin (call->cx);
  adj_rule_call_init (&rule_call);
  done = adj_rule_call_eval (&rule_call, 0, &value);
  *declined = done && value.kind == ADJ_VALUE_NONE;
  done = done && (*declined || put_results (call, &value));
  adj_rule_call_clear (&rule_call);
  adj_scope_end (call->cx);
  return done;
}

static gboolean
stays_whole (const DecomposeMode *self, const AdjOpCall *call)
{
  return self->table->bit == ADJ_TABLE_TRACED && adj_op_release_has (call, ADJ_FACT_TRACED_WHOLE);
}

static gboolean
decompose_call (AdjMode *mode, AdjOpCall *call)
{
  const DecomposeMode *self = (const DecomposeMode *) mode;
  const AdjRule *rule = NULL;
  AdjPlace before = *adj_context_get_place (call->cx);
  AdjPlace place = before;
  AdjMode *entry;
  gboolean declined, done;

  if ((call->op->tables & self->table->bit) != 0 && !stays_whole (self, call))
    rule = adj_rule_find (call->op, ADJ_RULE_DECOMPOSE, adj_context_get_release (call->cx));
  if (rule == NULL)
    return adj_mode_call_below (mode, call);

  if (place.original == NULL)
    place.original = call->schema->target;
  adj_context_set_place (call->cx, &place);
  entry = adj_context_set_entry (call->cx, mode);
  done = evaluate (call, rule, &declined);
  adj_context_set_entry (call->cx, entry);
  adj_context_set_place (call->cx, &before);
  return declined ? adj_mode_call_below (mode, call) : done;
}

static const AdjModeClass decompose_class = { .name = "decompose", .call = decompose_call };

AdjMode *
adj_decompose_mode_new (const AdjDecompositions *table)
{
  DecomposeMode *mode = g_new0 (DecomposeMode, 1);

  mode->parent.klass = &decompose_class;
  mode->table = table;
  return &mode->parent;
}
