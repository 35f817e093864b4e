/* SPDX-License-Identifier: MIT */
/* The strip of stages above the canvas. */

#include "stages/adj-stage-bar.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"

struct _AdjStageBar
{
  AdjPanel parent_instance;

  GtkBox *stages;
  GtkScrolledWindow *scroller;
  GtkButton *trace_button;
  AdjRecording *recording;      /* (owned) (nullable): recording of the buttons */
  GPtrArray *buttons;           /* (unowned) of GtkToggleButton: one for each step */
  AdjStageSummaries *summaries; /* (unowned) (nullable): of the document */
  gulong changed;               /* handler of @summaries */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (AdjStageBar, adj_stage_bar, ADJ_TYPE_PANEL)

/* Results have a sign as well as a colour. */
static const struct
{
  const char *sign, *css_class;
} checks[] = {
  [ADJ_CHECK_PENDING] = { "…", "dim-label" },       [ADJ_CHECK_NONE] = { "", "dim-label" },
  [ADJ_CHECK_EQUAL] = { "=", "verdict-equal" },     [ADJ_CHECK_WITHIN] = { "≈", "verdict-equal" },
  [ADJ_CHECK_DIFFERS] = { "≠", "verdict-differs" },
};

/* -- what a step says -- */

static const AdjStage *
get_stage (AdjStageBar *self, const AdjStep *step)
{
  return step->stage >= 0 ? adj_recording_get_stage (self->recording, (guint) step->stage) : NULL;
}

static const char *
get_name (AdjStageBar *self, const AdjStep *step)
{
  return step->stage >= 0 ? adj_properties_stage_title (get_stage (self, step)->name)
                          : _ ("partition");
}

static void
add_counts (GString *text, const AdjStageSummary *summary)
{
  const struct
  {
    const char *sign;
    guint n;
  } counts[] = { { "+", summary->n_added },
                 { "−", summary->n_removed },
                 { "~", summary->n_changed } };

  if (summary->n_added + summary->n_removed + summary->n_changed == 0)
    g_string_append (text, _ (" · nothing changed"));
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (counts[i].n > 0)
      g_string_append_printf (text, " %s%u", counts[i].sign, counts[i].n);
}

/* "62 nodes +21 −3 · 4.1 ms" */
static char *
describe (AdjStageBar *self, const AdjStep *step, const AdjStageSummary *summary)
{
  AdjDocument *document = adj_panel_get_document (self);
  GString *text = g_string_new (NULL);

  if (step->graph == G_MAXUINT)
    g_string_append (text, _ ("failed"));
  else
    g_string_append_printf (
        text, _ ("%u nodes"),
        adj_graph_get_n_calls (
            adj_graph_set_get (adj_document_get_graphs (document), step->graph)->graph));
  if (summary->counted && !summary->is_half)
    add_counts (text, summary);
  if (summary->ns >= 0)
    g_string_append_printf (text, " · %.1f ms", (double) summary->ns / 1e6);
  return g_string_free (text, FALSE);
}

static char *
make_tooltip (AdjStageBar *self, const AdjStep *step, const AdjStageSummary *summary)
{
  const AdjStage *stage = get_stage (self, step);
  const char *text = stage == NULL            ? _ ("Forward and backward beside each other")
                     : stage->failure != NULL ? stage->failure
                                              : stage->summary;
  const char *check = adj_stage_summary_describe (summary);

  return *check != '\0' ? g_strdup_printf ("%s\n%s", text != NULL ? text : stage->name, check)
                        : g_strdup (text);
}

/* Sets its labels: name, sign of the check, counts. */
static void
update_button (AdjStageBar *self,
               GtkWidget *button,
               const AdjStep *step,
               const AdjStageSummary *summary)
{
  GtkWidget *name = gtk_widget_get_first_child (gtk_button_get_child (GTK_BUTTON (button)));
  GtkWidget *details = gtk_widget_get_next_sibling (name);
  GtkWidget *sign = gtk_widget_get_last_child (name);
  const char *classes[] = { checks[summary->check].css_class, NULL };
  g_autofree char *description = describe (self, step, summary);
  g_autofree char *tooltip = make_tooltip (self, step, summary);
  g_autofree char *label = g_strdup_printf ("%s, %s. %s", get_name (self, step), description,
                                            adj_stage_summary_describe (summary));
  gboolean checked = summary->before >= 0 && *checks[summary->check].sign != '\0';

  gtk_label_set_text (GTK_LABEL (details), description);
  gtk_label_set_text (GTK_LABEL (sign), checked ? checks[summary->check].sign : "");
  gtk_widget_set_visible (sign, checked);
  gtk_widget_set_css_classes (sign, classes);
  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
}

/* -- making the strip -- */

static void
on_toggled (GtkToggleButton *button, AdjStageBar *self)
{
  guint step;

  if (self->updating || !gtk_toggle_button_get_active (button) ||
      !g_ptr_array_find (self->buttons, button, &step))
    return;
  adj_stages_show_step (adj_panel_get_document (self), step);
}

/* @compact: in one line */
static GtkWidget *
make_button (AdjStageBar *self, const AdjStep *step, gboolean compact)
{
  GtkWidget *button = gtk_toggle_button_new ();
  GtkWidget *box = gtk_box_new (compact ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL,
                                compact ? 8 : 0);
  GtkWidget *name = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *details = gtk_label_new (NULL);

  gtk_widget_set_halign (name, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (name), gtk_label_new (get_name (self, step)));
  gtk_box_append (GTK_BOX (name), gtk_label_new (NULL));
  gtk_widget_add_css_class (details, "caption");
  gtk_widget_add_css_class (details, "dim-label");
  gtk_widget_add_css_class (details, "numeric");
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), details);
  gtk_button_set_child (GTK_BUTTON (button), box);
  if (step->graph == G_MAXUINT)
    gtk_widget_add_css_class (button, "failed");
  if (compact)
    gtk_widget_add_css_class (button, "compact");
  if (self->buttons->len > 0)
    gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), self->buttons->pdata[0]);
  g_signal_connect (button, "toggled", G_CALLBACK (on_toggled), self);
  g_ptr_array_add (self->buttons, button);
  return button;
}

/* -1: not part of a partition; 0: forward, or made from it; 1: backward. */
static gint
find_side (AdjStageBar *self, gint stage)
{
  for (; stage >= 0; stage = adj_recording_get_stage (self->recording, (guint) stage)->from)
    if (adj_stages_is_half (self->recording, (guint) stage))
      return g_str_equal (adj_recording_get_stage (self->recording, (guint) stage)->name,
                          "backward");
  return -1;
}

static void
append (GtkBox *line, GtkWidget *widget)
{
  if (gtk_widget_get_first_child (GTK_WIDGET (line)) != NULL)
    gtk_box_append (line, gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_box_append (line, widget);
}

/* Makes two lines, one for stages of forward and one for stages of backward. */
static void
make_fork (GtkBox *stages, GtkBox *lines[2])
{
  GtkWidget *fork = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  for (guint i = 0; i < 2; i++)
    {
      lines[i] = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 2));
      gtk_box_append (GTK_BOX (fork), GTK_WIDGET (lines[i]));
    }
  gtk_widget_set_valign (fork, GTK_ALIGN_CENTER);
  append (stages, fork);
}

static void
fill (AdjStageBar *self)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (adj_panel_get_document (self));
  GtkBox *lines[2] = { NULL, NULL };

  for (guint i = 0; i < steps->len; i++)
    {
      const AdjStep *step = &g_array_index (steps, AdjStep, i);
      gint side = find_side (self, step->stage);

      if (side < 0)
        lines[0] = lines[1] = NULL;
      else if (lines[0] == NULL)
        make_fork (self->stages, lines);
      append (side < 0 ? self->stages : lines[side], make_button (self, step, side >= 0));
    }
}

static void
remove_all (AdjStageBar *self)
{
  GtkWidget *child;

  g_ptr_array_set_size (self->buttons, 0);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->stages))))
    gtk_box_remove (self->stages, child);
}

/* -- showing where one is -- */

static void
update_summaries (AdjStageBar *self)
{
  g_autoptr (GArray) steps = NULL;

  if (adj_panel_get_document (self) == NULL)
    return;
  steps = adj_stages_list_steps (adj_panel_get_document (self));
  for (guint i = 0; i < self->buttons->len && i < steps->len; i++)
    {
      const AdjStageSummary *summary = adj_stage_summaries_get (self->summaries, i);

      if (summary != NULL)
        update_button (self, self->buttons->pdata[i], &g_array_index (steps, AdjStep, i), summary);
    }
}

/* Scrolls by the least amount that shows it. */
static void
scroll_to (AdjStageBar *self, GtkWidget *button)
{
  GtkAdjustment *at = gtk_scrolled_window_get_hadjustment (self->scroller);
  graphene_rect_t bounds;

  if (gtk_widget_compute_bounds (button, GTK_WIDGET (self->stages), &bounds))
    gtk_adjustment_clamp_page (at, bounds.origin.x, bounds.origin.x + bounds.size.width);
}

static void
mark_current (AdjStageBar *self)
{
  gint current = adj_stages_get_current_step (adj_panel_get_document (self));

  self->updating = TRUE;
  for (guint i = 0; i < self->buttons->len; i++)
    gtk_toggle_button_set_active (self->buttons->pdata[i], (gint) i == current);
  self->updating = FALSE;
  if (current >= 0 && (guint) current < self->buttons->len)
    scroll_to (self, self->buttons->pdata[current]);
}

static void
follow_summaries (AdjStageBar *self, AdjDocument *document)
{
  AdjStageSummaries *summaries = document != NULL ? adj_stage_summaries_of (document) : NULL;

  if (summaries == self->summaries)
    return;
  g_clear_signal_handler (&self->changed, self->summaries);
  g_set_weak_pointer (&self->summaries, summaries);
  if (summaries != NULL)
    self->changed = g_signal_connect_object (summaries, "changed", G_CALLBACK (update_summaries),
                                             self, G_CONNECT_SWAPPED);
}

static void
update (AdjStageBar *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjRecording *recording = document != NULL ? adj_stages_get_recording (document) : NULL;

  follow_summaries (self, document);
  if (recording != self->recording)
    {
      remove_all (self);
      g_clear_pointer (&self->recording, adj_recording_unref);
      if (recording != NULL)
        {
          self->recording = adj_recording_ref (recording);
          fill (self);
        }
    }
  gtk_widget_set_visible (GTK_WIDGET (self), recording != NULL);
  if (recording == NULL)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self->trace_button),
                          adj_recording_get_n_stages (recording) == 1);
  adj_stage_summaries_update (self->summaries);
  update_summaries (self);
  mark_current (self);
}

/* The scrollbar lies over what is scrolled, below the stages; how high it is a theme decides. */
static void
make_room (AdjStageBar *self)
{
  GtkWidget *stages = GTK_WIDGET (self->stages);
  int height;

  gtk_widget_measure (gtk_scrolled_window_get_hscrollbar (self->scroller), GTK_ORIENTATION_VERTICAL,
                      -1, &height, NULL, NULL, NULL);
  if (height > gtk_widget_get_margin_bottom (stages))
    gtk_widget_set_margin_bottom (stages, height);
}

/* -- scrubbing -- */

static void
scrub_to (AdjStageBar *self, double x, double y)
{
  GtkWidget *at = gtk_widget_pick (GTK_WIDGET (self->stages), x, y, GTK_PICK_DEFAULT);
  GtkWidget *button = at != NULL ? gtk_widget_get_ancestor (at, GTK_TYPE_TOGGLE_BUTTON) : NULL;

  if (button != NULL && g_ptr_array_find (self->buttons, button, NULL))
    gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), TRUE);
}

static void
on_drag (GtkGestureDrag *drag, double dx, double dy, AdjStageBar *self)
{
  double x, y;

  if (!gtk_drag_check_threshold (GTK_WIDGET (self->stages), 0, 0, (int) dx, (int) dy))
    return;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_gesture_drag_get_start_point (drag, &x, &y);
  scrub_to (self, x + dx, y + dy);
}

/* -- widget -- */

static void
adj_stage_bar_dispose (GObject *object)
{
  AdjStageBar *self = ADJ_STAGE_BAR (object);

  if (self->summaries != NULL)
    g_clear_signal_handler (&self->changed, self->summaries);
  g_clear_weak_pointer (&self->summaries);
  g_clear_pointer (&self->recording, adj_recording_unref);
  if (self->buttons != NULL)
    g_ptr_array_set_size (self->buttons, 0);

  G_OBJECT_CLASS (adj_stage_bar_parent_class)->dispose (object);
}

static void
adj_stage_bar_finalize (GObject *object)
{
  g_ptr_array_unref (ADJ_STAGE_BAR (object)->buttons);

  G_OBJECT_CLASS (adj_stage_bar_parent_class)->finalize (object);
}

static void
adj_stage_bar_class_init (AdjStageBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_stage_bar_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_stage_bar_finalize;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/stage-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjStageBar, stages);
  gtk_widget_class_bind_template_child (widget_class, AdjStageBar, scroller);
  gtk_widget_class_bind_template_child (widget_class, AdjStageBar, trace_button);
}

static void
adj_stage_bar_init (AdjStageBar *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();

  self->buttons = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (drag), GTK_PHASE_CAPTURE);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag), self);
  gtk_widget_add_controller (GTK_WIDGET (self->stages), GTK_EVENT_CONTROLLER (drag));
  g_signal_connect_swapped (gtk_scrolled_window_get_hscrollbar (self->scroller), "map",
                            G_CALLBACK (make_room), self);
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::graph-index", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::problem", G_CALLBACK (update));
}
