/* SPDX-License-Identifier: MIT */
/* Spaces that are kept with the graph of their plan until the next run. */

#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "plan/adj-plan-internal.h"
#include "plan/gpu-space-private.h"

/* Spaces kept per graph: for different kinds of inputs, or for concurrent runs. */
#define MAX_KEPT 4

typedef struct
{
  GMutex lock;
  GQueue spaces; /* AdjPlanSpace (owned), the last used first */
} KeptSpaces;

static gpointer
kept_new (const AdjGraph *graph)
{
  KeptSpaces *kept = g_new0 (KeptSpaces, 1);

  g_mutex_init (&kept->lock);
  return kept;
}

static void
kept_free (gpointer data)
{
  KeptSpaces *kept = data;

  g_queue_clear_full (&kept->spaces, (GDestroyNotify) adj_plan_space_free);
  g_mutex_clear (&kept->lock);
  g_free (kept);
}

static KeptSpaces *
kept_of (const AdjGraph *graph)
{
  static const AdjGraphAnalysis kept_spaces = { kept_new, kept_free };

  return (KeptSpaces *) adj_graph_analyse (graph, &kept_spaces);
}

/* Whether the space has its memory on @gpu (nullable): on the host. */
static gboolean
is_on (const AdjPlanSpace *space, const AdjGpu *gpu)
{
  if (space->gpu == NULL || gpu == NULL)
    return space->gpu == NULL && gpu == NULL;
  return adj_gpu_is_same (space->gpu->gpu, gpu) &&
         space->gpu->generation == adj_gpu_get_generation (gpu);
}

static gboolean
has_flags (const AdjPlan *plan, AdjPlanFlags flags)
{
  return plan->observed == ((flags & ADJ_PLAN_OBSERVED) != 0) &&
         plan->unrounded == ((flags & ADJ_PLAN_UNROUNDED) != 0);
}

static AdjPlanSpace *
find_kept (
    KeptSpaces *kept, const AdjValue *inputs, guint n_inputs, AdjPlanFlags flags, const AdjGpu *gpu)
{
  AdjPlanSpace *found = NULL;

  g_mutex_lock (&kept->lock);
  for (GList *link = kept->spaces.head; link != NULL && found == NULL; link = link->next)
    {
      AdjPlanSpace *space = link->data;

      if (!has_flags (space->plan, flags) || !is_on (space, gpu) ||
          !plan_space_accepts (space, inputs, n_inputs))
        continue;
      found = space;
      g_queue_delete_link (&kept->spaces, link);
      break;
    }
  g_mutex_unlock (&kept->lock);
  return found;
}

AdjPlanSpace *
adj_plan_space_take (AdjGraph *graph,
                     const AdjValue *inputs,
                     guint n_inputs,
                     AdjPlanFlags flags,
                     AdjGpu *gpu,
                     char **refusal,
                     GError **error)
{
  AdjPlanSpace *space = find_kept (kept_of (graph), inputs, n_inputs, flags, gpu);
  g_autoptr (AdjPlan) plan = NULL;

  *refusal = NULL;
  if (space != NULL)
    {
      plan_space_renew_context (space);
      return space;
    }
  plan = adj_plan_new (graph, inputs, n_inputs, flags, error);
  if (plan == NULL)
    return NULL;
  *refusal = g_strdup (plan->whole);
  if (*refusal != NULL)
    return NULL;
  /* The graph owns the space, so the plan must not hold a reference to the graph. */
  plan->borrows_graph = TRUE;
  adj_graph_unref (graph);
  return gpu != NULL ? adj_plan_space_new_on (plan, gpu, error) : adj_plan_space_new (plan);
}

void
adj_plan_space_give (AdjPlanSpace *space)
{
  KeptSpaces *kept = kept_of (space->plan->graph);
  AdjPlanSpace *old = NULL;

  g_mutex_lock (&kept->lock);
  g_queue_push_head (&kept->spaces, space);
  if (kept->spaces.length > MAX_KEPT)
    old = g_queue_pop_tail (&kept->spaces);
  g_mutex_unlock (&kept->lock);
  adj_plan_space_free (old);
}

AdjPlan *
adj_plan_space_get_plan (AdjPlanSpace *space)
{
  return space->plan;
}
