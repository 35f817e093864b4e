/* SPDX-License-Identifier: MIT */
/* What checkpoint() takes by keyword, as graphs hold it (partitioner §1.2, §2.5).  A graph has no
 * functions of Python: its context_fn is the list of operators whose results are kept, as
 * create_selective_checkpoint_contexts() takes one, or a dict of policies by operator. */

#include <string.h>

#include "autograd/autograd-private.h"

static AdjRecompute
look_up (const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data)
{
  gpointer policy = g_hash_table_lookup (data, op);

  return policy != NULL ? (AdjRecompute) GPOINTER_TO_UINT (policy) : ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

static gboolean
refuse (AdjContext *cx, const char *what, const char *why)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "checkpoint: %s %s", what, why);
  return FALSE;
}

static gboolean
add_policy (GHashTable *policies, AdjContext *cx, const AdjValue *op, AdjRecompute policy)
{
  g_autofree char *target = NULL;
  const AdjOp *found;

  if (op->kind != ADJ_VALUE_OP && op->kind != ADJ_VALUE_STRING)
    return refuse (cx, "context_fn", "lists something that is no operator");
  target = g_str_has_prefix (op->text, "torch.ops.") ? g_strdup (op->text)
                                                     : g_strconcat ("torch.ops.", op->text, NULL);
  found = adj_op_find (target);
  if (found == NULL)
    return refuse (cx, op->text,
                   "in context_fn is no operator with its overload (aten.mm.default, not aten.mm)");
  g_hash_table_insert (policies, (gpointer) found, GUINT_TO_POINTER (policy));
  return TRUE;
}

static gboolean
read_policies (GHashTable *policies, AdjContext *cx, const AdjValue *from)
{
  gboolean is_dict = from->kind == ADJ_VALUE_DICT;

  if (!is_dict && from->kind != ADJ_VALUE_LIST && from->kind != ADJ_VALUE_TUPLE)
    return refuse (cx, "context_fn", "of a graph is a list of operators or a dict of policies");
  for (guint i = 0; i < from->n; i += is_dict ? 2 : 1)
    {
      const AdjValue *named = is_dict ? &from->items[i + 1] : NULL;
      AdjRecompute policy = ADJ_RECOMPUTE_MUST_SAVE;

      if (named != NULL)
        policy = named->kind == ADJ_VALUE_STRING ? adj_recompute_from_name (named->text)
                                                 : ADJ_N_RECOMPUTE;
      if (policy == ADJ_N_RECOMPUTE)
        return refuse (cx, "context_fn", "names a policy that there is not");
      if (!add_policy (policies, cx, &from->items[i], policy))
        return FALSE;
    }
  return TRUE;
}

/* (nullable) */
static const AdjValue *
find (const AdjValue *kwargs, const char *name)
{
  for (guint i = 0; kwargs != NULL && kwargs->kind == ADJ_VALUE_DICT && i + 1 < kwargs->n; i += 2)
    if (kwargs->items[i].kind == ADJ_VALUE_STRING && g_str_equal (kwargs->items[i].text, name) &&
        kwargs->items[i + 1].kind != ADJ_VALUE_NONE)
      return &kwargs->items[i + 1];
  return NULL;
}

gboolean
checkpoint_options_read (AdjCheckpointOptions *options, AdjContext *cx, const AdjValue *kwargs)
{
  const AdjValue *check = find (kwargs, "determinism_check");
  const AdjValue *policies = find (kwargs, "context_fn");
  const AdjValue *debug = find (kwargs, "debug");

  *options = (AdjCheckpointOptions){ 0 };
  if (check != NULL && check->kind == ADJ_VALUE_STRING && g_str_equal (check->text, "none"))
    options->no_metadata_check = TRUE;
  else if (check != NULL &&
           (check->kind != ADJ_VALUE_STRING || !g_str_equal (check->text, "default")))
    return refuse (cx, "determinism_check", "is 'default' or 'none'");
  if (policies == NULL)
    return TRUE;
  if (debug != NULL && debug->kind == ADJ_VALUE_BOOL && debug->boolean)
    return refuse (cx, "debug", "cannot be had together with a context_fn");
  options->policy = look_up;
  options->policy_data = g_hash_table_new (NULL, NULL);
  options->policy_destroy = (GDestroyNotify) g_hash_table_unref;
  if (read_policies (options->policy_data, cx, policies))
    return TRUE;
  checkpoint_options_clear (options);
  return FALSE;
}

void
checkpoint_options_clear (const AdjCheckpointOptions *options)
{
  if (options != NULL && options->policy_destroy != NULL)
    options->policy_destroy (options->policy_data);
}
