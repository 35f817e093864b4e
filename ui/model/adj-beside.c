/* SPDX-License-Identifier: MIT */
/* Lays out and aligns another graph beside the shown one, in another thread. */

#include "model/adj-beside.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-tensor-stats.h"
#include "report/adj-node-difference.h"

#define FIRST_ELEMENTS 6

typedef struct
{
  AdjScene *scene;
  AdjGraph *other, *own;
  AdjAlignment *alignment; /* of @other with @own */
  guint32 *own_of_other;
  guint32 *change_of_own; /* index into @alignment; G_MAXUINT32: none */
} Pairing;

struct _AdjBeside
{
  GObject parent_instance;

  Pairing *pairing; /* (owned) (nullable) */
  AdjTask *task;    /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjBeside, adj_beside, G_TYPE_OBJECT)

static guint changed_signal;

static void
pairing_free (gpointer data)
{
  Pairing *pairing = data;

  g_clear_pointer (&pairing->scene, adj_scene_unref);
  adj_graph_unref (pairing->other);
  adj_graph_unref (pairing->own);
  g_clear_pointer (&pairing->alignment, adj_alignment_free);
  g_free (pairing->own_of_other);
  g_free (pairing->change_of_own);
  g_free (pairing);
}

/* -- in another thread -- */

typedef struct
{
  AdjGraphSet *graphs; /* of the other graph */
  AdjGraph *other, *own;
  AdjLayoutView view;
  gboolean undecided;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_set_unref (input->graphs);
  adj_graph_unref (input->other);
  adj_graph_unref (input->own);
  g_free (input);
}

static void
index_pairs (Pairing *pairing)
{
  guint n_other = adj_graph_get_n_nodes (pairing->other);
  guint n_own = adj_graph_get_n_nodes (pairing->own);

  pairing->own_of_other = g_new (guint32, n_other);
  pairing->change_of_own = g_new (guint32, n_own);
  for (guint i = 0; i < n_other; i++)
    pairing->own_of_other[i] = G_MAXUINT32;
  for (guint i = 0; i < n_own; i++)
    pairing->change_of_own[i] = G_MAXUINT32;
  for (guint i = 0; i < pairing->alignment->n_changes; i++)
    {
      const AdjChange *change = &pairing->alignment->changes[i];

      if (adj_node_id_is_valid (change->a))
        pairing->own_of_other[change->a.index] = change->b.index;
      if (adj_node_id_is_valid (change->b))
        pairing->change_of_own[change->b.index] = i;
    }
}

static gpointer
pair_up (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjLayoutOptions options = { .view = input->view, .undecided = input->undecided };
  Pairing *pairing;
  AdjScene *scene = adj_layout_mirror (input->other, &options, NULL, cancellable, error);

  if (scene == NULL)
    return NULL;
  pairing = g_new0 (Pairing, 1);
  pairing->scene = scene;
  pairing->other = adj_graph_ref (input->other);
  pairing->own = adj_graph_ref (input->own);
  pairing->alignment = adj_graph_align (input->other, input->own);
  index_pairs (pairing);
  return pairing;
}

/* -- in the main thread -- */

static void
on_paired (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjBeside *self = ADJ_BESIDE (source);
  Pairing *pairing = adj_task_finish (result, NULL);

  if (adj_task_from_result (result) != self->task)
    {
      g_clear_pointer (&pairing, pairing_free);
      return;
    }
  g_clear_pointer (&self->task, adj_task_unref);
  g_clear_pointer (&self->pairing, pairing_free);
  self->pairing = pairing;
  g_signal_emit (self, changed_signal, 0);
}

static void
stop (AdjBeside *self)
{
  if (self->task != NULL)
    adj_task_cancel (self->task);
  g_clear_pointer (&self->task, adj_task_unref);
}

void
adj_beside_set (AdjBeside *self,
                AdjDocument *document,
                AdjGraphSet *graphs,
                const AdjBundleGraph *graph)
{
  const AdjBundleGraph *shown = document != NULL ? adj_document_get_graph (document) : NULL;
  Input *input;

  g_return_if_fail (ADJ_IS_BESIDE (self));

  stop (self);
  if (shown == NULL || graph == NULL)
    {
      g_clear_pointer (&self->pairing, pairing_free);
      g_signal_emit (self, changed_signal, 0);
      return;
    }
  input = g_new (Input, 1);
  *input = (Input){ adj_graph_set_ref (graphs), adj_graph_ref (graph->graph),
                    adj_graph_ref (shown->graph), adj_document_get_arrangement (document)->view,
                    adj_bundle_graph_is_undecided (graph) };
  if (input->view == ADJ_VIEW_FLOW)
    input->view = ADJ_VIEW_MIRROR;
  self->task = adj_task_start (G_OBJECT (self), ADJ_LOAD_LIGHT, pair_up, input, input_free,
                               pairing_free, on_paired);
}

AdjScene *
adj_beside_get_scene (AdjBeside *self)
{
  return self->pairing != NULL ? self->pairing->scene : NULL;
}

AdjGraph *
adj_beside_get_graph (AdjBeside *self)
{
  return self->pairing != NULL ? self->pairing->other : NULL;
}

const AdjAlignment *
adj_beside_get_alignment (AdjBeside *self)
{
  return self->pairing != NULL ? self->pairing->alignment : NULL;
}

static const AdjChange *
find_change (AdjBeside *self, AdjNodeId own)
{
  if (self->pairing == NULL || own.index >= adj_graph_get_n_nodes (self->pairing->own) ||
      self->pairing->change_of_own[own.index] == G_MAXUINT32)
    return NULL;
  return &self->pairing->alignment->changes[self->pairing->change_of_own[own.index]];
}

AdjNodeId
adj_beside_find_other (AdjBeside *self, AdjNodeId own)
{
  const AdjChange *change = find_change (self, own);

  return change != NULL ? change->a : ADJ_NO_NODE;
}

AdjNodeId
adj_beside_find_own (AdjBeside *self, AdjNodeId other)
{
  if (self->pairing == NULL || other.index >= adj_graph_get_n_nodes (self->pairing->other))
    return ADJ_NO_NODE;
  return (AdjNodeId){ self->pairing->own_of_other[other.index] };
}

char *
adj_beside_describe (AdjBeside *self, AdjNodeId own)
{
  const AdjChange *change = find_change (self, own);

  return change != NULL ? adj_node_difference (self->pairing->other, self->pairing->own, change,
                                               self->pairing->own_of_other)
                        : g_strdup ("");
}

/* "computed 0.1, −2, …, recorded the same".  (transfer full) */
static char *
describe_side (const AdjEvaluation *evaluation, AdjNodeId node)
{
  AdjTensorData *value = evaluation != NULL && adj_node_id_is_valid (node)
                             ? adj_evaluation_get_value (evaluation, node)
                             : NULL;
  const AdjValueComparison *compared =
      value != NULL ? adj_evaluation_find (evaluation, node) : NULL;
  AdjTensorData *with = compared != NULL ? adj_evaluation_get_beside (evaluation, node) : NULL;
  const char *peer = evaluation != NULL ? adj_evaluation_get_peer (evaluation) : NULL;
  g_autofree char *own = NULL, *other = NULL;

  if (value == NULL)
    return g_strdup (_ ("not run"));
  own = adj_tensor_stats_first (value, FIRST_ELEMENTS);
  if (compared == NULL)
    return g_strdup_printf (_ ("computed %s"), own);
  other = with != NULL ? adj_tensor_stats_first (with, FIRST_ELEMENTS) : g_strdup (_ ("the same"));
  return peer != NULL ? g_strdup_printf (_ ("computed %s, %s %s"), own, peer, other)
                      : g_strdup_printf (_ ("computed %s, recorded %s"), own, other);
}

char *
adj_beside_describe_values (AdjBeside *self, AdjDocument *document, AdjNodeId own)
{
  AdjEvaluation *here, *there;
  g_autofree char *left = NULL, *right = NULL;

  if (self->pairing == NULL || !adj_node_id_is_valid (own))
    return g_strdup ("");
  here = adj_document_find_evaluation (document, self->pairing->own);
  there = adj_document_find_evaluation (document, self->pairing->other);
  if (here == NULL && there == NULL)
    return g_strdup ("");
  left = describe_side (here, own);
  if (!adj_node_id_is_valid (adj_beside_find_other (self, own)))
    return g_strdup_printf (_ ("Left: %s"), left);
  right = describe_side (there, adj_beside_find_other (self, own));
  return g_strdup_printf (_ ("Left: %s\nRight: %s"), left, right);
}

static void
adj_beside_dispose (GObject *object)
{
  AdjBeside *self = ADJ_BESIDE (object);

  stop (self);
  g_clear_pointer (&self->pairing, pairing_free);

  G_OBJECT_CLASS (adj_beside_parent_class)->dispose (object);
}

static void
adj_beside_class_init (AdjBesideClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = adj_beside_dispose;
  changed_signal = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                 NULL, NULL, G_TYPE_NONE, 0);
}

static void
adj_beside_init (AdjBeside *self)
{
}

AdjBeside *
adj_beside_new (void)
{
  return g_object_new (ADJ_TYPE_BESIDE, NULL);
}
