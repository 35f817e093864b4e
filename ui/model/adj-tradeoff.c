/* SPDX-License-Identifier: MIT */
/* A task that finds partitions for all budgets and compares them with those of the file. */

#include "model/adj-tradeoff.h"

#include <gio/gio.h>
#include <math.h>

#include "ir/adj-graph.h"
#include "model/adj-stages.h"
#include "model/plan-item-private.h"
#include "partition/adj-pareto.h"

/* -- whose curve it is -- */

static const AdjBundleGraph *
find_entry (AdjGraphSet *graphs, const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_set_get_n (graphs); i++)
    if (adj_graph_set_get (graphs, i)->graph == graph)
      return adj_graph_set_get (graphs, i);
  return NULL;
}

/* The graph that a partitioner got last. */
static const AdjBundleGraph *
find_partitioned (AdjDocument *document)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  gint stage = recording != NULL ? adj_stages_find_partitioned (recording) : -1;

  return stage >= 0 ? find_entry (adj_document_get_graphs (document),
                                  adj_recording_get_stage (recording, (guint) stage)->graph)
                    : NULL;
}

static gboolean
is_ours (AdjDocument *document)
{
  const AdjTraceChoice *choice = adj_document_get_trace (document);

  return choice != NULL && g_strcmp0 (choice->partition.partitioner, "optimal") == 0;
}

gboolean
adj_tradeoff_find_subject (AdjDocument *document, AdjTradeoffSubject *subject)
{
  const AdjBundleGraph *shown = adj_document_get_graph (document);
  AdjBundle *bundle = adj_document_get_bundle (document);
  const AdjBundleGraph *recorded =
      shown != NULL && bundle != NULL
          ? adj_graph_set_get_recorded (adj_document_get_graphs (document), shown)
          : NULL;
  const AdjRegion *region = recorded != NULL ? adj_bundle_find_region (bundle, recorded) : NULL;

  *subject = (AdjTradeoffSubject){ .num_fwd_outputs = -1, .is_ours = is_ours (document) };
  for (guint i = 0; region != NULL && i < region->n_graphs; i++)
    {
      if (g_str_equal (region->graphs[i]->role, "joint"))
        subject->joint = region->graphs[i];
      else if (g_str_equal (region->graphs[i]->role, "backward"))
        subject->backward = region->graphs[i]->graph;
    }
  if (region != NULL)
    subject->num_fwd_outputs = region->num_fwd_outputs;
  else if (recorded != NULL && g_str_equal (recorded->role, "joint"))
    subject->joint = recorded;
  if (find_partitioned (document) != NULL)
    subject->joint = find_partitioned (document);
  return subject->joint != NULL;
}

/* -- the list -- */

typedef struct
{
  AdjGraph *joint, *backward; /* (owned); backward (nullable) */
  gint num_fwd_outputs;
  gboolean is_ours;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_unref (input->joint);
  g_clear_pointer (&input->backward, adj_graph_unref);
  g_free (input);
}

static AdjPlanKind
kind_of (const AdjParetoPoint *point)
{
  if (g_str_equal (point->partitioner, "pair"))
    return ADJ_PLAN_SHOWN;
  return g_str_equal (point->partitioner, "optimal") ? ADJ_PLAN_OURS : ADJ_PLAN_PYTORCH;
}

static gboolean
is_same (const AdjParetoPoint *a, const AdjParetoPoint *b)
{
  return a->peak == b->peak && a->saved_bytes == b->saved_bytes &&
         a->recompute_flops == b->recompute_flops && a->recompute_traffic == b->recompute_traffic;
}

/* "0–0.2, 0.5": neighbouring budgets are joined to a range. */
static char *
print_budgets (const gboolean *has)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < ADJ_TRADEOFF_BUDGETS; i++)
    {
      guint end = i;

      if (!has[i])
        continue;
      while (end + 1 < ADJ_TRADEOFF_BUDGETS && has[end + 1])
        end++;
      g_string_append_printf (text, "%s%.2g", text->len > 0 ? ", " : "",
                              (double) i / (ADJ_TRADEOFF_BUDGETS - 1));
      if (end > i)
        g_string_append_printf (text, "–%.2g", (double) end / (ADJ_TRADEOFF_BUDGETS - 1));
      i = end;
    }
  return g_string_free (text, FALSE);
}

/* Collects the budgets of all points that equal @first; marks these in @seen. */
static void
join_budgets (const GArray *points, guint first, guint8 *seen, AdjTradeoffPlan *plan)
{
  const AdjParetoPoint *point = &g_array_index (points, AdjParetoPoint, first);
  gboolean has[ADJ_TRADEOFF_BUDGETS] = { FALSE };

  for (guint i = first; i < points->len; i++)
    {
      const AdjParetoPoint *other = &g_array_index (points, AdjParetoPoint, i);

      if (kind_of (other) != kind_of (point) || !is_same (other, point) ||
          other->wrong != point->wrong)
        continue;
      seen[i] = TRUE;
      plan->budget = other->budget;
      if (!isnan (other->budget))
        has[lround (other->budget * (ADJ_TRADEOFF_BUDGETS - 1))] = TRUE;
    }
  plan->budgets = print_budgets (has);
}

static gboolean
is_better (const AdjTradeoffPlan *a, const AdjTradeoffPlan *b)
{
  return a->wrong == NULL && a->peak <= b->peak && a->again <= b->again &&
         (a->peak < b->peak || a->again < b->again);
}

static void
mark_dominated (GListModel *plans)
{
  guint n = g_list_model_get_n_items (plans);

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < n; k++)
      {
        g_autoptr (AdjPlanItem) one = g_list_model_get_item (plans, i);
        g_autoptr (AdjPlanItem) other = g_list_model_get_item (plans, k);

        one->plan.is_dominated |= is_better (&other->plan, &one->plan);
      }
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const AdjTradeoffPlan *left = &((const AdjPlanItem *) a)->plan;
  const AdjTradeoffPlan *right = &((const AdjPlanItem *) b)->plan;

  if (left->again != right->again)
    return left->again < right->again ? -1 : 1;
  if (left->peak != right->peak)
    return left->peak < right->peak ? -1 : 1;
  return (gint) left->kind - (gint) right->kind;
}

/* Whether there is a plan of @kind with the costs of @shown. */
static gboolean
has_plan (const GArray *points, const AdjParetoPoint *shown, AdjPlanKind kind)
{
  for (guint i = 0; shown != NULL && i < points->len; i++)
    {
      const AdjParetoPoint *point = &g_array_index (points, AdjParetoPoint, i);

      if (kind_of (point) == kind && is_same (point, shown))
        return TRUE;
    }
  return FALSE;
}

/* The last point may be the pair of the file: it is listed only where no other point equals it.
 * Where both kinds have a plan of its costs, the one of its own kind (@is_ours) is marked as shown.
 */
static GListModel *
make_list (const GArray *points, gboolean is_ours)
{
  GListStore *plans = g_list_store_new (ADJ_TYPE_PLAN_ITEM);
  g_autofree guint8 *seen = g_new0 (guint8, points->len);
  const AdjParetoPoint *last = &g_array_index (points, AdjParetoPoint, points->len - 1);
  const AdjParetoPoint *shown = kind_of (last) == ADJ_PLAN_SHOWN ? last : NULL;
  gboolean by_bytes = TRUE, found = FALSE;
  AdjPlanKind kind = is_ours ? ADJ_PLAN_OURS : ADJ_PLAN_PYTORCH;

  if (!has_plan (points, shown, kind))
    kind = is_ours ? ADJ_PLAN_PYTORCH : ADJ_PLAN_OURS;

  for (guint i = 0; i < points->len; i++)
    by_bytes &= g_array_index (points, AdjParetoPoint, i).recompute_flops == 0;
  for (guint i = 0; i < points->len; i++)
    {
      const AdjParetoPoint *point = &g_array_index (points, AdjParetoPoint, i);
      g_autoptr (AdjPlanItem) item = NULL;

      if (seen[i] || (point == shown && found))
        continue;
      item = g_object_new (ADJ_TYPE_PLAN_ITEM, NULL);
      item->by_bytes = by_bytes;
      item->plan = (AdjTradeoffPlan){
        .kind = kind_of (point),
        .peak = point->peak,
        .saved_bytes = point->saved_bytes,
        .again = by_bytes ? (double) point->recompute_traffic : point->recompute_flops,
        .wrong = point->wrong,
        .is_shown = point == shown ||
                    (shown != NULL && !found && kind_of (point) == kind && is_same (shown, point)),
      };
      found |= item->plan.is_shown;
      join_budgets (points, i, seen, &item->plan);
      g_list_store_append (plans, item);
    }
  mark_dominated (G_LIST_MODEL (plans));
  g_list_store_sort (plans, compare, NULL);
  return G_LIST_MODEL (plans);
}

/* -- the work -- */

/* Adds the pair, measured with PyTorch's order of backward or with ours, whichever equals a point
 * of the curve. */
static void
add_pair (GArray *points, const Input *input, AdjPartitionOptions *options)
{
  AdjParetoPoint pair[2];
  gboolean known[2];

  for (guint i = 0; i < 2; i++)
    {
      options->compat = i == 0;
      known[i] = adj_partition_measure (input->joint, input->backward, options, &pair[i], NULL);
    }
  for (guint i = 0; i < points->len; i++)
    for (guint k = 0; k < 2; k++)
      if (known[k] && is_same (&g_array_index (points, AdjParetoPoint, i), &pair[k]))
        {
          g_array_append_val (points, pair[k]);
          return;
        }
  if (known[0])
    g_array_append_val (points, pair[0]);
}

static void
report (guint done, guint total, gpointer task)
{
  adj_task_report (task, done, total, 0);
}

static gpointer
compute (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GArray) points = NULL;

  options.num_fwd_outputs = input->num_fwd_outputs;
  points = adj_partition_pareto (input->joint,
                                 &(AdjParetoOptions){ .partition = &options,
                                                      .n_budgets = ADJ_TRADEOFF_BUDGETS,
                                                      .progress = report,
                                                      .data = task },
                                 cancellable, error);
  if (points == NULL)
    return NULL;
  if (input->backward != NULL)
    add_pair (points, input, &options);
  return make_list (points, input->is_ours);
}

AdjTask *
adj_tradeoff_start (GObject *owner, const AdjTradeoffSubject *subject, GAsyncReadyCallback done)
{
  Input *input = g_new (Input, 1);

  *input = (Input){ adj_graph_ref (subject->joint->graph),
                    subject->backward != NULL ? adj_graph_ref (subject->backward) : NULL,
                    subject->num_fwd_outputs, subject->is_ours };
  return adj_task_start (owner, ADJ_LOAD_LIGHT, compute, input, input_free, g_object_unref, done);
}
