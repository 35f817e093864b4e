/* SPDX-License-Identifier: MIT */
/* A plan: which nodes are saved and where nodes are computed; completes it and extracts the two
 * graphs. */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/plan-private.h"

Plan *
plan_new (const Joint *joint, const AdjPartitionOptions *options, const char *partitioner)
{
  Plan *plan = g_new0 (Plan, 1);

  plan->joint = joint;
  plan->options = options;
  plan->partitioner = partitioner;
  plan->tensors = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->sizes = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->states = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->order = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->rule = g_new0 (guint8, joint->n);
  plan->because = g_new (guint32, joint->n);
  memset (plan->because, 0xff, sizeof (guint32) * joint->n);
  plan->in_forward = g_new0 (guint8, joint->n);
  plan->in_backward = g_new0 (guint8, joint->n);
  plan->is_written = g_new0 (guint8, joint->n);
  return plan;
}

void
plan_free (Plan *plan)
{
  if (plan == NULL)
    return;
  cut_free (plan->cut);
  g_array_unref (plan->tensors);
  g_array_unref (plan->sizes);
  g_array_unref (plan->states);
  g_array_unref (plan->order);
  g_free (plan->rule);
  g_free (plan->because);
  g_free (plan->in_forward);
  g_free (plan->in_backward);
  g_free (plan->is_written);
  g_free (plan);
}

void
plan_save (Plan *plan, guint node)
{
  guint32 item = node;

  g_array_append_val (joint_is_symbol (plan->joint, node) ? plan->sizes : plan->tensors, item);
}

void
plan_take_cut (Plan *plan, Cut *cut)
{
  plan->cut = cut;
  for (guint i = 0; i < cut->n; i++)
    if (cut->saved[i])
      plan_save (plan, i);
}

/* -- extraction -- */

/* Whether @i can be computed if its inputs can. */
static gboolean
may_compute (const Joint *joint, const Extraction *extraction, guint i)
{
  if (joint->gone[i] || joint_is_placeholder (joint, i) || joint->kind[i] == NODE_OUTPUT)
    return FALSE;
  if (joint_stays_backward (joint, i))
    return extraction->backward;
  /* Nodes with effects run once: in forward, or in backward if they depend on a tangent. */
  if ((joint->traits[i] & OP_EFFECT) != 0)
    return extraction->backward == (joint->because[i] != NOBODY);
  return TRUE;
}

/* Whether node @i runs in this graph although its results are unread: it writes or has an effect.
 */
static gboolean
happens (const Joint *joint, const Extraction *extraction, guint i)
{
  if ((joint->traits[i] & OP_EFFECT) != 0)
    return TRUE;
  return joint_moves_generator (joint, i) && extraction->backward == (joint->because[i] != NOBODY);
}

static void
find_computable (const Joint *joint, const Extraction *extraction, guint8 *computable)
{
  for (guint i = 0; i < joint->n; i++)
    {
      gboolean valid = extraction->given[i];

      if (!valid && may_compute (joint, extraction, i))
        {
          valid = TRUE;
          for (guint32 k = joint->inputs.begin[i]; valid && k < joint->inputs.begin[i + 1]; k++)
            valid = computable[joint->inputs.items[k]];
        }
      computable[i] = valid;
    }
}

static gboolean
cannot_compute (const Joint *joint, guint output, const guint8 *computable, GError **error)
{
  guint missing = output;

  for (guint32 k = joint->inputs.begin[missing]; k < joint->inputs.begin[missing + 1]; k++)
    if (!computable[joint->inputs.items[k]])
      {
        missing = joint->inputs.items[k];
        k = joint->inputs.begin[missing];
        if (joint->inputs.begin[missing] == joint->inputs.begin[missing + 1])
          break;
        k--;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "'%s' cannot be computed: '%s' is neither an input there nor computable",
               joint_name (joint, output), joint_name (joint, missing));
  joint_blame (joint, missing, error);
  joint_blame (joint, output, error);
  return FALSE;
}

gboolean
plan_extract (const Joint *joint, const Extraction *extraction, guint8 *used, GError **error)
{
  g_autofree guint8 *computable = g_new0 (guint8, joint->n);

  find_computable (joint, extraction, computable);
  memset (used, 0, joint->n);
  for (guint i = 0; i < extraction->n_outputs; i++)
    {
      guint output = extraction->outputs[i];

      if (output == NOBODY)
        continue;
      if (!computable[output])
        return cannot_compute (joint, output, computable, error);
      used[output] = TRUE;
    }
  for (guint i = joint->n; i-- > 0;)
    {
      if (computable[i] && !extraction->given[i] && happens (joint, extraction, i))
        used[i] = TRUE;
      if (!used[i] || extraction->given[i])
        continue;
      for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
        used[joint->inputs.items[k]] = TRUE;
    }
  return TRUE;
}

static void
give (GArray *nodes, guint8 *given)
{
  for (guint i = 0; i < nodes->len; i++)
    given[plan_item (nodes, i)] = TRUE;
}

static gboolean
extract_backward (const Plan *plan, guint8 *used, GError **error)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *given = g_new0 (guint8, joint->n);
  g_autoptr (GArray) outputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  Extraction extraction = { given, NULL, 0, TRUE };

  for (guint i = 0; i < joint->n; i++)
    given[i] = joint->kind[i] == NODE_TANGENT || joint->kind[i] == NODE_BACKWARD_RNG;
  give (plan->tensors, given);
  give (plan->sizes, given);
  for (guint i = joint->n_forward_outputs; i < joint->n_outputs; i++)
    {
      guint32 output = joint_output (joint, i);

      g_array_append_val (outputs, output);
    }
  extraction.outputs = (const guint32 *) (gpointer) outputs->data;
  extraction.n_outputs = outputs->len;
  return plan_extract (joint, &extraction, used, error);
}

static gboolean
extract_forward (const Plan *plan, guint8 *used, GError **error)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *given = g_new0 (guint8, joint->n);
  g_autoptr (GArray) outputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  Extraction extraction = { given, NULL, 0, FALSE };

  for (guint i = 0; i < joint->n; i++)
    given[i] = joint_is_input (joint, i);
  for (guint i = 0; i < joint->n_forward_outputs; i++)
    {
      guint32 output = joint_output (joint, i);

      g_array_append_val (outputs, output);
    }
  g_array_append_vals (outputs, plan->tensors->data, plan->tensors->len);
  g_array_append_vals (outputs, plan->sizes->data, plan->sizes->len);
  extraction.outputs = (const guint32 *) (gpointer) outputs->data;
  extraction.n_outputs = outputs->len;
  return plan_extract (joint, &extraction, used, error);
}

/* Removes from @nodes duplicates and nodes that @used does not mark. */
static void
keep_used (GArray *nodes, const guint8 *used, guint n)
{
  g_autofree guint8 *seen = g_new0 (guint8, n);
  guint kept = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      guint32 node = plan_item (nodes, i);

      if (seen[node] || (used != NULL && !used[node]))
        continue;
      seen[node] = TRUE;
      g_array_index (nodes, guint32, kept++) = node;
    }
  g_array_set_size (nodes, kept);
}

/* Unmarks the nodes that are inputs of this graph, so that the computed ones are left. */
static void
mark_computed (const Joint *joint, GArray *tensors, GArray *sizes, guint8 *computed)
{
  for (guint i = 0; i < joint->n; i++)
    if (joint_is_placeholder (joint, i))
      computed[i] = FALSE;
  for (guint i = 0; tensors != NULL && i < tensors->len; i++)
    computed[plan_item (tensors, i)] = FALSE;
  for (guint i = 0; sizes != NULL && i < sizes->len; i++)
    computed[plan_item (sizes, i)] = FALSE;
}

/* The source of @node through detach calls; @node itself if it is no detach. */
static guint32
undetached (const Joint *joint, guint32 node)
{
  while (g_str_equal (adj_graph_get_node (joint->graph, node)->target,
                      "torch.ops.aten.detach.default") &&
         joint->inputs.begin[node] < joint->inputs.begin[node + 1])
    node = joint->inputs.items[joint->inputs.begin[node]];
  return node;
}

/* Saves x instead of detach (x): the same memory, and the plan is easier to read. */
static gboolean
save_undetached (Plan *plan)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint32 node = plan_item (plan->tensors, i), from = undetached (plan->joint, node);

      if (from == node || joint_must_recompute (plan->joint, from))
        continue;
      g_array_index (plan->tensors, guint32, i) = from;
      changed = TRUE;
    }
  return changed;
}

/* If a view is saved although backward recomputes its owner, saves the owner instead, which keeps
 * no more memory; the view is recomputed.  If the owner must be recomputed by its tag, the view is
 * not saved either. */
static gboolean
save_owners (Plan *plan)
{
  const Joint *joint = plan->joint;
  gboolean changed = FALSE;
  guint kept = 0;

  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint32 node = plan_item (plan->tensors, i), owner = joint->owner[node];

      if (owner != node && plan->in_backward[owner] && joint->kind[owner] == NODE_CALL &&
          joint->value[owner] == VALUE_TENSOR && !joint->in_backward[owner] &&
          !(joint_must_recompute (joint, owner) &&
            joint->recompute[node] == ADJ_RECOMPUTE_MUST_SAVE))
        {
          changed = TRUE;
          if (joint_must_recompute (joint, owner))
            continue;
          node = owner;
        }
      g_array_index (plan->tensors, guint32, kept++) = node;
    }
  g_array_set_size (plan->tensors, kept);
  return changed;
}

/* Saves owners of memory rather than aliases.  Returns whether anything changed. */
static gboolean
save_memory (Plan *plan)
{
  gboolean undetached_any = save_undetached (plan);

  return save_owners (plan) || undetached_any;
}

static int
compare_nodes (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Drops saved values that backward does not need. */
static gboolean
keep_needed (Plan *plan, GError **error)
{
  const guint n = plan->joint->n;

  keep_used (plan->tensors, NULL, n);
  keep_used (plan->sizes, NULL, n);
  if (!extract_backward (plan, plan->in_backward, error))
    return FALSE;
  if (!plan->options->compat && save_memory (plan))
    {
      if (!plan->keeps_order)
        g_array_sort (plan->tensors, compare_nodes);
      keep_used (plan->tensors, NULL, n);
      if (!extract_backward (plan, plan->in_backward, error))
        return FALSE;
    }
  keep_used (plan->tensors, plan->in_backward, n);
  keep_used (plan->sizes, plan->in_backward, n);
  return TRUE;
}

/* Moves objects behind the tensors; keeps the order within both. */
static void
put_objects_last (Plan *plan)
{
  g_autoptr (GArray) objects = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n = 0;

  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint32 node = plan_item (plan->tensors, i);

      if (adj_graph_get_node (plan->joint->graph, node)->val.kind == ADJ_VALUE_OPAQUE_OBJECT)
        g_array_append_val (objects, node);
      else
        g_array_index (plan->tensors, guint32, n++) = node;
    }
  g_array_set_size (plan->tensors, n);
  g_array_append_vals (plan->tensors, objects->data, objects->len);
}

gboolean
plan_complete (Plan *plan, GError **error)
{
  const Joint *joint = plan->joint;

  if (plan->is_complete)
    return TRUE;
  if (!keep_needed (plan, error))
    return FALSE;
  put_objects_last (plan);
  plan_bind_symbols (plan);
  if (!extract_forward (plan, plan->in_forward, error) ||
      !extract_backward (plan, plan->in_backward, error))
    return FALSE;
  mark_computed (joint, NULL, NULL, plan->in_forward);
  mark_computed (joint, plan->tensors, plan->sizes, plan->in_backward);
  plan_find_random (plan);
  plan_find_written (plan);
  plan_order_backward (plan);
  plan->is_complete = TRUE;
  return TRUE;
}
