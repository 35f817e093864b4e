/* SPDX-License-Identifier: MIT */
/* The inspector: cards about the selected node. */

#include "inspect/adj-inspector.h"

#include <glib/gi18n.h>
#include <math.h>

#include "analysis/adj-lifetimes.h"
#include "analysis/adj-modules.h"
#include "call/adj-op.h"
#include "canvas/adj-role-badge.h"
#include "inspect/adj-histogram.h"
#include "inspect/adj-property-card.h"
#include "inspect/backward-cards.h"
#include "inspect/object-cards.h"
#include "inspect/selection-cards.h"
#include "ir/adj-text.h"
#include "model/adj-maker.h"
#include "model/adj-provenance.h"
#include "model/adj-reasons.h"
#include "report/adj-properties.h"
#include "rules/adj-derivative.h"
#include "widgets/name-widgets.h"

#define MAX_MADE 8 /* links to nodes of backward */
#define MAX_LINKS 12
#define FIRST_ELEMENTS 8
#define FIRST_OF_LINK 3 /* elements of the value behind a link */

struct _AdjInspector
{
  AdjPanel parent_instance;

  GtkStack *stack;
  GtkLabel *name;
  GtkLabel *target;
  GtkBox *role_box;
  AdjRoleBadge *badge;
  GtkLabel *role;
  GtkBox *cards;
  AdjGraph *asked;         /* (owned) (nullable): the joint graph that reasons were asked for */
  AdjTask *asking;         /* (owned) (nullable) */
  AdjPartition *partition; /* (owned) (nullable): the answer */
};

G_DEFINE_FINAL_TYPE (AdjInspector, adj_inspector, ADJ_TYPE_PANEL)

/* What one card is made from. */
typedef struct
{
  AdjDocument *document;
  const AdjGraph *graph;
  const AdjScene *scene;
  AdjEvaluation *evaluation; /* (nullable) */
  AdjPartition *partition;   /* (nullable) */
  AdjNodeId id;
  const AdjNode *node;
} Subject;

typedef void (*FillCard) (AdjPropertyCard *card, const Subject *subject);

/* -- cards -- */

/* Where the lines of a node are: "models.py:58".  (transfer full) */
static char *
print_line (const AdjNode *node)
{
  const AdjNodeMeta *meta = &node->meta;
  g_autofree char *base =
      meta->n_frames > 0 ? g_path_get_basename (meta->frames[meta->n_frames - 1].file) : NULL;

  return base != NULL ? g_strdup_printf ("%s:%u", base, meta->frames[meta->n_frames - 1].line)
                      : g_strdup ("");
}

/* Of an input of backward. */
static void
fill_maker (AdjPropertyCard *card, const Subject *s)
{
  const AdjBundleGraph *forward;
  const AdjNode *made;
  AdjMaker maker;
  g_autofree char *line = NULL;

  if (!adj_maker_find (s->document, s->id, &maker))
    return;
  forward = adj_graph_set_get (adj_document_get_graphs (s->document), maker.graph);
  made = adj_graph_get_node (forward->graph, maker.node.index);
  line = print_line (made);
  adj_property_card_add_action (card, _ ("Made by"), made->name, "win.show-node",
                                g_variant_new ("(uu)", maker.graph, maker.node.index), line);
  adj_property_card_add (card, _ ("Graph"), forward->id);
  adj_property_card_add (card, _ ("Module"), adj_node_get_module_path (made));
}

/* What the page of memory shows: with views of it and parts of it. */
static void
add_memory (AdjPropertyCard *card, const Subject *s)
{
  const AdjLifetime *lifetimes = adj_graph_get_lifetimes (s->graph);
  const AdjLifetime *own = &lifetimes[lifetimes[s->id.index].owner];
  g_autofree char *text =
      g_strdup_printf (_ ("steps %u → %u, with views"), own->first + 1, own->last + 1);

  if (own->bytes > 0)
    adj_property_card_add (card, _ ("Memory held"), text);
}

static void
fill_value (AdjPropertyCard *card, const Subject *s)
{
  g_autofree char *shape = adj_properties_shape (s->graph, s->node);
  g_autofree char *strides = adj_properties_strides (s->graph, s->node);
  g_autofree char *type = adj_properties_type (s->graph, s->id);
  g_autofree char *both = shape != NULL && strides != NULL
                              ? g_strdup_printf (_ ("%s  strides %s"), shape, strides)
                              : NULL;
  guint last = adj_graph_get_last_use (s->graph, s->id.index).index;
  g_autofree char *life = NULL;

  adj_property_card_add (card, _ ("Shape"), both != NULL ? both : shape);
  adj_property_card_add (card, _ ("Type"), type);
  if (shape == NULL)
    {
      g_autofree char *annotation = adj_properties_annotation (s->graph, s->node);

      adj_property_card_add (card, _ ("Value"), annotation);
    }
  if (last == s->id.index)
    life = g_strdup_printf (_ ("step %u, never read"), s->id.index + 1);
  else
    life = g_strdup_printf (_ ("steps %u → %u"), s->id.index + 1, last + 1);
  adj_property_card_add (card, _ ("Made, last read"), life);
  add_memory (card, s);
}

/* Each number with its limit, and where that of its own error comes from. */
static void
add_evidence (AdjPropertyCard *card, const AdjValueComparison *comparison)
{
  g_autoptr (GArray) rows = adj_value_comparison_explain (comparison);

  for (guint i = 0; i < rows->len; i++)
    {
      const AdjEvidence *row = &g_array_index (rows, AdjEvidence, i);
      g_autofree char *number = adj_properties_number (row->number);
      g_autofree char *limit = adj_properties_number (row->limit);
      const char *sign = fabs (row->number) <= row->limit ? "≤" : ">";
      g_autofree char *both = isnan (row->limit)
                                  ? g_strdup (number)
                                  : g_strdup_printf ("%s %s %s", number, sign, limit);

      adj_property_card_add (card, row->what, both);
    }
  if (rows->len > 0)
    adj_property_card_add_text (card, g_array_index (rows, AdjEvidence, 0).origin, FALSE);
}

static void
fill_comparison (AdjPropertyCard *card, const Subject *s)
{
  const AdjValueComparison *c =
      s->evaluation != NULL ? adj_evaluation_find (s->evaluation, s->id) : NULL;
  g_autofree char *max_abs = NULL, *max_rel = NULL, *mismatch = NULL;

  if (c == NULL)
    return;
  max_abs = adj_properties_number (c->difference.max_abs);
  max_rel = adj_properties_number (c->difference.max_rel);
  mismatch = g_strdup_printf (_ ("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT),
                              c->difference.n_not_close, c->difference.n);
  adj_property_card_add (card, _ ("Verdict"), adj_properties_comparison (c));
  if (c->verdict == ADJ_VERDICT_SKIPPED)
    return;
  adj_property_card_add (card, _ ("Max abs"), max_abs);
  adj_property_card_add (card, _ ("Max rel"), max_rel);
  add_evidence (card, c);
  adj_property_card_add (card, _ ("Not close"), mismatch);
  if (c->cause != ADJ_CAUSE_NONE)
    adj_property_card_add_text (card, adj_cause_describe (c->cause), FALSE);
  if (c->verdict == ADJ_VERDICT_DIFFERS && c->cause != ADJ_CAUSE_INPUT)
    adj_property_card_add_text (
        card,
        c->inputs_agree   ? _ ("Its inputs agree, so the difference begins here.")
        : c->inputs_alone ? _ ("Its inputs had no values to be compared with.")
                          : _ ("Its inputs differ already: this may only follow from them."),
        FALSE);
  else if (c->alone)
    adj_property_card_add_text (
        card, _ ("There was no value to compare it with: its own error decided."), FALSE);
}

/* What the bars are and what the line is. */
static GtkWidget *
make_sides (const char *other)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  g_autofree char *line = g_strdup_printf ("━ %s", other);
  GtkWidget *own_label = gtk_label_new (_ ("▮ this run")), *other_label = gtk_label_new (line);

  gtk_widget_add_css_class (own_label, "own-side");
  gtk_widget_add_css_class (other_label, "other-side");
  gtk_label_set_ellipsize (GTK_LABEL (other_label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (box), own_label);
  gtk_box_append (GTK_BOX (box), other_label);
  return box;
}

/* Where both sides are known and not equal, both are drawn over one range. */
static void
add_histogram (AdjPropertyCard *card, const Subject *s, const AdjTensorStats *stats)
{
  AdjTensorData *value = adj_evaluation_get_value (s->evaluation, s->id);
  AdjTensorData *beside = adj_evaluation_get_beside (s->evaluation, s->id);
  const char *peer = adj_evaluation_get_peer (s->evaluation);
  AdjTensorStats own, other;

  if (beside == NULL)
    {
      adj_property_card_add_widget (card, adj_histogram_new (stats, NULL));
      return;
    }
  adj_tensor_stats_compute_both (value, beside, &own, &other);
  adj_property_card_add_widget (card, adj_histogram_new (&own, &other));
  adj_property_card_add_widget (card, make_sides (peer != NULL ? peer : _ ("recorded")));
}

static void
fill_result (AdjPropertyCard *card, const Subject *s)
{
  AdjTensorData *value =
      s->evaluation != NULL ? adj_evaluation_get_value (s->evaluation, s->id) : NULL;
  AdjTensorStats stats;
  g_autofree char *mean = NULL, *range = NULL, *min = NULL, *max = NULL, *deviation = NULL;
  g_autofree char *first = NULL, *spread = NULL;

  if (value == NULL)
    return;
  adj_tensor_stats_compute (value, &stats);
  mean = adj_properties_number (stats.mean);
  deviation = adj_properties_number (stats.deviation);
  spread = g_strdup_printf ("%s ± %s", mean, deviation);
  min = adj_properties_number (stats.min);
  max = adj_properties_number (stats.max);
  range = g_strdup_printf ("%s … %s", min, max);
  first = adj_tensor_stats_first (value, FIRST_ELEMENTS);
  adj_property_card_add (card, _ ("Mean"), spread);
  adj_property_card_add (card, _ ("Range"), range);
  if (stats.n_nan + stats.n_inf > 0)
    {
      g_autofree char *odd =
          g_strdup_printf ("%" G_GINT64_FORMAT " / %" G_GINT64_FORMAT, stats.n_nan, stats.n_inf);

      adj_property_card_add (card, _ ("NaN / Inf"), odd);
    }
  adj_property_card_add (card, _ ("First"), first);
  if (stats.n > 1)
    add_histogram (card, s, &stats);
}

static void
fill_tags (AdjPropertyCard *card, const Subject *s)
{
  const AdjNodeMeta *meta = &s->node->meta;
  g_autofree char *number = NULL, *region = NULL;

  if (meta->recompute != ADJ_RECOMPUTE_NONE)
    adj_property_card_add (card, _ ("Policy"), adj_recompute_name (meta->recompute));
  if (meta->ac_graph_id >= 0)
    {
      region = g_strdup_printf (_ ("checkpoint %" G_GINT64_FORMAT), meta->ac_graph_id);
      adj_property_card_add (card, _ ("Region"), region);
    }
  adj_property_card_add (card, _ ("Module"), adj_node_get_module_path (s->node));
  adj_property_card_add (card, _ ("Tag"), meta->partitioner_tag);
  if (meta->seq_nr >= 0)
    {
      number = g_strdup_printf ("%" G_GINT64_FORMAT, meta->seq_nr);
      adj_property_card_add (card, _ ("Sequence"), number);
    }
  adj_property_card_add (card, _ ("Parameter"), meta->parameter);
  adj_property_card_add (card, _ ("Hook"), meta->hook);
  adj_property_card_add (card, _ ("Source"), meta->source);
  adj_property_card_add (card, _ ("ATen"), meta->original_aten);
}

/* What the min-cut partitioner would do with the node. */
static void
fill_reasons (AdjPropertyCard *card, const Subject *s)
{
  const AdjNodeDecision *decision;
  g_autofree char *sentence = NULL, *bytes = NULL, *weight = NULL;

  if (s->partition == NULL || s->node->opcode == ADJ_OPCODE_OUTPUT)
    return;
  decision = &s->partition->nodes[s->id.index];
  sentence = adj_partition_explain (s->partition, s->id);
  bytes = adj_properties_bytes ((gint64) MIN (decision->bytes, G_MAXINT64));
  adj_property_card_add (card, _ ("By min-cut"), adj_decision_kind_name (decision->kind));
  adj_property_card_add (card, _ ("Bytes"), bytes);
  if (decision->weight >= 0)
    {
      weight = g_strdup_printf ("%" G_GINT64_FORMAT, decision->weight);
      adj_property_card_add (card, _ ("Price in the cut"), weight);
    }
  adj_property_card_add_text (card, sentence, FALSE);
  if (adj_node_id_is_valid (decision->because) &&
      decision->because.index < adj_graph_get_n_nodes (s->graph))
    adj_property_card_add_link (card, _ ("Because of"),
                                adj_graph_get_node (s->graph, decision->because.index)->name,
                                decision->because, NULL);
}

static void
add_node_link (AdjPropertyCard *card, const Subject *s, const char *key, AdjNodeId id)
{
  const AdjNode *node = adj_graph_get_node (s->graph, id.index);
  AdjTensorData *value =
      s->evaluation != NULL ? adj_evaluation_get_value (s->evaluation, id) : NULL;
  g_autofree char *annotation = value != NULL ? adj_tensor_stats_first (value, FIRST_OF_LINK)
                                              : adj_properties_annotation (s->graph, node);

  adj_property_card_add_link (card, key, node->name, id, annotation);
}

static void
fill_counterparts (AdjPropertyCard *card, const Subject *s)
{
  AdjNodeId counterpart = adj_scene_get_counterpart (s->scene, s->id);
  AdjNodeId original = adj_scene_get_original (s->scene, s->id);
  AdjNodeId copy = adj_scene_get_copy (s->scene, s->id);

  if (adj_node_id_is_valid (original))
    add_node_link (card, s, _ ("Computes again"), original);
  if (adj_node_id_is_valid (copy))
    add_node_link (card, s, _ ("Computed again"), copy);
  if (adj_node_id_is_valid (counterpart))
    add_node_link (card, s,
                   adj_graph_is_backward (s->graph, counterpart.index) ? _ ("Its gradient")
                                                                       : _ ("Gradient of"),
                   counterpart);
}

/* What it came of and what became of it, from the line of the source to the last stage. */
static void
fill_provenance (AdjPropertyCard *card, const Subject *s)
{
  g_autoptr (GArray) kin = adj_provenance_find (s->document, s->id);
  g_autofree char *line = print_line (s->node);
  const char *last = NULL;

  if (kin->len == 0)
    return;
  if (*line != '\0')
    adj_property_card_add_action (card, _ ("Line"), line, "win.show-page",
                                  g_variant_new_string ("source"), NULL);
  for (guint i = 0; i < kin->len; i++)
    {
      const AdjKin *one = &g_array_index (kin, AdjKin, i);
      const AdjGraph *graph =
          adj_graph_set_get (adj_document_get_graphs (s->document), one->graph)->graph;
      const AdjNode *node = adj_graph_get_node (graph, one->node.index);

      adj_property_card_add_action (
          card, one->step != last ? adj_properties_stage_title (one->step) : "", node->name,
          "win.show-node", g_variant_new ("(uu)", one->graph, one->node.index), NULL);
      last = one->step;
    }
}

static void
add_links (
    AdjPropertyCard *card, const Subject *s, const char *arrow, const AdjNodeId *ids, guint n)
{
  for (guint i = 0; i < MIN (n, MAX_LINKS); i++)
    add_node_link (card, s, arrow, ids[i]);
  if (n > MAX_LINKS)
    {
      g_autofree char *more = g_strdup_printf (_ ("and %u more"), n - MAX_LINKS);

      adj_property_card_add (card, arrow, more);
    }
}

static void
fill_neighbours (AdjPropertyCard *card, const Subject *s)
{
  add_links (card, s, "←", s->node->inputs, s->node->n_inputs);
  add_links (card, s, "→", s->node->users, s->node->n_users);
}

static void
fill_object (AdjPropertyCard *card, const Subject *s)
{
  adj_object_card_fill (card, s->graph, s->id,
                        s->evaluation != NULL ? adj_evaluation_get_result (s->evaluation) : NULL);
}

static void
fill_operator (AdjPropertyCard *card, const Subject *s)
{
  const AdjOp *op = s->node->op;

  if (op == NULL)
    return;
  adj_property_card_add_text (card, op->help, FALSE);
  adj_property_card_add (card, _ ("Formula"), op->expr);
  adj_property_card_add_text (card, op->schema, TRUE);
}

/* The forward node whose derivative @s is a part of: itself in forward; ADJ_NO_NODE: unknown. */
static AdjNodeId
find_derived (const Subject *s)
{
  return adj_graph_is_backward (s->graph, s->id.index) ? adj_scene_get_counterpart (s->scene, s->id)
                                                       : s->id;
}

/* The rule of its gradient, and the nodes of backward that it made: those of its step.  Of a node
 * of backward the rule that it is made by. */
static void
fill_derivative (AdjPropertyCard *card, const Subject *s)
{
  AdjNodeId derived = find_derived (s);
  const AdjOp *op =
      adj_node_id_is_valid (derived) ? adj_graph_get_node (s->graph, derived.index)->op : NULL;
  g_autoptr (GPtrArray) rules = op != NULL ? adj_derivative_list (op) : NULL;
  guint n_made = 0;

  if (rules == NULL)
    return;
  if (derived.index != s->id.index && rules->len > 0)
    add_node_link (card, s, _ ("Of"), derived);
  for (guint i = 0; i < rules->len; i++)
    {
      const AdjDerivative *rule = rules->pdata[i];
      g_autofree char *key = g_strdup_printf ("∂ %s", rule->argument);

      adj_property_card_add (card, key, rule->text);
    }
  for (guint i = s->id.index + 1;
       derived.index == s->id.index && rules->len > 0 && s->node->meta.seq_nr >= 0 &&
       i < adj_graph_get_n_nodes (s->graph) && n_made < MAX_MADE;
       i++)
    if (adj_graph_get_node (s->graph, i)->meta.seq_nr == s->node->meta.seq_nr &&
        adj_graph_is_backward (s->graph, i))
      add_node_link (card, s, n_made++ == 0 ? _ ("Made") : "", (AdjNodeId){ i });
}

static void
fill_call (AdjPropertyCard *card, const Subject *s)
{
  GString *text = g_string_new (NULL);

  if (s->node->opcode != ADJ_OPCODE_PLACEHOLDER)
    adj_node_print (s->graph, s->id.index, text);
  adj_property_card_add_text (card, text->str, TRUE);
  g_string_free (text, TRUE);
}

static void
fill_frames (AdjPropertyCard *card, const Subject *s)
{
  for (guint i = s->node->meta.n_frames; i-- > 0;)
    {
      const AdjFrame *frame = &s->node->meta.frames[i];
      g_autofree char *base = g_path_get_basename (frame->file);
      g_autofree char *place = g_strdup_printf ("%s:%u", base, frame->line);

      adj_property_card_add (card, place, *frame->code != '\0' ? frame->code : frame->function);
    }
}

static void
fill_hook (AdjPropertyCard *card, const Subject *s)
{
  adj_backward_card_fill_hook (card, s->document, s->id);
}

static void
fill_origin (AdjPropertyCard *card, const Subject *s)
{
  adj_backward_card_fill_origin (card, s->document, s->id);
}

static void
fill_accumulation (AdjPropertyCard *card, const Subject *s)
{
  adj_backward_card_fill_accumulation (card, s->document, s->id);
}

static void
fill_autograd (AdjPropertyCard *card, const Subject *s)
{
  adj_backward_card_fill_call (card, s->document, s->id);
}

static const struct
{
  const char *title;
  FillCard fill;
} cards[] = {
  { N_ ("Hook"), fill_hook },
  { N_ ("Comes From"), fill_origin },
  { N_ ("Accumulation"), fill_accumulation },
  { N_ ("Node of Autograd"), fill_autograd },
  { N_ ("Saved by Forward"), fill_maker },
  { N_ ("Object"), fill_object },
  { N_ ("Value"), fill_value },
  { N_ ("Comparison"), fill_comparison },
  { N_ ("Result of the Run"), fill_result },
  { N_ ("Tags"), fill_tags },
  { N_ ("Save or Recompute?"), fill_reasons },
  { N_ ("In Forward and Backward"), fill_counterparts },
  { N_ ("Derivative"), fill_derivative },
  { N_ ("Across Stages"), fill_provenance },
  { N_ ("Inputs and Users"), fill_neighbours },
  { N_ ("Operator"), fill_operator },
  { N_ ("Call"), fill_call },
  { N_ ("Stack Trace"), fill_frames },
};

/* -- the panel -- */

static void
show_role (AdjInspector *self, const Subject *s)
{
  guint box = adj_scene_find_node (s->scene, s->id);
  AdjRole role = box != ADJ_NO_BOX ? adj_scene_get_box (s->scene, box)->role : ADJ_ROLE_NONE;

  gtk_widget_set_visible (GTK_WIDGET (self->role_box), role != ADJ_ROLE_NONE);
  adj_role_badge_set_role (self->badge, role);
  gtk_label_set_text (self->role, _ (adj_scene_get_role_name (s->scene, role)));
}

static void update (AdjInspector *self);

static void
on_answered (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjInspector *self = ADJ_INSPECTOR (source);

  /* Another graph was asked for meanwhile. */
  if (adj_task_from_result (result) != self->asking)
    return;
  g_clear_pointer (&self->asking, adj_task_unref);
  self->partition = adj_task_finish (result, NULL);
  if (self->partition != NULL && adj_panel_get_document (self) != NULL)
    update (self);
}

static void
forget_reasons (AdjInspector *self)
{
  if (self->asking != NULL)
    adj_task_cancel (self->asking);
  g_clear_pointer (&self->asking, adj_task_unref);
  g_clear_pointer (&self->asked, adj_graph_unref);
  g_clear_pointer (&self->partition, adj_partition_unref);
}

/* Once for each joint graph, when a node of it is looked at. */
static void
ask_reasons (AdjInspector *self, const AdjBundleGraph *graph)
{
  if (self->asked == graph->graph)
    return;
  forget_reasons (self);
  self->asked = adj_graph_ref (graph->graph);
  if (g_strcmp0 (graph->role, "joint") == 0)
    self->asking = adj_reasons_start (G_OBJECT (self), graph->graph, on_answered);
}

static void
show_several (AdjInspector *self, const GArray *chosen)
{
  g_autofree char *title = g_strdup_printf (_ ("%u nodes"), chosen->len);

  gtk_label_set_text (self->name, title);
  gtk_label_set_text (self->target, _ ("selected together"));
  gtk_widget_set_visible (GTK_WIDGET (self->role_box), FALSE);
  adj_selection_cards_fill (self->cards, adj_panel_get_document (self));
  adj_name_widgets (GTK_WIDGET (self->cards));
  gtk_stack_set_visible_child_name (self->stack, "node");
}

static void
update (AdjInspector *self)
{
  GArray *chosen = adj_document_get_chosen (adj_panel_get_document (self));
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  Subject s = { .document = adj_panel_get_document (self),
                .scene = adj_document_get_scene (adj_panel_get_document (self)),
                .evaluation = adj_document_get_evaluation (adj_panel_get_document (self)),
                .id = adj_document_get_selected (adj_panel_get_document (self)) };
  g_autofree char *target = NULL;
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->cards))))
    gtk_box_remove (self->cards, child);
  if (graph == NULL || s.scene == NULL || !adj_node_id_is_valid (s.id))
    {
      gtk_stack_set_visible_child_name (self->stack, "empty");
      return;
    }
  if (chosen != NULL)
    {
      show_several (self, chosen);
      return;
    }
  ask_reasons (self, graph);
  s.graph = graph->graph;
  s.partition = self->partition;
  s.node = adj_graph_get_node (s.graph, s.id.index);

  gtk_label_set_text (self->name, s.node->name);
  target = g_strdup_printf ("%s · %s #%u", adj_properties_target (s.node),
                            adj_document_get_captured (s.document) != NULL ||
                                    adj_graph_is_backward (s.graph, s.id.index)
                                ? _ ("backward")
                                : _ ("forward"),
                            s.id.index + 1);
  gtk_label_set_text (self->target, target);
  show_role (self, &s);
  for (guint i = 0; i < G_N_ELEMENTS (cards); i++)
    {
      AdjPropertyCard *card = g_object_ref_sink (adj_property_card_new (_ (cards[i].title)));

      cards[i].fill (card, &s);
      if (!adj_property_card_is_empty (card))
        gtk_box_append (self->cards, GTK_WIDGET (card));
      g_object_unref (card);
    }
  adj_name_widgets (GTK_WIDGET (self->cards));
  gtk_stack_set_visible_child_name (self->stack, "node");
}

static void
adj_inspector_dispose (GObject *object)
{
  forget_reasons (ADJ_INSPECTOR (object));

  G_OBJECT_CLASS (adj_inspector_parent_class)->dispose (object);
}

static void
adj_inspector_class_init (AdjInspectorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_inspector_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;

  g_type_ensure (ADJ_TYPE_ROLE_BADGE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/inspector.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, name);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, target);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, role_box);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, badge);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, role);
  gtk_widget_class_bind_template_child (widget_class, AdjInspector, cards);
}

static void
adj_inspector_init (AdjInspector *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::chosen", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update));
}
