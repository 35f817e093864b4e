/* SPDX-License-Identifier: MIT */
/* Tasks that compute timelines to compare with the shown memory: of another plan of its joint
 * graph, or measured by the allocator of a GPU. */

#include "model/adj-memory-plan.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "partition/adj-partition.h"
#include "passes/adj-compose.h"

static const AdjMemoryPlan plans[] = {
  { N_ ("Save everything"), { "default", NAN, FALSE, -1 } },
  { N_ ("PyTorch, budget 1"), { "min-cut", 1, TRUE, -1 } },
  { N_ ("PyTorch, budget 0.75"), { "min-cut", 0.75, TRUE, -1 } },
  { N_ ("PyTorch, budget 0.5"), { "min-cut", 0.5, TRUE, -1 } },
  { N_ ("PyTorch, budget 0.25"), { "min-cut", 0.25, TRUE, -1 } },
  { N_ ("PyTorch, budget 0"), { "min-cut", 0, TRUE, -1 } },
  { N_ ("Adjoint, budget 1"), { "optimal", 1, FALSE, -1 } },
  { N_ ("Adjoint, budget 0.5"), { "optimal", 0.5, FALSE, -1 } },
  { N_ ("Adjoint, budget 0"), { "optimal", 0, FALSE, -1 } },
};

guint
adj_memory_plans_get_n (void)
{
  return G_N_ELEMENTS (plans);
}

const AdjMemoryPlan *
adj_memory_plans_get (guint index)
{
  return &plans[MIN (index, G_N_ELEMENTS (plans) - 1)];
}

gboolean
adj_memory_plan_find (AdjDocument *document, AdjTradeoffSubject *subject, AdjMemoryPart *part)
{
  static const struct
  {
    const char *role;
    AdjMemoryPart part;
  } parts[] = { { "joint", ADJ_MEMORY_WHOLE },
                { "tag", ADJ_MEMORY_WHOLE },
                { ADJ_PAIR_ROLE, ADJ_MEMORY_WHOLE },
                { "forward", ADJ_MEMORY_FORWARD },
                { "backward", ADJ_MEMORY_BACKWARD } };
  const AdjBundleGraph *shown = adj_document_get_graph (document);

  for (guint i = 0; shown != NULL && i < G_N_ELEMENTS (parts); i++)
    if (g_str_equal (shown->role, parts[i].role))
      {
        *part = parts[i].part;
        return adj_tradeoff_find_subject (document, subject);
      }
  return FALSE;
}

typedef struct
{
  AdjGraph *joint; /* (owned) */
  AdjPartitionOptions options;
  const AdjPartitioner *partitioner;
  AdjMemoryPart part;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_unref (input->joint);
  g_free (input);
}

static AdjGraph *
take_part (const AdjPartition *partition, AdjMemoryPart part, GError **error)
{
  if (part == ADJ_MEMORY_WHOLE)
    return adj_graph_compose (partition->forward, partition->backward, partition->num_fwd_outputs,
                              error);
  return adj_graph_ref (part == ADJ_MEMORY_FORWARD ? partition->forward : partition->backward);
}

static gpointer
compute (AdjTask *task, GCancellable *cancellable, GError **error)
{
  Input *input = adj_task_get_input (task);
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjGraph) graph = NULL;

  input->options.cancellable = cancellable;
  partition = adj_partition (input->partitioner, input->joint, &input->options, error);
  if (partition != NULL)
    graph = take_part (partition, input->part, error);
  return graph != NULL ? adj_timeline_new (graph) : NULL;
}

AdjTask *
adj_memory_plan_start (GObject *owner,
                       const AdjTradeoffSubject *subject,
                       AdjMemoryPart part,
                       const AdjMemoryPlan *plan,
                       GAsyncReadyCallback done)
{
  Input *input = g_new (Input, 1);

  *input = (Input){ .joint = adj_graph_ref (subject->joint->graph),
                    .options = ADJ_PARTITION_OPTIONS_INIT,
                    .partitioner = adj_partitioner_find (plan->choice.partitioner, NULL),
                    .part = part };
  input->options.num_fwd_outputs = subject->num_fwd_outputs;
  input->options.budget = plan->choice.budget;
  input->options.compat = plan->choice.compat;
  return adj_task_start (owner, ADJ_LOAD_LIGHT, compute, input, input_free,
                         (GDestroyNotify) adj_timeline_free, done);
}

/* -- a snapshot -- */

typedef struct
{
  AdjGraph *graph; /* (owned) */
  char *path;      /* (owned) */
} Measured;

static void
measured_free (gpointer data)
{
  Measured *input = data;

  adj_graph_unref (input->graph);
  g_free (input->path);
  g_free (input);
}

static gpointer
measure (AdjTask *task, GCancellable *cancellable, GError **error)
{
  Measured *input = adj_task_get_input (task);
  g_autoptr (AdjMemorySnapshot) snapshot =
      adj_memory_snapshot_load (input->path, cancellable, error);

  return snapshot != NULL ? adj_timeline_new_measured (input->graph, snapshot, error) : NULL;
}

AdjTask *
adj_memory_snapshot_start (GObject *owner,
                           AdjGraph *graph,
                           const char *path,
                           GAsyncReadyCallback done)
{
  Measured *input = g_new (Measured, 1);

  *input = (Measured){ .graph = adj_graph_ref (graph), .path = g_strdup (path) };
  return adj_task_start (owner, ADJ_LOAD_LIGHT, measure, input, measured_free,
                         (GDestroyNotify) adj_timeline_free, done);
}
