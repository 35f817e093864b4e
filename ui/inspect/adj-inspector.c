/* SPDX-License-Identifier: MIT */
/* The inspector: cards about the selected node. */

#include "inspect/adj-inspector.h"

#include <glib/gi18n.h>

#include "canvas/adj-role-badge.h"
#include "inspect/node-cards.h"
#include "inspect/selection-cards.h"
#include "ir/adj-graph.h"
#include "model/adj-reasons.h"
#include "report/adj-properties.h"
#include "widgets/name-widgets.h"

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
  AdjGraph *asked;         /* (owned) (nullable): the joint graph whose reasons were requested */
  AdjTask *asking;         /* (owned) (nullable) */
  AdjPartition *partition; /* (owned) (nullable): the result */
};

G_DEFINE_FINAL_TYPE (AdjInspector, adj_inspector, ADJ_TYPE_PANEL)

static void
show_role (AdjInspector *self, const AdjNodeSubject *s)
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

  /* Another graph was requested meanwhile. */
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

/* Requests the reasons once per joint graph, when one of its nodes is selected. */
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
  AdjNodeSubject s = { .document = adj_panel_get_document (self),
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
  adj_node_cards_fill (self->cards, &s);
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
