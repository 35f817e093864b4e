/* SPDX-License-Identifier: MIT */
/* The panel page of a stage's changes. */

#include "stages/adj-changes-page.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-stage-summaries.h"
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
  GtkLabel *sentence, *check;
  GtkButton *first_button;
  GtkToggleButton *metadata; /* shown where there are both */
  GtkSearchEntry *filter_entry;
  GtkCustomFilter *filter;
  AdjStageSummaries *summaries; /* (unowned) (nullable): summaries of the document */
  gulong changed;               /* handler of @summaries */
  AdjRecording *recording;      /* (owned) (nullable): recording of the listed stage */
  gint stage;                   /* index of the listed stage; of a pair that of its forward half */
  gint step;
};

G_DEFINE_FINAL_TYPE (AdjChangesPage, adj_changes_page, ADJ_TYPE_PANEL)

/* Kinds have a sign as well as a colour. */
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
  gtk_label_set_width_chars (GTK_LABEL (gtk_widget_get_next_sibling (sign)), 20);
  gtk_label_set_max_width_chars (GTK_LABEL (gtk_widget_get_next_sibling (sign)), 48);
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

/* The node of a row, and its stage: the listed one, or the one before.  ADJ_NO_NODE: neither has it
 */
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

/* Where to show the row's node: in its stage, or in the pair if that is shown. */
static AdjNodeId
find_shown (AdjChangesPage *self, guint stage, AdjNodeId node, guint *graph)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjGraph *of = adj_recording_get_stage (self->recording, stage)->graph;
  const AdjBundleGraph *shown = adj_document_get_graph (document);

  if (shown != NULL && g_str_equal (shown->role, ADJ_PAIR_ROLE) && stage == (guint) self->stage)
    {
      *graph = adj_document_get_graph_index (document);
      return adj_graph_find_node (shown->graph, adj_graph_get_node (of, node.index)->name);
    }
  *graph = adj_document_find_graph (document, of);
  return node;
}

static void
on_activated (AdjChangesPage *self, guint position)
{
  GListModel *model = G_LIST_MODEL (gtk_list_view_get_model (self->rows));
  g_autoptr (AdjStageChange) change = g_list_model_get_item (model, position);
  guint stage, graph;
  AdjNodeId node = find_node (self, change, &stage);

  if (!adj_node_id_is_valid (node))
    return;
  node = find_shown (self, stage, node, &graph);
  if (graph != G_MAXUINT)
    adj_document_show (adj_panel_get_document (self), graph, node);
}

static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  AdjChangesPage *self = data;
  AdjDocument *document = adj_panel_get_document (self);
  guint stage, graph;
  AdjNodeId node = find_node (self, item, &stage);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  gtk_selection_model_select_item (gtk_list_view_get_model (self->rows), position, TRUE);
  if (!adj_node_id_is_valid (node))
    return 0;
  node = find_shown (self, stage, node, &graph);
  g_array_append_val (nodes, node.index);
  return adj_node_rows_take (document, graph, nodes, target);
}

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return g_strdup (adj_stage_change_get_what (item));
}

/* Why the list is empty. */
static const char *
explain_nothing (const AdjChangesPage *self)
{
  if (self->recording == NULL || adj_recording_get_n_stages (self->recording) == 1)
    return _ ("Trace the graph (Ctrl+D) to step through what each pass does");
  if (self->stage < 0)
    return _ ("The shown graph is no stage of the recording");
  if (adj_recording_get_stage (self->recording, (guint) self->stage)->from < 0)
    return _ ("This is where the stages begin");
  return _ ("This pass changed nothing");
}

/* Metadata is listed apart where there is anything else. */
static gboolean
is_listed (AdjChangesPage *self, gpointer item)
{
  return !gtk_widget_get_visible (GTK_WIDGET (self->metadata)) ||
         adj_stage_change_is_metadata (item) == gtk_toggle_button_get_active (self->metadata);
}

/* Searches name, operator, kind ("added", "+") and reason, ignoring case; all words must be found.
 */
static gboolean
matches (gpointer item, gpointer data)
{
  static const char *const kind_names[] = { [ADJ_CHANGE_NONE] = "·",
                                            [ADJ_CHANGE_ADDED] = "+ added",
                                            [ADJ_CHANGE_REMOVED] = "- − removed",
                                            [ADJ_CHANGE_CHANGED] = "~ changed became" };
  AdjChangesPage *self = data;
  const char *query = gtk_editable_get_text (GTK_EDITABLE (self->filter_entry));
  g_autofree char *text =
      g_strdup_printf ("%s %s %s", kind_names[adj_stage_change_get_kind (item)],
                       adj_stage_change_get_what (item), adj_stage_change_get_why (item));
  g_autofree char *folded = g_utf8_casefold (text, -1), *wanted = g_utf8_casefold (query, -1);
  g_auto (GStrv) words = g_strsplit (wanted, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (folded, words[i]) == NULL)
      return FALSE;
  return is_listed (self, item);
}

/* Shows "Equal, error 3e-07", or the first difference with a link to it. */
static void
update_check (AdjChangesPage *self)
{
  const AdjStageSummary *summary =
      self->summaries != NULL && self->step >= 0
          ? adj_stage_summaries_get (self->summaries, (guint) self->step)
          : NULL;
  gboolean differs = summary != NULL && summary->check == ADJ_CHECK_DIFFERS;
  gboolean equal =
      summary != NULL && (summary->check == ADJ_CHECK_EQUAL || summary->check == ADJ_CHECK_WITHIN);
  g_autofree char *text = NULL;

  if (summary != NULL && summary->before >= 0 && !summary->is_half)
    text = equal || differs
               ? g_strdup_printf (_ ("Its results: %s"), adj_stage_summary_describe (summary))
               : g_strdup_printf (_ ("Not compared: %s"), adj_stage_summary_describe (summary));
  gtk_label_set_text (self->check, text != NULL ? text : "");
  gtk_widget_set_css_classes (GTK_WIDGET (self->check),
                              (const char *[]){ differs ? "verdict-differs"
                                                : equal ? "verdict-equal"
                                                        : "dim-label",
                                                NULL });
  gtk_widget_set_visible (GTK_WIDGET (self->first_button),
                          differs && adj_node_id_is_valid (summary->first));
}

static void
on_first (AdjChangesPage *self)
{
  const AdjStageSummary *summary = adj_stage_summaries_get (self->summaries, (guint) self->step);

  if (summary != NULL)
    adj_document_set_selected (adj_panel_get_document (self), summary->first);
}

static void
offer_metadata (AdjChangesPage *self, GListModel *changes)
{
  guint n = g_list_model_get_n_items (changes), n_metadata = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (AdjStageChange) change = g_list_model_get_item (changes, i);

      n_metadata += adj_stage_change_is_metadata (change);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->metadata), n_metadata > 0 && n_metadata < n);
}

static void
set_rows (AdjChangesPage *self, GListModel *changes)
{
  GtkFilterListModel *filtered =
      gtk_filter_list_model_new (changes, GTK_FILTER (g_object_ref (self->filter)));
  g_autoptr (GtkSelectionModel) model =
      GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (filtered)));

  gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (model), FALSE);
  gtk_list_view_set_model (self->rows, model);
}

static void
list_changes (AdjChangesPage *self, AdjDocument *document)
{
  g_autoptr (GListModel) changes = NULL;
  g_autoptr (GArray) nodes = NULL;
  g_autofree char *sentence = NULL;
  guint n = 0;

  if (self->recording != NULL && self->stage >= 0)
    {
      changes = adj_stage_changes_list (self->recording, (guint) self->stage);
      sentence = adj_stage_changes_describe (self->recording, (guint) self->stage, changes);
      n = g_list_model_get_n_items (changes);
    }
  if (n > 0)
    {
      nodes = adj_stage_changes_find_nodes (changes);
      gtk_label_set_text (self->sentence, sentence);
      offer_metadata (self, changes);
      set_rows (self, g_steal_pointer (&changes));
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

/* The index of the listed stage; for a pair that of its forward half. */
static gint
find_stage (AdjDocument *document, gint current)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  const AdjStep *step = current >= 0 ? &g_array_index (steps, AdjStep, current) : NULL;

  if (step == NULL)
    return -1;
  return step->stage < 0 && (guint) current + 1 < steps->len ? step[1].stage : step->stage;
}

static void
follow_summaries (AdjChangesPage *self, AdjDocument *document)
{
  AdjStageSummaries *summaries = adj_stage_summaries_of (document);

  if (summaries == self->summaries)
    return;
  if (self->summaries != NULL)
    g_clear_signal_handler (&self->changed, self->summaries);
  g_set_weak_pointer (&self->summaries, summaries);
  self->changed = g_signal_connect_object (summaries, "changed", G_CALLBACK (update_check), self,
                                           G_CONNECT_SWAPPED);
}

/* Compares graphs only when the page is visible. */
static void
update (AdjChangesPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjRecording *recording;
  gint step;

  if (document == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  recording = adj_stages_get_recording (document);
  step = adj_stages_get_current_step (document);
  follow_summaries (self, document);
  if (recording == self->recording && step == self->step)
    return;
  g_clear_pointer (&self->recording, adj_recording_unref);
  self->recording = recording != NULL ? adj_recording_ref (recording) : NULL;
  self->step = step;
  self->stage = find_stage (document, step);
  list_changes (self, document);
  update_check (self);
}

static void
on_filter (AdjChangesPage *self)
{
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
}

static void
adj_changes_page_dispose (GObject *object)
{
  AdjChangesPage *self = ADJ_CHANGES_PAGE (object);

  g_clear_pointer (&self->recording, adj_recording_unref);
  if (self->summaries != NULL)
    g_clear_signal_handler (&self->changed, self->summaries);
  g_clear_weak_pointer (&self->summaries);
  g_clear_object (&self->filter);

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
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, metadata);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, filter_entry);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, first_button);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, check);
  gtk_widget_class_bind_template_child (widget_class, AdjChangesPage, sentence);
}

static void
adj_changes_page_init (AdjChangesPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&look, NULL);

  self->stage = self->step = -2;
  self->filter = gtk_custom_filter_new (matches, self, NULL);
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->rows, factory);
  g_signal_connect_swapped (self->rows, "activate", G_CALLBACK (on_activated), self);
  adj_context_menu_watch_rows (GTK_WIDGET (self->rows), prepare_row, self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->rows), _ ("Find a Change"), get_row_text,
                           self);
  g_signal_connect_swapped (self->filter_entry, "search-changed", G_CALLBACK (on_filter), self);
  g_signal_connect_swapped (self->metadata, "toggled", G_CALLBACK (on_filter), self);
  g_signal_connect_swapped (self->first_button, "clicked", G_CALLBACK (on_first), self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
}
