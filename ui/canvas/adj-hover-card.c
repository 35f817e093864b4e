/* SPDX-License-Identifier: MIT */
/* The card beside the pointer, about a node, a module or a line. */

#include "canvas/adj-hover-card.h"

#include <glib/gi18n.h>

#include "analysis/adj-modules.h"
#include "canvas/adj-role-badge.h"
#include "canvas/graph-view-private.h"
#include "canvas/line-ends.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

#define REST_MSEC 400
#define ASIDE 14.0f /* pixels from the pointer */
#define MAX_NAMES 3

struct _AdjHoverCard
{
  AdwBin parent_instance;

  AdjRoleBadge *badge;
  GtkLabel *title;
  GtkLabel *text;
  AdjGraphView *view; /* (unowned) (nullable) */
  guint waiting;
};

G_DEFINE_FINAL_TYPE (AdjHoverCard, adj_hover_card, ADW_TYPE_BIN)

/* -- what is said -- */

static void
add_line (GString *text, const char *line)
{
  if (line != NULL && *line != '\0')
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", line);
}

/* The change of the node by the stage. */
static const char *
describe_change (AdjHoverCard *self, AdjNodeId node)
{
  gsize n = 0;
  const guint8 *kinds =
      self->view->changes != NULL ? g_bytes_get_data (self->view->changes, &n) : NULL;

  if (node.index >= n)
    return NULL;
  return kinds[node.index] == ADJ_CHANGE_ADDED     ? _ ("+ came with this stage")
         : kinds[node.index] == ADJ_CHANGE_CHANGED ? _ ("~ changed by this stage")
                                                   : NULL;
}

/* Adds measured numbers: bytes, time or error behind the tint, and the result of a comparison. */
static void
add_numbers (AdjHoverCard *self, guint box, GString *text)
{
  const AdjHeat *heat = self->view->heat;
  AdjVerdict verdict;

  if (heat != NULL)
    add_line (text, adj_heat_get_text (heat, box));
  if (self->view->marks != NULL && adj_marks_get (self->view->marks, box, &verdict))
    {
      g_autofree char *number =
          adj_properties_number (adj_marks_get_max_abs (self->view->marks, box));
      g_autofree char *line = g_strdup_printf (_ ("%s %s, max |Δ| %s"), adj_verdict_sign (verdict),
                                               adj_properties_verdict (verdict), number);

      add_line (text, line);
    }
}

static void
fill_node (AdjHoverCard *self, guint index, GString *text)
{
  const AdjSceneBox *box = adj_scene_get_box (self->view->scene, index);
  const AdjNode *node = adj_graph_get_node (self->view->graph, box->node.index);
  g_autofree char *shape = adj_properties_annotation (self->view->graph, node);
  g_autofree char *type = adj_properties_type (self->view->graph, box->node);
  const char *target = adj_properties_target (node),
             *module = adj_graph_get_module_path (self->view->graph, box->node.index);
  g_autofree char *where =
      *target != '\0' && *module != '\0' ? g_strdup_printf ("%s · %s", target, module) : NULL;

  gtk_label_set_text (self->title, node->name);
  add_line (text, where != NULL ? where : *target != '\0' ? target : module);
  add_line (text, shape);
  add_line (text, type);
  if (box->role != ADJ_ROLE_NONE)
    add_line (text, _ (adj_scene_get_role_name (self->view->scene, box->role)));
  add_line (text, describe_change (self, box->node));
  add_numbers (self, index, text);
}

static void
fill_module (AdjHoverCard *self, guint index, GString *text)
{
  const AdjSceneBox *box = adj_scene_get_box (self->view->scene, index);
  g_autofree char *saved = box->bytes > 0 ? adj_properties_bytes (box->bytes) : NULL;
  g_autofree char *kept = saved == NULL ? NULL
                          : adj_scene_is_undecided (self->view->scene)
                              ? g_strdup_printf (_ ("backward reads %s of it"), saved)
                              : g_strdup_printf (_ ("%s saved for backward"), saved);
  g_autofree char *same = box->n_same > 1 ? g_strdup_printf (_ ("%u alike"), box->n_same) : NULL;

  gtk_label_set_text (self->title,
                      *box->path != '\0' && *box->path != '#' ? box->path : box->title);
  add_line (text, box->subtitle);
  add_line (text, kept);
  add_line (text, same);
  if (box->fold == ADJ_FOLD_CLOSED)
    add_numbers (self, index, text);
  if (box->fold != ADJ_FOLD_NONE)
    add_line (text, box->fold == ADJ_FOLD_CLOSED ? _ ("Double click opens it")
                                                 : _ ("Double click closes it"));
}

static void
add_names (AdjHoverCard *self, GString *text, const GArray *nodes, guint begin, guint end)
{
  for (guint i = begin; i < MIN (end, begin + MAX_NAMES); i++)
    g_string_append_printf (
        text, "%s%s", i > begin ? ", " : "",
        adj_graph_get_node (self->view->graph, g_array_index (nodes, guint32, i))->name);
  if (end > begin + MAX_NAMES)
    g_string_append_printf (text, _ (" and %u more"), end - begin - MAX_NAMES);
}

static void
fill_line (AdjHoverCard *self, const GArray *line, GString *text)
{
  static const char *const kinds[ADJ_N_EDGE_KINDS] = {
    [ADJ_EDGE_BRIDGE] = N_ ("saved for backward"),
    [ADJ_EDGE_RECOMPUTE] = N_ ("computed again instead of being saved"),
    [ADJ_EDGE_GRADIENT] = N_ ("in backward"),
    [ADJ_EDGE_TURN] = N_ ("from results to tangents"),
    [ADJ_EDGE_CONTROL] = N_ ("comes after; no value is passed on"),
    [ADJ_EDGE_EFFECT] = N_ ("the token that orders effects"),
  };
  const AdjSceneEdge *edge =
      adj_scene_get_edge (self->view->scene, g_array_index (line, guint32, 0));
  g_autofree char *bytes = edge->bytes > 0 ? adj_properties_bytes (edge->bytes) : NULL;
  guint n_readers;
  g_autoptr (GArray) ends =
      adj_line_get_ends (self->view->scene, self->view->graph, line, &n_readers);
  g_autoptr (GString) names = g_string_new (NULL);

  add_names (self, names, ends, n_readers, ends->len);
  g_string_append (names, " → ");
  add_names (self, names, ends, 0, n_readers);
  gtk_label_set_text (self->title, names->str);
  add_line (text, bytes);
  if (edge->kind == ADJ_EDGE_BRIDGE && adj_scene_is_undecided (self->view->scene))
    add_line (text, _ ("read by backward"));
  else
    add_line (text, kinds[edge->kind] != NULL ? _ (kinds[edge->kind]) : NULL);
}

static AdjRole
fill (AdjHoverCard *self)
{
  AdjGraphView *view = self->view;
  const AdjSceneBox *box =
      view->hovered != ADJ_NO_BOX ? adj_scene_get_box (view->scene, view->hovered) : NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GArray) line = NULL;

  if (box == NULL)
    {
      line = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_val (line, view->hovered_edge);
    }
  else if (box->kind == ADJ_BOX_BRIDGE)
    {
      line = adj_line_of_bridge (view->scene, view->hovered);
    }
  if (line != NULL)
    fill_line (self, line, text);
  else if (adj_node_id_is_valid (box->node))
    fill_node (self, view->hovered, text);
  else
    fill_module (self, view->hovered, text);
  gtk_label_set_text (self->text, text->str);
  gtk_widget_set_visible (GTK_WIDGET (self->text), text->len > 0);
  return box != NULL && line == NULL ? box->role : ADJ_ROLE_NONE;
}

/* -- when and where -- */

/* Beside the pointer, or on its other side where there is not enough room. */
static void
place (AdjHoverCard *self)
{
  GtkWidget *widget = GTK_WIDGET (self), *around = gtk_widget_get_parent (widget);
  float width = gtk_widget_get_width (around), height = gtk_widget_get_height (around);
  float x = self->view->pointer.x + ASIDE, y = self->view->pointer.y + ASIDE;
  GtkRequisition size;

  gtk_widget_set_margin_start (widget, 0);
  gtk_widget_set_margin_top (widget, 0);
  gtk_widget_get_preferred_size (widget, NULL, &size);
  if (x + size.width > width)
    x = self->view->pointer.x - ASIDE - size.width;
  if (y + size.height > height)
    y = self->view->pointer.y - ASIDE - size.height;
  gtk_widget_set_margin_start (widget, (int) MAX (x, 0));
  gtk_widget_set_margin_top (widget, (int) MAX (y, 0));
}

static gboolean
on_rest (gpointer data)
{
  AdjHoverCard *self = data;
  AdjRole role;

  self->waiting = 0;
  role = fill (self);
  gtk_widget_set_visible (GTK_WIDGET (self->badge), *adj_role_sign (role) != '\0');
  adj_role_badge_set_role (self->badge, role);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
  place (self);
  return G_SOURCE_REMOVE;
}

static void
on_hovered (AdjHoverCard *self)
{
  g_clear_handle_id (&self->waiting, g_source_remove);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  if (self->view->hovered != ADJ_NO_BOX || self->view->hovered_edge != ADJ_NO_BOX)
    self->waiting = g_timeout_add (REST_MSEC, on_rest, self);
}

/* -- widget -- */

static void
adj_hover_card_dispose (GObject *object)
{
  adj_hover_card_set_view (ADJ_HOVER_CARD (object), NULL);

  G_OBJECT_CLASS (adj_hover_card_parent_class)->dispose (object);
}

static void
adj_hover_card_class_init (AdjHoverCardClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_hover_card_dispose;
  g_type_ensure (ADJ_TYPE_ROLE_BADGE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/hover-card.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjHoverCard, badge);
  gtk_widget_class_bind_template_child (widget_class, AdjHoverCard, title);
  gtk_widget_class_bind_template_child (widget_class, AdjHoverCard, text);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_TOOLTIP);
}

static void
adj_hover_card_init (AdjHoverCard *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

void
adj_hover_card_set_view (AdjHoverCard *self, AdjGraphView *view)
{
  g_clear_handle_id (&self->waiting, g_source_remove);
  if (self->view != NULL)
    g_signal_handlers_disconnect_by_func (self->view, on_hovered, self);
  g_set_weak_pointer (&self->view, view);
  if (view != NULL)
    g_signal_connect_object (view, "hovered", G_CALLBACK (on_hovered), self, G_CONNECT_SWAPPED);
}
