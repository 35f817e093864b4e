/* SPDX-License-Identifier: MIT */
/* Making a plan, one step after the other, and running it. */

#include <gio/gio.h>

#include "base/adj-clock.h"
#include "base/adj-error.h"
#include "call/adj-context-internal.h"
#include "ir/adj-graph.h"
#include "plan/adj-plan-internal.h"
#include "plan/compiled-private.h"
#include "plan/gpu-space-private.h"
#include "plan/late-inputs-private.h"

/* -- making -- */

static void
clear_node (gpointer node)
{
  adj_value_clear (&((PlanNode *) node)->value);
}

static void
clear_input (gpointer input)
{
  adj_value_clear (&((PlanInput *) input)->plain);
}

static void
clear_buffer (gpointer buffer)
{
  adj_tensor_data_unref (((PlanBuffer *) buffer)->constant);
}

static GArray *
new_list (guint size, GDestroyNotify clear)
{
  GArray *list = g_array_new (FALSE, TRUE, size);

  if (clear != NULL)
    g_array_set_clear_func (list, clear);
  return list;
}

/* Fuses the regions that can be; the others run call by call. */
static void
fuse_regions (AdjPlan *plan, const gboolean *kept)
{
  for (guint32 i = 0; i < plan->regions->len; i++)
    {
      PlanRegion *region = plan_region (plan, i);

      if (region->kind != &plan_region_fused)
        continue;
      region->fused = plan_fuse (plan, region, kept);
      if (region->fused == NULL)
        {
          region->kind = &plan_region_operator;
          g_free (region->reason);
          region->reason = g_strdup ("not fused: so many operands or registers are too many");
        }
    }
}

static void
make (AdjPlan *plan, const AdjValue *inputs, guint n_inputs)
{
  g_autofree gboolean *kept = NULL;

  plan_walk (plan, inputs, n_inputs);
  if (plan->whole != NULL)
    return;
  for (guint32 i = 0; i < plan->calls->len; i++)
    plan->may_draw |= plan_call (plan, i)->in_turn;
  plan_form_regions (plan);
  plan_replace_inputs (plan);
  kept = plan_find_kept (plan);
  fuse_regions (plan, kept);
  plan_find_lives (plan, kept);
  plan_place_buffers (plan);
  plan_count_costs (plan);
}

AdjPlan *
adj_plan_new (
    AdjGraph *graph, const AdjValue *inputs, guint n_inputs, AdjPlanFlags flags, GError **error)
{
  gint64 started = adj_clock_now ();
  AdjPlan *plan;

  g_return_val_if_fail (graph != NULL, NULL);

  if (n_inputs != adj_graph_get_n_inputs (graph))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "the graph takes %u inputs, %u are given",
                   adj_graph_get_n_inputs (graph), n_inputs);
      return NULL;
    }
  plan = g_new0 (AdjPlan, 1);
  g_atomic_ref_count_init (&plan->ref_count);
  plan->graph = adj_graph_ref (graph);
  plan->observed = (flags & ADJ_PLAN_OBSERVED) != 0;
  plan->unrounded = (flags & ADJ_PLAN_UNROUNDED) != 0;
  plan->inputs = new_list (sizeof (PlanInput), clear_input);
  plan->outputs = new_list (sizeof (guint32), NULL);
  plan->nodes = new_list (sizeof (PlanNode), clear_node);
  plan->buffers = new_list (sizeof (PlanBuffer), clear_buffer);
  plan->values = new_list (sizeof (PlanValue), NULL);
  plan->calls = new_list (sizeof (PlanCall), (GDestroyNotify) plan_call_clear);
  plan->regions = new_list (sizeof (PlanRegion), (GDestroyNotify) plan_region_clear);
  make (plan, inputs, n_inputs);
  plan->planned_ns = adj_clock_now () - started;
  return plan;
}

AdjPlan *
adj_plan_ref (AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);

  g_atomic_ref_count_inc (&plan->ref_count);
  return plan;
}

void
adj_plan_unref (AdjPlan *plan)
{
  if (plan == NULL || !g_atomic_ref_count_dec (&plan->ref_count))
    return;

  plan_compiled_free (plan->compiled);
  g_array_unref (plan->inputs);
  g_array_unref (plan->outputs);
  g_array_unref (plan->nodes);
  g_array_unref (plan->buffers);
  g_array_unref (plan->values);
  g_array_unref (plan->calls);
  g_array_unref (plan->regions);
  g_free (plan->after);
  g_free (plan->states);
  g_free (plan->whole);
  if (!plan->borrows_graph)
    adj_graph_unref (plan->graph);
  g_free (plan);
}

gboolean
adj_plan_may_draw (const AdjPlan *plan)
{
  return plan->may_draw;
}

AdjGraph *
adj_plan_get_graph (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);

  return plan->graph;
}

const char *
adj_plan_get_refusal (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);

  return plan->whole;
}

guint64
adj_plan_get_arena_bytes (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->arena_bytes;
}

guint64
adj_plan_get_lower_bound (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->lower_bound;
}

gint64
adj_plan_get_planned_ns (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->planned_ns;
}

guint64
adj_plan_get_peak_bytes (const AdjPlan *plan)
{
  guint64 bytes;

  g_return_val_if_fail (plan != NULL, 0);

  bytes = plan->arena_bytes;
  for (guint32 i = 0; i < plan->buffers->len; i++)
    if (plan_buffer (plan, i)->memory != PLAN_MEMORY_ARENA)
      bytes += plan_buffer (plan, i)->n_bytes;
  return bytes;
}

guint64
adj_plan_space_get_peak_bytes (const AdjPlanSpace *space)
{
  return adj_plan_get_peak_bytes (space->plan) - space->spared;
}

guint
adj_plan_get_n_regions (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->regions->len;
}

/* -- running -- */

typedef struct
{
  AdjPlanSpace *space;
  guint32 *order; /* node indices, sorted by when their value is available */
  guint next;
} Telling;

static int
compare_after (gconstpointer a, gconstpointer b, gpointer data)
{
  const AdjPlan *plan = data;
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  if (plan->after[x] != plan->after[y])
    return plan->after[x] < plan->after[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void
begin_telling (Telling *telling, AdjPlanSpace *space)
{
  const AdjPlan *plan = space->plan;

  *telling = (Telling){ .space = space, .order = g_new (guint32, plan->nodes->len + 1) };
  for (guint32 i = 0; i < plan->nodes->len; i++)
    telling->order[i] = i;
  g_qsort_with_data (telling->order, (gint) plan->nodes->len, sizeof (guint32), compare_after,
                     (gpointer) plan);
}

/* Passes the nodes to the hook whose value is available after @n regions. */
static gboolean
tell_nodes (Telling *telling, guint32 n)
{
  AdjPlanSpace *space = telling->space;
  const AdjPlan *plan = space->plan;
  gboolean go_on = TRUE;

  for (; go_on && telling->next < plan->nodes->len; telling->next++)
    {
      guint32 node = telling->order[telling->next];
      g_auto (AdjValue) value = ADJ_NONE;

      if (plan->after[node] > n)
        break;
      if (plan_node (plan, node)->kind == PLAN_NODE_UNREAD)
        continue;
      value = plan_space_export (space, node, FALSE);
      go_on = space->hooks->node ((AdjNodeId){ node }, &value, space->hooks->data);
    }
  return go_on;
}

static gboolean
run_region (AdjPlanSpace *space, guint32 index)
{
  const AdjPlan *plan = space->plan;
  const PlanRegion *region = plan_region (plan, index);
  const AdjPlanHooks *hooks = space->hooks;

  return adj_context_may_go_on (space->cx) && plan_late_inputs_fetch (space->late, space, index) &&
         (space->gpu != NULL ? plan_gpu_run_region (space, index)
                             : region->kind->run (space, region)) &&
         (hooks == NULL || hooks->region == NULL ||
          hooks->region (index, plan->regions->len, hooks->data));
}

gboolean
plan_space_run_regions (AdjPlanSpace *space)
{
  gboolean told = space->plan->observed && space->hooks != NULL && space->hooks->node != NULL;
  guint32 n = space->plan->regions->len;
  gint64 started = adj_clock_now ();
  Telling telling = { 0 };
  gboolean done = TRUE;

  if (space->gpu != NULL && !told)
    return plan_gpu_run_regions (space);
  if (told)
    begin_telling (&telling, space);
  if (space->gpu != NULL)
    done = plan_gpu_begin_watched (space);
  done = done && (!told || tell_nodes (&telling, 0));
  for (guint32 i = 0; i < n && done; i++)
    {
      done = run_region (space, i) && (!told || tell_nodes (&telling, i + 1));
      plan_late_inputs_release (space->late, i);
    }
  g_free (telling.order);
  if (done && space->gpu == NULL)
    plan_compiled_note_run (space->plan, adj_clock_now () - started);
  return done && (space->gpu == NULL || plan_gpu_end_watched (space));
}

gboolean
adj_plan_space_run (AdjPlanSpace *space,
                    const AdjValue *inputs,
                    guint n_inputs,
                    const AdjPlanHooks *hooks,
                    AdjValue *output)
{
  gboolean done;

  g_return_val_if_fail (space != NULL && output != NULL, FALSE);

  *output = ADJ_NONE;
  space->hooks = hooks;
  done = !adj_context_has_error (space->cx) && plan_space_bind (space, inputs, n_inputs) &&
         plan_space_run_regions (space);
  if (done)
    *output = plan_space_export (space, adj_graph_get_output (space->plan->graph).index, TRUE);
  if (done && adj_context_has_error (space->cx))
    {
      adj_value_clear (output);
      done = FALSE;
    }
  if (!done && !adj_context_has_error (space->cx))
    adj_context_fail (space->cx, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the run was stopped");
  space->hooks = NULL;
  plan_space_unbind (space);
  return done;
}
