/* SPDX-License-Identifier: MIT */
/* The panel page of a run: its inputs and reference, and its outputs. */

#include "panel/adj-run-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-scene-painter.h"
#include "ir/adj-graph.h"
#include "model/adj-output-item.h"
#include "panel/executor-note.h"
#include "panel/kept-run-row.h"
#include "panel/output-columns.h"
#include "report/adj-properties.h"
#include "widgets/name-widgets.h"

/* Tolerances of torch.testing for float32. */
#define USUAL_RTOL 1.3e-6
#define USUAL_ATOL 1e-5

struct _AdjRunPage
{
  AdjPanel parent_instance;

  AdwComboRow *inputs; /* entries: recorded calls, @runs, random, a file */
  AdwActionRow *seed_row;
  GtkSpinButton *seed;
  AdwActionRow *file_row;
  AdwComboRow *executor;
  GtkSwitch *float64;
  AdwComboRow *peer; /* entries: nothing, recorded results, @runs, the graphs of @peers, a file */
  AdwActionRow *values_row;
  AdwComboRow *tolerance;
  AdwActionRow *rtol_row, *atol_row;
  GtkEntry *rtol, *atol;
  AdwPreferencesGroup *kept;
  GPtrArray *kept_rows; /* of GtkWidget: rows of @runs */
  GtkButton *run;
  GtkStack *stack;
  GtkColumnView *outputs;

  GArray *peers;      /* of guint: indices in the set of graphs */
  const char *values; /* (nullable): the shown file */
  guint n_calls;
  GPtrArray *runs;              /* (nullable): AdjRecordedCall: the kept runs */
  const AdjBundleGraph *listed; /* the graph that all entries are of */
  gboolean updating;            /* the widgets are being set from the document */
};

G_DEFINE_FINAL_TYPE (AdjRunPage, adj_run_page, ADJ_TYPE_PANEL)

/* -- what was chosen -- */

#define PEER_NOTHING 0
#define PEER_RECORDED 1 /* recorded results */

static void show_choice (AdjRunPage *self);

static gboolean
is_recorded_peer (AdjRunPage *self, guint peer)
{
  return self->n_calls > 0 && peer == PEER_RECORDED;
}

/* The entry of the first run. */
static guint
get_first_run (AdjRunPage *self)
{
  return self->n_calls > 0 ? PEER_RECORDED + 1 : PEER_NOTHING + 1;
}

static gboolean
is_run_peer (AdjRunPage *self, guint peer)
{
  return peer >= get_first_run (self) && peer - get_first_run (self) < self->runs->len;
}

/* The entry of a file of values. */
static guint
get_file_peer (AdjRunPage *self)
{
  return get_first_run (self) + self->runs->len + self->peers->len;
}

/* %FALSE, and the entry is marked, where the text is no number ≥ 0. */
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

static const char *
get_run_name (AdjRunPage *self, guint index)
{
  return ((const AdjRecordedCall *) self->runs->pdata[index])->origin->name;
}

/* The index of the kept run; G_MAXUINT: it is not kept. */
static guint
find_run (AdjRunPage *self, const char *name)
{
  for (guint i = 0; name != NULL && i < self->runs->len; i++)
    if (g_str_equal (get_run_name (self, i), name))
      return i;
  return G_MAXUINT;
}

/* The entry of random inputs. */
static guint
get_random (AdjRunPage *self)
{
  return self->n_calls + self->runs->len;
}

static void
read_inputs (AdjRunPage *self, AdjRunChoice *choice)
{
  guint chosen = adw_combo_row_get_selected (self->inputs), random = get_random (self);

  choice->random = chosen == random;
  choice->seed = (guint32) gtk_spin_button_get_value (self->seed);
  if (chosen < self->n_calls)
    choice->call = chosen;
  choice->kept = chosen >= self->n_calls && chosen < random
                     ? g_intern_string (get_run_name (self, chosen - self->n_calls))
                     : NULL;
  if (chosen <= random)
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
  if (adw_combo_row_get_selected (self->inputs) == get_random (self) + 1)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.inputs", "s", "file");
  else
    on_changed (self);
}

/* Comparing with a kept run, or with recorded results, also chooses its inputs. */
static void
on_peer_chosen (AdjRunPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint chosen = adw_combo_row_get_selected (self->peer);
  AdjRunChoice choice;

  if (self->updating || document == NULL)
    return;
  choice = adj_document_get_run_choice (document);
  if (chosen == get_file_peer (self))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.compare-values", NULL);
  else if (is_run_peer (self, chosen))
    choice.kept = g_intern_string (get_run_name (self, chosen - get_first_run (self)));
  else if (is_recorded_peer (self, chosen))
    {
      choice.kept = NULL;
      choice.file = NULL;
      choice.random = FALSE;
    }
  adj_document_set_run_choice (document, choice);
  show_choice (self);
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
  guint first = get_first_run (self) + self->runs->len;

  /* The button stays sensitive during a run, as else it would lose the focus. */
  if (adj_document_is_running (document))
    return;
  if (chosen == get_file_peer (self) && adj_document_get_run_choice (document).values == NULL)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.compare-values", NULL);
  else if (chosen == get_file_peer (self))
    adj_document_run_against_values (document);
  else if (chosen >= first && chosen - first < self->peers->len)
    adj_document_run_against (
        document, graphs,
        adj_graph_set_get (graphs, g_array_index (self->peers, guint, chosen - first)));
  else
    adj_document_run (document, chosen != PEER_NOTHING);
}

/* -- what there is to choose -- */

static void
list_runs (AdjRunPage *self, GtkStringList *names)
{
  for (guint i = 0; i < self->runs->len; i++)
    gtk_string_list_take (names, g_strdup_printf (_ ("Run “%s”"), get_run_name (self, i)));
}

static void
list_inputs (AdjRunPage *self, const AdjBundleGraph *graph)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  self->n_calls =
      adj_run_choice_count_calls (adj_document_get_graphs (adj_panel_get_document (self)), graph);
  for (guint i = 0; i < self->n_calls; i++)
    gtk_string_list_take (names, g_strdup_printf (_ ("Recorded call %u"), i + 1));
  list_runs (self, names);
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
  if (self->n_calls > 0)
    gtk_string_list_append (names, _ ("What was recorded"));
  list_runs (self, names);
  for (guint i = 0; i < adj_graph_set_get_n (graphs); i++)
    {
      const AdjBundleGraph *other = adj_graph_set_get (graphs, i);

      if (other == graph ||
          adj_graph_get_n_inputs (other->graph) != adj_graph_get_n_inputs (graph->graph))
        continue;
      gtk_string_list_take (
          names, g_strdup_printf ("%s (%s)", adj_properties_role_title (other->role), other->id));
      g_array_append_val (self->peers, i);
    }
  gtk_string_list_append (names, _ ("Values of a file…"));
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

/* @path: (nullable) */
static void
show_file (AdwActionRow *row, const char *path)
{
  g_autofree char *name = path != NULL ? g_filename_display_name (path) : g_strdup ("");
  g_autofree char *subtitle = g_markup_escape_text (name, -1);

  adw_action_row_set_subtitle (row, subtitle);
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

/* Selects the reference that belongs to the chosen inputs. */
static void
show_peer (AdjRunPage *self, AdjRunChoice choice)
{
  guint shown = adw_combo_row_get_selected (self->peer), peer = shown;
  gboolean has_results = is_run_peer (self, shown) || is_recorded_peer (self, shown);

  if (choice.kept != NULL && has_results)
    peer = get_first_run (self) + find_run (self, choice.kept);
  else if (has_results)
    peer = adj_run_choice_is_recorded (choice) ? PEER_RECORDED : PEER_NOTHING;
  else if (choice.values != NULL && choice.values != self->values)
    peer = get_file_peer (self);
  self->values = choice.values;
  adw_combo_row_set_selected (self->peer, peer);
  gtk_widget_set_visible (GTK_WIDGET (self->values_row),
                          peer == get_file_peer (self) && choice.values != NULL);
  show_file (self->values_row, choice.values);
}

static void
show_choice (AdjRunPage *self)
{
  AdjRunChoice choice = adj_document_get_run_choice (adj_panel_get_document (self));
  guint inputs = choice.kept != NULL   ? self->n_calls + find_run (self, choice.kept)
                 : choice.file != NULL ? get_random (self) + 1
                 : choice.random       ? get_random (self)
                                       : choice.call;

  self->updating = TRUE;
  adw_combo_row_set_selected (self->inputs, inputs);
  show_peer (self, choice);
  gtk_widget_set_visible (GTK_WIDGET (self->seed_row), inputs == get_random (self));
  gtk_widget_set_visible (GTK_WIDGET (self->file_row), inputs == get_random (self) + 1);
  show_file (self->file_row, choice.file);
  gtk_spin_button_set_value (self->seed, choice.seed);
  adw_combo_row_set_selected (self->executor, find_executor (choice.executor));
  adj_executor_note_show (ADW_ACTION_ROW (self->executor),
                          adj_executors_get (find_executor (choice.executor)));
  gtk_switch_set_active (self->float64, choice.float64);
  adw_combo_row_set_selected (self->tolerance, choice.close ? 1 : 0);
  gtk_widget_set_visible (GTK_WIDGET (self->rtol_row), choice.close);
  gtk_widget_set_visible (GTK_WIDGET (self->atol_row), choice.close);
  show_number (self->rtol, choice.rtol);
  show_number (self->atol, choice.atol);
  self->updating = FALSE;
}

/* -- what came out -- */

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
  else
    adj_panel_leave (GTK_WIDGET (self->outputs));
  gtk_column_view_set_model (self->outputs, GTK_SELECTION_MODEL (selection));
  adj_output_columns_update (self->outputs);
  gtk_stack_set_visible_child_name (self->stack, evaluation != NULL ? "outputs" : "empty");
}

/* Names the parts of a row, which have no accessible names of their own. */
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

/* -- runs that are kept -- */

static void
show_kept (AdjRunPage *self)
{
  const AdjBundle *bundle = adj_document_get_bundle (adj_panel_get_document (self));

  for (guint i = 0; i < self->kept_rows->len; i++)
    adw_preferences_group_remove (self->kept, self->kept_rows->pdata[i]);
  g_ptr_array_set_size (self->kept_rows, 0);
  for (guint i = 0; i < self->runs->len; i++)
    {
      GtkWidget *row = adj_kept_run_row_new (bundle, self->runs->pdata[i]);

      adw_preferences_group_add (self->kept, row);
      g_ptr_array_add (self->kept_rows, row);
    }
  name_inside (GTK_WIDGET (self->kept), _ ("Kept Runs"));
  gtk_widget_set_visible (GTK_WIDGET (self->kept), self->runs->len > 0);
}

static void
list_all (AdjRunPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);

  g_ptr_array_unref (self->runs);
  self->runs = adj_graph_set_list_runs (adj_document_get_graphs (document), self->listed);
  self->updating = TRUE;
  list_inputs (self, self->listed);
  list_executors (self);
  list_peers (self, self->listed);
  show_kept (self);
  self->updating = FALSE;
  show_choice (self);
}

static void
update_runs (AdjRunPage *self)
{
  if (self->listed != NULL &&
      self->listed == adj_document_get_graph (adj_panel_get_document (self)))
    list_all (self);
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
  list_all (self);
  update_outputs (self);
}

/* -- widget -- */

/* Takes the number on Enter, and when the entry loses the focus. */
static void
take_when_left (AdjRunPage *self, GtkEntry *entry)
{
  GtkEventController *focus = gtk_event_controller_focus_new ();

  g_signal_connect_swapped (entry, "activate", G_CALLBACK (on_tolerance_applied), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (on_tolerance_applied), self);
  gtk_widget_add_controller (GTK_WIDGET (entry), focus);
}

static void
adj_run_page_finalize (GObject *object)
{
  g_array_unref (ADJ_RUN_PAGE (object)->peers);
  g_ptr_array_unref (ADJ_RUN_PAGE (object)->runs);
  g_ptr_array_unref (ADJ_RUN_PAGE (object)->kept_rows);

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
  BIND (values_row);
  BIND (kept);
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
  self->runs = g_ptr_array_new ();
  self->kept_rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  name_inside (gtk_widget_get_ancestor (GTK_WIDGET (self->inputs), ADW_TYPE_PREFERENCES_GROUP),
               _ ("How to run"));
  name_inside (gtk_widget_get_ancestor (GTK_WIDGET (self->peer), ADW_TYPE_PREFERENCES_GROUP),
               _ ("What to compare with"));
  gtk_spin_button_set_range (self->seed, 0, G_MAXUINT32);
  gtk_spin_button_set_increments (self->seed, 1, 100);
  adj_output_columns_append (self->outputs);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::run-choice", G_CALLBACK (show_choice));
  adj_panel_watch (ADJ_PANEL (self), "notify::runs", G_CALLBACK (update_runs));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update_outputs));
  g_signal_connect_swapped (self->inputs, "notify::selected", G_CALLBACK (on_inputs_chosen), self);
  g_signal_connect_swapped (self->peer, "notify::selected", G_CALLBACK (on_peer_chosen), self);
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
