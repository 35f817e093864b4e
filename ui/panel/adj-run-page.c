/* SPDX-License-Identifier: MIT */
#include "panel/adj-run-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-scene-painter.h"
#include "model/adj-facts.h"
#include "model/adj-output-item.h"
#include "model/adj-tensor-stats.h"
#include "panel/adj-column.h"
#include "panel/name-widgets.h"

/* What torch.testing takes for float32. */
#define USUAL_RTOL 1.3e-6
#define USUAL_ATOL 1e-5

struct _AdjRunPage
{
  AdjPanel parent_instance;

  AdwComboRow *inputs; /* recorded calls, then random, then a file */
  AdwActionRow *seed_row;
  GtkSpinButton *seed;
  AdwActionRow *file_row;
  AdwComboRow *executor;
  GtkSwitch *float64;
  AdwComboRow *peer; /* nothing, what was recorded, then the graphs of @peers */
  AdwComboRow *tolerance;
  AdwActionRow *rtol_row, *atol_row;
  GtkEntry *rtol, *atol;
  GtkButton *run;
  GtkStack *stack;
  GtkColumnView *outputs;

  GArray *peers; /* of guint: places in the set of graphs */
  guint n_calls;
  const AdjBundleGraph *listed; /* the graph that all this is of */
  gboolean updating;            /* the widgets follow the document */
};

G_DEFINE_FINAL_TYPE (AdjRunPage, adj_run_page, ADJ_TYPE_PANEL)

/* -- what was chosen -- */

enum
{
  PEER_NOTHING,
  PEER_RECORDED,
  PEER_FIRST,
};

/* %FALSE, and marked, where the text is no number from zero on. */
static gboolean
read_number (GtkEntry *entry, double *number)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (entry));
  char *end;
  double value = g_ascii_strtod (text, &end);
  gboolean valid = end != text && *end == '\0' && isfinite (value) && value >= 0;

  if (valid)
    {
      *number = value;
      gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
    }
  else
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_STATE_INVALID,
                               valid ? GTK_ACCESSIBLE_INVALID_FALSE : GTK_ACCESSIBLE_INVALID_TRUE,
                               -1);
  return valid;
}

static void
read_inputs (AdjRunPage *self, AdjRunChoice *choice)
{
  guint chosen = adw_combo_row_get_selected (self->inputs);

  choice->random = chosen == self->n_calls;
  choice->seed = (guint32) gtk_spin_button_get_value (self->seed);
  if (chosen < self->n_calls)
    choice->call = chosen;
  if (chosen <= self->n_calls)
    choice->file = NULL;
}

static void
on_changed (AdjRunPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint executor = adw_combo_row_get_selected (self->executor);
  gboolean was_close;
  AdjRunChoice choice;

  if (self->updating || document == NULL)
    return;
  choice = adj_document_get_run_choice (document);
  was_close = choice.close;
  read_inputs (self, &choice);
  choice.executor =
      executor > 0 && executor < adj_executors_get_n () ? adj_executors_get (executor) : NULL;
  choice.float64 = gtk_switch_get_active (self->float64);
  choice.close = adw_combo_row_get_selected (self->tolerance) == 1;
  if (choice.close && !was_close && choice.rtol == 0 && choice.atol == 0)
    {
      choice.rtol = USUAL_RTOL;
      choice.atol = USUAL_ATOL;
    }
  adj_document_set_run_choice (document, choice);
}

static void
on_inputs_chosen (AdjRunPage *self)
{
  if (self->updating)
    return;
  if (adw_combo_row_get_selected (self->inputs) == self->n_calls + 1)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.inputs", "s", "file");
  else
    on_changed (self);
}

static void
on_tolerance_applied (AdjRunPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjRunChoice choice;

  if (self->updating || document == NULL)
    return;
  choice = adj_document_get_run_choice (document);
  if (read_number (self->rtol, &choice.rtol) & read_number (self->atol, &choice.atol))
    adj_document_set_run_choice (document, choice);
}

static void
on_run (AdjRunPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  guint chosen = adw_combo_row_get_selected (self->peer);

  /* A button that cannot be pressed would lose the focus. */
  if (adj_document_is_running (document))
    return;
  if (chosen >= PEER_FIRST && chosen - PEER_FIRST < self->peers->len)
    adj_document_run_against (
        document, graphs,
        adj_graph_set_get (graphs, g_array_index (self->peers, guint, chosen - PEER_FIRST)));
  else
    adj_document_run (document, chosen == PEER_RECORDED);
}

/* -- what there is to choose -- */

static void
list_inputs (AdjRunPage *self, const AdjBundleGraph *graph)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  self->n_calls =
      adj_run_choice_count_calls (adj_document_get_graphs (adj_panel_get_document (self)), graph);
  for (guint i = 0; i < self->n_calls; i++)
    gtk_string_list_take (names, g_strdup_printf (_ ("Recorded call %u"), i + 1));
  gtk_string_list_append (names, _ ("Random numbers"));
  gtk_string_list_append (names, _ ("A file…"));
  adw_combo_row_set_model (self->inputs, G_LIST_MODEL (names));
}

static void
list_executors (AdjRunPage *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint i = 0; i < adj_executors_get_n (); i++)
    gtk_string_list_append (names, adj_executors_get (i)->name);
  adw_combo_row_set_model (self->executor, G_LIST_MODEL (names));
}

static void
list_peers (AdjRunPage *self, const AdjBundleGraph *graph)
{
  AdjGraphSet *graphs = adj_document_get_graphs (adj_panel_get_document (self));
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  g_array_set_size (self->peers, 0);
  gtk_string_list_append (names, _ ("Nothing"));
  gtk_string_list_append (names, _ ("What was recorded"));
  for (guint i = 0; i < adj_graph_set_get_n (graphs); i++)
    {
      const AdjBundleGraph *other = adj_graph_set_get (graphs, i);

      if (other == graph ||
          adj_graph_get_n_inputs (other->graph) != adj_graph_get_n_inputs (graph->graph))
        continue;
      gtk_string_list_take (
          names, g_strdup_printf ("%s (%s)", adj_facts_role_title (other->role), other->id));
      g_array_append_val (self->peers, i);
    }
  adw_combo_row_set_model (self->peer, G_LIST_MODEL (names));
  adw_combo_row_set_selected (self->peer, self->n_calls > 0 ? PEER_RECORDED : PEER_NOTHING);
}

static guint
find_executor (const AdjExecutor *executor)
{
  for (guint i = 0; i < adj_executors_get_n (); i++)
    if (adj_executors_get (i) == executor)
      return i;
  return 0;
}

static void
show_number (GtkEntry *entry, double number)
{
  g_autofree char *text = g_strdup_printf ("%g", number);
  double there;

  if (!read_number (entry, &there) || there != number)
    gtk_editable_set_text (GTK_EDITABLE (entry), text);
  gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
}

static void
show_choice (AdjRunPage *self)
{
  AdjRunChoice choice = adj_document_get_run_choice (adj_panel_get_document (self));
  g_autofree char *file = choice.file != NULL ? g_filename_display_name (choice.file) : NULL;
  g_autofree char *subtitle = file != NULL ? g_markup_escape_text (file, -1) : NULL;
  guint inputs = choice.file != NULL ? self->n_calls + 1
                 : choice.random     ? self->n_calls
                                     : choice.call;

  self->updating = TRUE;
  adw_combo_row_set_selected (self->inputs, inputs);
  gtk_widget_set_visible (GTK_WIDGET (self->seed_row), inputs == self->n_calls);
  gtk_widget_set_visible (GTK_WIDGET (self->file_row), choice.file != NULL);
  adw_action_row_set_subtitle (self->file_row, subtitle != NULL ? subtitle : "");
  gtk_spin_button_set_value (self->seed, choice.seed);
  adw_combo_row_set_selected (self->executor, find_executor (choice.executor));
  gtk_switch_set_active (self->float64, choice.float64);
  adw_combo_row_set_selected (self->tolerance, choice.close ? 1 : 0);
  gtk_widget_set_visible (GTK_WIDGET (self->rtol_row), choice.close);
  gtk_widget_set_visible (GTK_WIDGET (self->atol_row), choice.close);
  show_number (self->rtol, choice.rtol);
  show_number (self->atol, choice.atol);
  self->updating = FALSE;
}

/* -- what came out -- */

static char *
get_position (gpointer item)
{
  return g_strdup_printf ("%u", adj_output_item_get_position (item));
}

static char *
get_name (gpointer item)
{
  return g_strdup (adj_output_item_get_name (item));
}

static char *
get_type_of (gpointer item)
{
  AdjTensorData *value = adj_output_item_get_value (item);
  GString *text = g_string_new (value == NULL ? "None" : NULL);

  if (value != NULL)
    adj_tensor_meta_print (adj_tensor_data_get_meta (value), NULL, text);
  return g_string_free (text, FALSE);
}

static char *
get_first (gpointer item)
{
  AdjTensorData *value = adj_output_item_get_value (item);

  return value != NULL ? adj_tensor_stats_first (value, 4) : g_strdup ("–");
}

static char *
get_max_abs (gpointer item)
{
  const AdjValueComparison *comparison = adj_output_item_get_comparison (item);

  return adj_facts_number (comparison != NULL && adj_output_item_get_value (item) != NULL
                               ? comparison->difference.max_abs
                               : NAN);
}

static char *
get_status (gpointer item)
{
  const AdjValueComparison *comparison = adj_output_item_get_comparison (item);

  if (comparison == NULL)
    return g_strdup ("");
  return g_strdup_printf ("%s  %s", adj_verdict_sign (comparison->verdict),
                          adj_facts_verdict (comparison->verdict));
}

static const AdjColumn columns[] = {
  { "#", get_position, 44, FALSE, TRUE, NULL },
  { N_ ("Output"), get_name, 170, TRUE, FALSE, NULL },
  { N_ ("Type"), get_type_of, 150, FALSE, TRUE, NULL },
  { N_ ("First"), get_first, -1, FALSE, TRUE, NULL },
  { N_ ("Max abs"), get_max_abs, 86, FALSE, TRUE, NULL },
  { N_ ("Status"), get_status, 150, FALSE, FALSE, NULL },
};

static void
on_output_activated (AdjRunPage *self, guint position)
{
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (self->outputs));
  g_autoptr (AdjOutputItem) item = g_list_model_get_item (model, position);

  if (item != NULL)
    adj_document_set_selected (adj_panel_get_document (self), adj_output_item_get_node (item));
}

static void
update_outputs (AdjRunPage *self)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (adj_panel_get_document (self));
  g_autoptr (GtkSingleSelection) selection = NULL;

  if (evaluation != NULL)
    {
      selection = gtk_single_selection_new (G_LIST_MODEL (adj_outputs_list (evaluation)));
      gtk_single_selection_set_autoselect (selection, FALSE);
    }
  gtk_column_view_set_model (self->outputs, GTK_SELECTION_MODEL (selection));
  gtk_stack_set_visible_child_name (self->stack, evaluation != NULL ? "outputs" : "empty");
}

static void
update (AdjRunPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));

  gtk_widget_set_sensitive (GTK_WIDGET (self), graph != NULL);
  if (graph == self->listed)
    return;
  self->listed = graph;
  if (graph == NULL)
    return;
  self->updating = TRUE;
  list_inputs (self, graph);
  list_executors (self);
  list_peers (self, graph);
  self->updating = FALSE;
  show_choice (self);
  update_outputs (self);
}

/* -- widget -- */

/* By Enter, and by going on. */
static void
take_when_left (AdjRunPage *self, GtkEntry *entry)
{
  GtkEventController *focus = gtk_event_controller_focus_new ();

  g_signal_connect_swapped (entry, "activate", G_CALLBACK (on_tolerance_applied), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (on_tolerance_applied), self);
  gtk_widget_add_controller (GTK_WIDGET (entry), focus);
}

/* What a row is made of has no names of its own. */
static void
name_inside (GtkWidget *widget, const char *name)
{
  if (ADW_IS_PREFERENCES_ROW (widget))
    name = adw_preferences_row_get_title (ADW_PREFERENCES_ROW (widget));
  if (*name == '_')
    name++;
  if (ADW_IS_COMBO_ROW (widget))
    adj_name_choices (widget, name);
  if (GTK_IS_LIST_BOX (widget) || GTK_IS_IMAGE (widget))
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                    -1);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    name_inside (child, name);
}

static void
adj_run_page_finalize (GObject *object)
{
  g_array_unref (ADJ_RUN_PAGE (object)->peers);

  G_OBJECT_CLASS (adj_run_page_parent_class)->finalize (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjRunPage, name)

static void
adj_run_page_class_init (AdjRunPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = adj_run_page_finalize;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/run-page.ui");
  BIND (inputs);
  BIND (seed_row);
  BIND (seed);
  BIND (file_row);
  BIND (executor);
  BIND (float64);
  BIND (peer);
  BIND (tolerance);
  BIND (rtol_row);
  BIND (rtol);
  BIND (atol_row);
  BIND (atol);
  BIND (run);
  BIND (stack);
  BIND (outputs);
}

static void
adj_run_page_init (AdjRunPage *self)
{
  self->peers = g_array_new (FALSE, FALSE, sizeof (guint));
  gtk_widget_init_template (GTK_WIDGET (self));
  name_inside (gtk_widget_get_ancestor (GTK_WIDGET (self->inputs), ADW_TYPE_PREFERENCES_GROUP),
               _ ("How to run"));
  name_inside (gtk_widget_get_ancestor (GTK_WIDGET (self->peer), ADW_TYPE_PREFERENCES_GROUP),
               _ ("What to compare with"));
  gtk_spin_button_set_range (self->seed, 0, G_MAXUINT32);
  gtk_spin_button_set_increments (self->seed, 1, 100);
  adj_columns_append (self->outputs, columns, G_N_ELEMENTS (columns));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::run-choice", G_CALLBACK (show_choice));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update_outputs));
  g_signal_connect_swapped (self->inputs, "notify::selected", G_CALLBACK (on_inputs_chosen), self);
  g_signal_connect_swapped (self->seed, "value-changed", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->executor, "notify::selected", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->float64, "notify::active", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->tolerance, "notify::selected", G_CALLBACK (on_changed), self);
  take_when_left (self, self->rtol);
  take_when_left (self, self->atol);
  g_signal_connect_swapped (self->run, "clicked", G_CALLBACK (on_run), self);
  g_signal_connect_swapped (self->outputs, "activate", G_CALLBACK (on_output_activated), self);
}

void
adj_run_page_focus (AdjRunPage *self)
{
  g_return_if_fail (ADJ_IS_RUN_PAGE (self));

  gtk_widget_grab_focus (GTK_WIDGET (self->inputs));
}
