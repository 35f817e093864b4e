/* SPDX-License-Identifier: MIT */
/* Keyboard commands of the graph view, with their actions and shortcuts. */

#include <glib/gi18n.h>
#include <string.h>

#include "canvas/adj-navigator.h"
#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "passes/adj-effects.h"

#define SCROLL_STEP 128.0f
#define CHORD_USEC (2 * G_TIME_SPAN_SECOND)

static gboolean
step (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->scene == NULL)
    return FALSE;
  adj_graph_view_choose (
      self, adj_navigator_step (self->scene, self->selected, g_variant_get_int32 (args)));
  return TRUE;
}

/* As step(), but extends the selection. */
static gboolean
extend (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->scene == NULL)
    return FALSE;
  adj_graph_view_add (
      self, adj_navigator_step (self->scene, self->selected, g_variant_get_int32 (args)), FALSE);
  return TRUE;
}

static gboolean
choose_all (GtkWidget *widget, GVariant *args, gpointer data)
{
  adj_graph_view_choose_in (ADJ_GRAPH_VIEW (widget), NULL);
  return TRUE;
}

static void
choose_user (AdjGraphView *self, AdjNodeId value, guint user)
{
  adj_graph_view_choose (self, adj_graph_get_node (self->graph, value.index)->users[user]);
  self->value = value;
  self->user = user;
  adj_graph_view_update_actions (self);
}

/* Whether the selected node was reached by stepping through the users of a value with several. */
static gboolean
has_other_users (AdjGraphView *self)
{
  return adj_node_id_is_valid (self->value) &&
         adj_graph_get_node (self->graph, self->value.index)->n_users > 1;
}

/* Selects the first user of the selected value, then its other users in turn; if there is only one
 * user, continues with its users. */
static gboolean
next_user (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->graph == NULL || !adj_node_id_is_valid (self->selected))
    return FALSE;
  if (has_other_users (self))
    choose_user (self, self->value,
                 (self->user + 1) % adj_graph_get_node (self->graph, self->value.index)->n_users);
  else if (adj_graph_get_node (self->graph, self->selected.index)->n_users > 0)
    choose_user (self, self->selected, 0);
  else
    return FALSE;
  return TRUE;
}

/* Goes back from a user to the value; from there to the first input of the node. */
static gboolean
previous_user (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  const AdjNode *node;

  if (self->graph == NULL || !adj_node_id_is_valid (self->selected))
    return FALSE;
  node = adj_graph_get_node (self->graph, self->selected.index);
  if (adj_node_id_is_valid (self->value) && self->user > 0)
    choose_user (self, self->value, self->user - 1);
  else if (adj_node_id_is_valid (self->value))
    adj_graph_view_choose (self, self->value);
  else if (node->n_inputs > 0)
    adj_graph_view_choose (self, node->inputs[0]);
  else
    return FALSE;
  return TRUE;
}

static gboolean
go_to_counterpart (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjNodeId next;
  guint box;

  if (self->scene == NULL || !adj_node_id_is_valid (self->selected))
    return FALSE;
  box = adj_scene_find_node (self->scene, self->selected);
  next = adj_navigator_kin (self->scene, self->selected);
  if (adj_graph_view_is_link (self, box))
    adj_graph_view_activate_box (self, box);
  else if (adj_node_id_is_valid (next))
    adj_graph_view_choose (self, next);
  return TRUE;
}

/* Follows the chain of effect tokens. */
static gboolean
go_to_effect (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjNodeId next = ADJ_NO_NODE;

  if (self->graph != NULL)
    next = adj_graph_step_effect (self->graph, self->selected, g_variant_get_int32 (args));
  if (!adj_node_id_is_valid (next))
    return FALSE;
  adj_graph_view_choose (self, next);
  return TRUE;
}

static guint
selected_box (AdjGraphView *self)
{
  return self->scene != NULL && adj_node_id_is_valid (self->selected)
             ? adj_scene_find_node (self->scene, self->selected)
             : ADJ_NO_BOX;
}

static gboolean
fold (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  guint box = selected_box (self);

  if (box == ADJ_NO_BOX)
    return FALSE;
  if (adj_scene_get_box (self->scene, box)->kind != ADJ_BOX_GROUP)
    box = adj_scene_get_box (self->scene, box)->group;
  adj_graph_view_activate_box (self, box);
  return TRUE;
}

static gboolean
show_source (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  adj_graph_view_activate_box (self, selected_box (self));
  return TRUE;
}

static gboolean
page (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjCamera camera = self->camera;

  adj_camera_pan (&camera, 0, g_variant_get_int32 (args) * 0.8f * gtk_widget_get_height (widget));
  adj_graph_view_move_to (self, &camera);
  return TRUE;
}

/* Ctrl with an arrow scrolls, as the wheel does. */
static gboolean
scroll (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjCamera camera = self->camera;
  float by = SCROLL_STEP;

  switch ((AdjDirection) g_variant_get_int32 (args))
    {
    case ADJ_DIRECTION_LEFT:
      adj_camera_pan (&camera, by, 0);
      break;
    case ADJ_DIRECTION_RIGHT:
      adj_camera_pan (&camera, -by, 0);
      break;
    case ADJ_DIRECTION_UP:
      adj_camera_pan (&camera, 0, by);
      break;
    case ADJ_DIRECTION_DOWN:
      adj_camera_pan (&camera, 0, -by);
      break;
    }
  adj_graph_view_move_to (self, &camera);
  return TRUE;
}

static gboolean
fit (GtkWidget *widget, GVariant *args, gpointer data)
{
  adj_graph_view_fit (ADJ_GRAPH_VIEW (widget));
  return TRUE;
}

static gboolean
has_selected (AdjGraphView *self)
{
  return adj_node_id_is_valid (self->selected);
}

static gboolean
has_light (AdjGraphView *self)
{
  return has_selected (self) || self->role != ADJ_ROLE_NONE;
}

static gboolean
clear (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (!has_light (self))
    return FALSE;
  adj_graph_view_set_role (self, ADJ_ROLE_NONE);
  adj_graph_view_set_selected (self, ADJ_NO_NODE);
  return TRUE;
}

static gboolean
begin_chord (GtkWidget *widget, GVariant *args, gpointer data)
{
  ADJ_GRAPH_VIEW (widget)->chord = g_get_monotonic_time ();
  return TRUE;
}

static gboolean
tint (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  gboolean follows = g_get_monotonic_time () - self->chord < CHORD_USEC;

  self->chord = 0;
  if (follows)
    gtk_widget_activate_action (widget, "win.color-by", "s",
                                adj_coloring_name (g_variant_get_int32 (args)));
  return follows;
}

/* -- what is possible -- */

static gboolean
has_users (AdjGraphView *self)
{
  return has_selected (self) &&
         (has_other_users (self) ||
          adj_graph_get_node (self->graph, self->selected.index)->n_users > 0);
}

static gboolean
has_inputs (AdjGraphView *self)
{
  return has_selected (self) &&
         adj_graph_get_node (self->graph, self->selected.index)->n_inputs > 0;
}

static gboolean
has_counterpart (AdjGraphView *self)
{
  return has_selected (self) &&
         (adj_graph_view_is_link (self, selected_box (self)) ||
          adj_node_id_is_valid (adj_navigator_kin (self->scene, self->selected)));
}

static gboolean
has_effect_behind (AdjGraphView *self)
{
  return self->graph != NULL &&
         adj_node_id_is_valid (adj_graph_step_effect (self->graph, self->selected, 1));
}

static gboolean
has_effect_before (AdjGraphView *self)
{
  return self->graph != NULL &&
         adj_node_id_is_valid (adj_graph_step_effect (self->graph, self->selected, -1));
}

static gboolean
has_module (AdjGraphView *self)
{
  guint box = selected_box (self);

  return box != ADJ_NO_BOX && (adj_scene_get_box (self->scene, box)->kind == ADJ_BOX_GROUP ||
                               adj_scene_get_box (self->scene, box)->group != ADJ_NO_BOX);
}

/* -- the table -- */

#define SHIFT GDK_SHIFT_MASK
#define CONTROL GDK_CONTROL_MASK

/* Rows with a title make the list of shortcuts; the keys of rows without one belong to the row
 * above. */
static const struct
{
  guint keys[2];
  GdkModifierType mods;
  GtkShortcutFunc run; /* is called with @args */
  gint32 argument;
  gboolean (*possible) (AdjGraphView *self); /* (nullable): %NULL: possible with any picture */
  AdjCanvasCommand command;
} table[] = {
  { { GDK_KEY_Left, GDK_KEY_KP_Left },
    0,
    step,
    .argument = ADJ_DIRECTION_LEFT,
    .command = { NULL, N_ ("Nearest Node in a Direction"), "Left Right Up Down" } },
  { { GDK_KEY_Right, GDK_KEY_KP_Right }, 0, step, .argument = ADJ_DIRECTION_RIGHT },
  { { GDK_KEY_Up, GDK_KEY_KP_Up }, 0, step, .argument = ADJ_DIRECTION_UP },
  { { GDK_KEY_Down, GDK_KEY_KP_Down }, 0, step, .argument = ADJ_DIRECTION_DOWN },
  { { GDK_KEY_Left, GDK_KEY_KP_Left },
    SHIFT,
    extend,
    .argument = ADJ_DIRECTION_LEFT,
    .command = { NULL, N_ ("Select More"), "<Shift>Left <Shift>Right <Shift>Up <Shift>Down" } },
  { { GDK_KEY_Right, GDK_KEY_KP_Right }, SHIFT, extend, .argument = ADJ_DIRECTION_RIGHT },
  { { GDK_KEY_Up, GDK_KEY_KP_Up }, SHIFT, extend, .argument = ADJ_DIRECTION_UP },
  { { GDK_KEY_Down, GDK_KEY_KP_Down }, SHIFT, extend, .argument = ADJ_DIRECTION_DOWN },
  { { GDK_KEY_a },
    CONTROL,
    choose_all,
    .argument = 0,
    .command = { "canvas.select-all", N_ ("Select All Nodes"), "<Control>a", ADJ_MENU_CANVAS } },
  { { GDK_KEY_Tab },
    0,
    next_user,
    .argument = 0,
    .possible = has_users,
    .command = { "canvas.user", N_ ("Next User of the Value"), "Tab", ADJ_MENU_NODE } },
  { { GDK_KEY_ISO_Left_Tab },
    SHIFT,
    previous_user,
    .argument = 0,
    .possible = has_inputs,
    .command = { "canvas.input", N_ ("Previous User, or the Value"), "<Shift>Tab",
                 ADJ_MENU_NODE } },
  { { GDK_KEY_m },
    0,
    go_to_counterpart,
    .argument = 0,
    .possible = has_counterpart,
    .command = { "canvas.counterpart", N_ ("Counterpart in the Other Direction"), "m",
                 ADJ_MENU_NODE } },
  { { GDK_KEY_x },
    0,
    go_to_effect,
    .argument = 1,
    .possible = has_effect_behind,
    .command = { "canvas.effect", N_ ("Next Effect"), "x", ADJ_MENU_NODE } },
  { { GDK_KEY_X },
    SHIFT,
    go_to_effect,
    .argument = -1,
    .possible = has_effect_before,
    .command = { "canvas.effect-before", N_ ("Previous Effect"), "<Shift>x", ADJ_MENU_NODE } },
  { { GDK_KEY_space },
    0,
    fold,
    .argument = 0,
    .possible = has_module,
    .command = { "canvas.fold", N_ ("Open or Close the Module"), "space", ADJ_MENU_NODE } },
  { { GDK_KEY_Return, GDK_KEY_KP_Enter },
    0,
    show_source,
    .argument = 0,
    .possible = has_selected,
    .command = { "canvas.source", N_ ("Source of the Node"), "Return", ADJ_MENU_NODE } },
  { { GDK_KEY_Escape },
    0,
    clear,
    .argument = 0,
    .possible = has_light,
    .command = { "canvas.clear", N_ ("Select Nothing"), "Escape", ADJ_MENU_CANVAS } },
  { { GDK_KEY_Home }, 0, fit, .argument = 0, .command = { NULL, N_ ("Fit All"), "Home" } },
  { { GDK_KEY_Page_Up },
    0,
    page,
    .argument = 1,
    .command = { NULL, N_ ("Scroll"), "Page_Up Page_Down <Control>Up <Control>Down" } },
  { { GDK_KEY_Page_Down }, 0, page, .argument = -1 },
  { { GDK_KEY_Left, GDK_KEY_KP_Left }, CONTROL, scroll, .argument = ADJ_DIRECTION_LEFT },
  { { GDK_KEY_Right, GDK_KEY_KP_Right }, CONTROL, scroll, .argument = ADJ_DIRECTION_RIGHT },
  { { GDK_KEY_Up, GDK_KEY_KP_Up }, CONTROL, scroll, .argument = ADJ_DIRECTION_UP },
  { { GDK_KEY_Down, GDK_KEY_KP_Down }, CONTROL, scroll, .argument = ADJ_DIRECTION_DOWN },
  { { GDK_KEY_c },
    0,
    begin_chord,
    .argument = 0,
    .command = { NULL, N_ ("Colour by Role, Bytes, Time, Error"), "c+r c+b c+t c+e" } },
  { { GDK_KEY_r }, 0, tint, .argument = ADJ_COLOR_BY_ROLE },
  { { GDK_KEY_b }, 0, tint, .argument = ADJ_COLOR_BY_BYTES },
  { { GDK_KEY_t }, 0, tint, .argument = ADJ_COLOR_BY_TIME },
  { { GDK_KEY_e }, 0, tint, .argument = ADJ_COLOR_BY_ERROR },
};

/* Keys of window actions that would be letters in an entry. */
static const struct
{
  guint key;
  const char *action;
  AdjCanvasCommand command;
} window_keys[] = {
  { GDK_KEY_n, "win.next-change", { NULL, N_ ("Next Change or Difference"), "n", 0 } },
  { GDK_KEY_p, "win.previous-change", { NULL, N_ ("Previous Change or Difference"), "p", 0 } },
  { GDK_KEY_period, "win.next-step", { NULL, N_ ("Next Step of the Run"), "period", 0 } },
  { GDK_KEY_comma, "win.previous-step", { NULL, N_ ("Previous Step of the Run"), "comma", 0 } },
  { GDK_KEY_f, "win.flow", { NULL, N_ ("Flow of the Selection"), "f", 0 } },
  { GDK_KEY_o, "win.only-changed", { NULL, N_ ("Only What Changed"), "o", 0 } },
  { GDK_KEY_slash, "win.find", { NULL, N_ ("Find Nodes"), "slash", 0 } },
};

/* "counterpart" of "canvas.counterpart" */
static const char *
get_name (const AdjCanvasCommand *command)
{
  return command->action + strlen ("canvas.");
}

const AdjCanvasCommand *
adj_graph_view_get_command (guint index)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].command.title != NULL && n++ == index)
      return &table[i].command;
  return index - n < G_N_ELEMENTS (window_keys) ? &window_keys[index - n].command : NULL;
}

/* Runs the command as its key does. */
static void
on_action (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].command.action != NULL &&
        g_str_equal (get_name (&table[i].command), g_action_get_name (G_ACTION (action))))
      {
        g_autoptr (GVariant) argument =
            g_variant_ref_sink (g_variant_new_int32 (table[i].argument));

        table[i].run (data, argument, NULL);
      }
}

void
adj_graph_view_add_actions (AdjGraphView *self)
{
  self->actions = g_simple_action_group_new ();
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].command.action != NULL)
      {
        g_autoptr (GSimpleAction) action = g_simple_action_new (get_name (&table[i].command), NULL);

        g_signal_connect (action, "activate", G_CALLBACK (on_action), self);
        g_action_map_add_action (G_ACTION_MAP (self->actions), G_ACTION (action));
      }
  gtk_widget_insert_action_group (GTK_WIDGET (self), "canvas", G_ACTION_GROUP (self->actions));
}

void
adj_graph_view_update_actions (AdjGraphView *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].command.action != NULL)
      g_simple_action_set_enabled (
          G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self->actions),
                                                       get_name (&table[i].command))),
          self->scene != NULL && (table[i].possible == NULL || table[i].possible (self)));
}

GActionGroup *
adj_graph_view_get_actions (AdjGraphView *self)
{
  return G_ACTION_GROUP (self->actions);
}

void
adj_graph_view_install_keys (GtkWidgetClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      for (guint k = 0; k < G_N_ELEMENTS (table[i].keys) && table[i].keys[k] != 0; k++)
        gtk_widget_class_add_binding (klass, table[i].keys[k], table[i].mods, table[i].run, "i",
                                      table[i].argument);
    }
  for (guint i = 0; i < G_N_ELEMENTS (window_keys); i++)
    gtk_widget_class_add_binding_action (klass, window_keys[i].key, 0, window_keys[i].action, NULL);
}
