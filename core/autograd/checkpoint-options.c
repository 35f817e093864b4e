/* SPDX-License-Identifier: MIT */
/* Reads the options of checkpoint() and the policy of a selective one.
 *
 * The keyword arguments of checkpoint() in graphs (autograd/SPEC.md §8.1).  A graph has no Python
 * functions: its context_fn is the list of operators whose results are kept, as
 * create_selective_checkpoint_contexts() takes one, or a dict of policies by operator.  For an
 * operator whose calls got different answers the dict has the list of them, in order. */

#include <string.h>

#include "autograd/autograd-private.h"
#include "ir/adj-value-internal.h"
#include "ops/adj-op-table.h"

/* The policies of one operator: one for all its calls, or one for each. */
typedef struct
{
  GArray *answers;              /* AdjRecompute */
  guint n_asked, n_asked_again; /* calls asked for in the forward, and in the recomputation */
} Answers;

static void
answers_free (gpointer data)
{
  Answers *self = data;

  g_array_unref (self->answers);
  g_free (self);
}

static AdjRecompute
look_up (const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data)
{
  Answers *self = g_hash_table_lookup (data, op);
  guint call;

  if (self == NULL)
    return ADJ_RECOMPUTE_PREFER_RECOMPUTE;
  if (self->answers->len == 1)
    return g_array_index (self->answers, AdjRecompute, 0);
  call = is_recompute ? self->n_asked_again++ : self->n_asked++;
  return call < self->answers->len ? g_array_index (self->answers, AdjRecompute, call)
                                   : ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

static gboolean
refuse (AdjContext *cx, const char *what, const char *why)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "checkpoint: %s %s", what, why);
  return FALSE;
}

/* @answer: a policy, or a list of them; %NULL: the results are kept */
static GArray *
read_answers (AdjContext *cx, const AdjValue *answer)
{
  gboolean is_list =
      answer != NULL && (answer->kind == ADJ_VALUE_LIST || answer->kind == ADJ_VALUE_TUPLE);
  guint n = is_list ? answer->n : 1;
  g_autoptr (GArray) answers = g_array_sized_new (FALSE, FALSE, sizeof (AdjRecompute), n);

  for (guint i = 0; i < n; i++)
    {
      const AdjValue *named = is_list ? &answer->items[i] : answer;
      AdjRecompute policy = ADJ_RECOMPUTE_MUST_SAVE;

      if (named != NULL)
        policy = named->kind == ADJ_VALUE_STRING ? adj_recompute_from_name (named->text)
                                                 : ADJ_N_RECOMPUTE;
      if (policy == ADJ_N_RECOMPUTE)
        {
          refuse (cx, "context_fn", "names a policy that there is not");
          return NULL;
        }
      g_array_append_val (answers, policy);
    }
  return g_steal_pointer (&answers);
}

static gboolean
add_policy (GHashTable *policies, AdjContext *cx, const AdjValue *op, const AdjValue *answer)
{
  g_autofree char *target = NULL;
  const AdjOp *found;
  GArray *answers;
  Answers *entry;

  if (op->kind != ADJ_VALUE_OP && op->kind != ADJ_VALUE_STRING)
    return refuse (cx, "context_fn", "lists something that is no operator");
  target = g_str_has_prefix (op->text, "torch.ops.") ? g_strdup (op->text)
                                                     : g_strconcat ("torch.ops.", op->text, NULL);
  found = adj_op_find (target);
  if (found == NULL)
    return refuse (cx, op->text,
                   "in context_fn is no operator with its overload (aten.mm.default, not aten.mm)");
  answers = read_answers (cx, answer);
  if (answers == NULL)
    return FALSE;
  entry = g_new0 (Answers, 1);
  entry->answers = answers;
  g_hash_table_insert (policies, (gpointer) found, entry);
  return TRUE;
}

static gboolean
read_policies (GHashTable *policies, AdjContext *cx, const AdjValue *from)
{
  gboolean is_dict = from->kind == ADJ_VALUE_DICT;

  if (!is_dict && from->kind != ADJ_VALUE_LIST && from->kind != ADJ_VALUE_TUPLE)
    return refuse (cx, "context_fn", "of a graph is a list of operators or a dict of policies");
  for (guint i = 0; i < from->n; i += is_dict ? 2 : 1)
    if (!add_policy (policies, cx, &from->items[i], is_dict ? &from->items[i + 1] : NULL))
      return FALSE;
  return TRUE;
}

/* (nullable) */
static const AdjValue *
find (const AdjValue *kwargs, const char *name)
{
  const AdjValue *value = adj_value_find_member (kwargs, name);

  return value != NULL && value->kind != ADJ_VALUE_NONE ? value : NULL;
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
  options->policy_data = g_hash_table_new_full (NULL, NULL, NULL, answers_free);
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
