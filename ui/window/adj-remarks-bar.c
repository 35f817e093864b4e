/* SPDX-License-Identifier: MIT */
/* The bar above a document: what could not be read of its file, or the last problem. */

#include "window/adj-remarks-bar.h"

#include <glib/gi18n.h>

#include "report/adj-properties.h"
#include "widgets/name-widgets.h"

struct _AdjRemarksBar
{
  AdjPanel parent_instance;

  gboolean closed; /* the user has closed the remarks about the file */
  GtkInfoBar *bar;
  GtkLabel *label;
  GtkButton *button;
};

G_DEFINE_FINAL_TYPE (AdjRemarksBar, adj_remarks_bar, ADJ_TYPE_PANEL)

/* Yellow: the file is usable, but not all of it could be read.  Red: nothing of it could be. */
static void
show_remark (AdjRemarksBar *self, GtkMessageType type, const char *text)
{
  const gboolean problem = type == GTK_MESSAGE_ERROR;

  gtk_info_bar_set_message_type (self->bar, type);
  gtk_label_set_text (self->label, text);
  gtk_button_set_label (self->button, problem ? _ ("_Copy Details") : _ ("_Details"));
  adj_name_widgets (GTK_WIDGET (self->bar));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button), NULL);
  gtk_actionable_set_action_target_value (GTK_ACTIONABLE (self->button),
                                          problem ? NULL : g_variant_new_string ("log"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button),
                                  problem ? "win.copy-details" : "win.show-page");
}

/* Has a button that goes to the node of a problem, unless that is shown. */
static void
update_button (AdjRemarksBar *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint graph;
  AdjNodeId node;
  gboolean there;

  if (adj_document_get_problem (document, &graph, &node) == NULL)
    {
      gtk_widget_set_visible (GTK_WIDGET (self->button), TRUE);
      return;
    }
  there =
      !adj_node_id_is_valid (node) || (adj_document_get_graph_index (document) == graph &&
                                       adj_document_get_selected (document).index == node.index);
  gtk_widget_set_visible (GTK_WIDGET (self->button), !there);
  gtk_button_set_label (self->button, _ ("_Show Node"));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button), NULL);
  gtk_actionable_set_action_target_value (GTK_ACTIONABLE (self->button),
                                          g_variant_new ("(uu)", graph, node.index));
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->button), "win.show-node");
  adj_name_widgets (GTK_WIDGET (self->bar));
}

static char *
describe_remarks (const char *file, const AdjDiags *diags, guint n)
{
  const AdjDiag *first = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; first == NULL && i < adj_diags_get_n (diags); i++)
    if (adj_diags_get (diags, i)->severity >= ADJ_SEVERITY_WARNING)
      first = adj_diags_get (diags, i);
  if (first == NULL)
    return g_strdup_printf (_ ("%u remarks about this file"), n);
  text = adj_properties_diag (file, first);
  return n == 1 ? g_steal_pointer (&text)
                : g_strdup_printf (_ ("%u remarks about this file, the first: %s"), n, text);
}

static void
update (AdjRemarksBar *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjBundle *bundle = adj_document_get_bundle (document);
  const AdjDiags *diags = bundle != NULL ? adj_bundle_get_diags (bundle) : NULL;
  guint n = diags != NULL ? adj_diags_count (diags, ADJ_SEVERITY_WARNING) : 0;
  guint graph;
  AdjNodeId node;
  const GError *problem = adj_document_get_problem (document, &graph, &node);

  if (problem != NULL)
    {
      show_remark (self, GTK_MESSAGE_ERROR, problem->message);
    }
  else if (n > 0)
    {
      g_autofree char *text = describe_remarks (adj_document_get_title (document), diags, n);

      show_remark (self, GTK_MESSAGE_WARNING, text);
    }
  update_button (self);
  gtk_info_bar_set_revealed (self->bar, adj_document_get_error (document) == NULL &&
                                            (problem != NULL || (n > 0 && !self->closed)));
}

/* Another file was opened, or the same one was read again. */
static void
update_bundle (AdjRemarksBar *self)
{
  self->closed = FALSE;
  update (self);
}

static void
on_closed (AdjRemarksBar *self)
{
  self->closed = TRUE;
  adj_document_forget_problem (adj_panel_get_document (self));
  gtk_info_bar_set_revealed (self->bar, FALSE);
}

static void
adj_remarks_bar_class_init (AdjRemarksBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/remarks-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjRemarksBar, bar);
  gtk_widget_class_bind_template_child (widget_class, AdjRemarksBar, label);
  gtk_widget_class_bind_template_child (widget_class, AdjRemarksBar, button);
}

static void
adj_remarks_bar_init (AdjRemarksBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->bar, "response", G_CALLBACK (on_closed), self);
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update_bundle));
  adj_panel_watch (ADJ_PANEL (self), "notify::error", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::problem", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update_button));
  adj_panel_watch (ADJ_PANEL (self), "notify::graph-index", G_CALLBACK (update_button));
}
