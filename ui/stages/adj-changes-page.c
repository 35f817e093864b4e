/* SPDX-License-Identifier: MIT */
/* The panel page of what a stage changed. */

#include "stages/adj-changes-page.h"

#include <glib/gi18n.h>

#include "model/adj-stages.h"
#include "report/adj-stage-change.h"
#include "widgets/adj-row-look.h"
#include "widgets/node-rows.h"
#include "widgets/quick-find.h"

struct _AdjChangesPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdwStatusPage *nothing;
  GtkSearchBar *bar;
  GtkListView *rows;
  AdjRecording *recording; /* (owned) (nullable): of what is listed */
  gint stage;
};

G_DEFINE_FINAL_TYPE (AdjChangesPage, adj_changes_page, ADJ_TYPE_PANEL)

/* A sign as well as a colour. */
static const struct
{
  const char *sign, *css_class;
} kinds[] = {
  [ADJ_CHANGE_NONE] = { "·", "dim-label" },
  [ADJ_CHANGE_ADDED] = { "+", "success" },
  [ADJ_CHANGE_REMOVED] = { "−", "error" },
  [ADJ_CHANGE_CHANGED] = { "~", "warning" },
};

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjStageChange *change = gtk_list_item_get_item (item);
  guint count = adj_stage_change_get_count (change);
  const char *classes[] = { kinds[adj_stage_change_get_kind (change)].css_class, "numeric", NULL };
  g_autofree char *sign = NULL;

  sign = count > 1
             ? g_strdup_printf ("%s ×%u", kinds[adj_stage_change_get_kind (change)].sign, count)
             : g_strdup (kinds[adj_stage_change_get_kind (change)].sign);
  gtk_label_set_text (cells[0], sign);
  gtk_widget_set_css_classes (GTK_WIDGET (cells[0]), classes);
  gtk_label_set_text (cells[1], adj_stage_change_get_what (change));
  gtk_label_set_text (cells[2], adj_stage_change_get_why (change));
}

static void
setup (GtkListItem *item, GtkWidget *row, gpointer data)
{
  GtkWidget *sign = gtk_widget_get_first_child (row);

  gtk_label_set_width_chars (GTK_LABEL (sign), 6);
  gtk_label_set_width_chars (GTK_LABEL (gtk_widget_get_next_sibling (sign)), 28);
  gtk_label_set_max_width_chars (GTK_LABEL (gtk_widget_get_next_sibling (sign)), 28);
}

static const AdjRowLook look = {
  .n = 3,
  .cells = { { .numeric = TRUE },
             { .ellipsize = PANGO_ELLIPSIZE_END },
             { .css_class = "dim-label", .expand = TRUE, .wrap = TRUE } },
  .spacing = 12,
  .setup = setup,
  .bind = bind,
};

/* The stage that has the node of a row, its own or the one before.  ADJ_NO_NODE: neither */
static AdjNodeId
find_node (AdjChangesPage *self, AdjStageChange *change, guint *stage)
{
  AdjNodeId after = adj_stage_change_get_after (change);

  *stage = (guint) self->stage;
  if (adj_node_id_is_valid (after))
    return after;
  *stage = (guint) adj_recording_get_stage (self->recording, *stage)->from;
  return adj_stage_change_get_before (change);
}

static void
on_activated (AdjChangesPage *self, guint position)
{
  GListModel *model = G_LIST_MODEL (gtk_list_view_get_model (self->rows));
  g_autoptr (AdjStageChange) change = g_list_model_get_item (model, position);
  guint stage;
  AdjNodeId node = find_node (self, change, &stage);

  if (adj_node_id_is_valid (node))
    adj_stages_show_node (adj_panel_get_document (self), stage, node);
}

static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  AdjChangesPage *self = data;
  AdjDocument *document = adj_panel_get_document (self);
  guint stage;
  AdjNodeId node = find_node (self, item, &stage);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  gtk_selection_model_select_item (gtk_list_view_get_model (self->rows), position, TRUE);
  if (!adj_node_id_is_valid (node))
    return 0;
  g_array_append_val (nodes, node.index);
  return adj_node_rows_take (
      document,
      adj_document_find_graph (document, adj_recording_get_stage (self->recording, stage)->graph),
      nodes, target);
}

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return g_strdup (adj_stage_change_get_what (item));
}

/* Why there is nothing to list. */
static const char *
explain_nothing (const AdjChangesPage *self)
{
  if (self->recording == NULL)
    return _ ("Trace a graph (Ctrl+D) to step through what each pass does");
  if (self->stage < 0)
    return _ ("The shown graph is no stage of the recording");
  if (adj_recording_get_stage (self->recording, (guint) self->stage)->from < 0)
    return _ ("This is where the recording begins");
  return _ ("This pass changed nothing");
}

static void
list_changes (AdjChangesPage *self, AdjDocument *document)
{
  g_autoptr (GListModel) changes = NULL;
  g_autoptr (GArray) nodes = NULL;
  guint n = 0;

  if (self->recording != NULL && self->stage >= 0)
    {
      changes = adj_stage_changes_list (self->recording, (guint) self->stage);
      n = g_list_model_get_n_items (changes);
    }
  if (n > 0)
    {
      g_autoptr (GtkSelectionModel) model =
          GTK_SELECTION_MODEL (gtk_single_selection_new (g_steal_pointer (&changes)));

      gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (model), FALSE);
      gtk_list_view_set_model (self->rows, model);
      nodes = adj_stage_changes_find_nodes (G_LIST_MODEL (model));
    }
  else
    {
      adj_panel_leave (GTK_WIDGET (self->rows));
      gtk_list_view_set_model (self->rows, NULL);
      adw_status_page_set_description (self->nothing, explain_nothing (self));
    }
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "changes" : "nothing");
  adj_document_set_lit (document, nodes != NULL && nodes->len > 0 ? nodes : NULL);
}

/* Graphs are compared only when somebody looks. */
static void
update (AdjChangesPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjRecording *recording;
  gint stage;

  if (document == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  recording = adj_stages_get_recording (document);
  stage = adj_stages_get_current (document);
  if (recording == self->recording && stage == self->stage)
    return;
  g_clear_pointer (&self->recording, adj_recording_unref);
  self->recording = recording != NULL ? adj_recording_ref (recording) : NULL;
  self->stage = stage;
  list_changes (self, document);
}

static void
adj_changes_page_dispose (GObject *object)
{
  g_clear_pointer (&ADJ_CHANGES_PAGE (object)->recording, adj_recording_unref);

  G_OBJECT_CLASS (adj_changes_page_parent_class)->dispose (object);
}

static void
adj_changes_page_class_init (AdjChangesPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_changes_page_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/changes-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, nothing);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, rows);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, bar);
}

static void
adj_changes_page_init (AdjChangesPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&look, NULL);

  self->stage = -2;
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->rows, factory);
  g_signal_connect_swapped (self->rows, "activate", G_CALLBACK (on_activated), self);
  adj_context_menu_watch_rows (GTK_WIDGET (self->rows), prepare_row, self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->rows), _ ("Find a Change"), get_row_text,
                           self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
}
