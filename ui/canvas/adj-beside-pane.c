/* SPDX-License-Identifier: MIT */
/* The pane of a second graph beside the canvas. */

#include "canvas/adj-beside-pane.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-beside.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"

struct _AdjBesidePane
{
  AdjPanel parent_instance;

  AdjGraphView *view;
  GtkDropDown *choice;
  GtkLabel *difference;
  GtkStack *stack;
  GtkTextView *text;
  AdjGraphView *first;         /* (unowned) (nullable) */
  AdjBeside *beside;           /* (owned) */
  AdjGraphSet *graphs;         /* (owned) (nullable): of @graph */
  const AdjBundleGraph *graph; /* (nullable): that somebody chose */
  AdjBundle *listed;           /* (unowned): whose graphs the choice has */
  gboolean following;          /* one view moves or selects after the other */
};

G_DEFINE_FINAL_TYPE (AdjBesidePane, adj_beside_pane, ADJ_TYPE_PANEL)

/* -- what is shown -- */

/* The stage that the shown one was made of, else the next graph. */
static const AdjBundleGraph *
find_before (AdjDocument *document)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint current = adj_stages_get_current_step (document);
  guint index = G_MAXUINT;

  if (current > 0)
    index = g_array_index (steps, AdjStep, current - 1).graph;
  else if (steps->len > 1)
    index = g_array_index (steps, AdjStep, 1).graph;
  return index != G_MAXUINT ? adj_graph_set_get (graphs, index) : NULL;
}

static void
list_graphs (AdjBesidePane *self, AdjDocument *document)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  gtk_string_list_append (names, _ ("The stage before"));
  for (guint i = 0; graphs != NULL && i < adj_graph_set_get_n (graphs); i++)
    gtk_string_list_append (names, adj_graph_set_get (graphs, i)->id);
  self->following = TRUE;
  gtk_drop_down_set_model (self->choice, G_LIST_MODEL (names));
  self->following = FALSE;
}

static void
update (AdjBesidePane *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjBundleGraph *other = self->graph;

  if (document == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  if (adj_document_get_bundle (document) != self->listed)
    {
      self->listed = adj_document_get_bundle (document);
      list_graphs (self, document);
    }
  if (other == NULL && adj_document_get_graph (document) != NULL)
    other = find_before (document);
  adj_beside_set (self->beside, document,
                  self->graph != NULL ? self->graphs : adj_document_get_graphs (document), other);
}

static void
on_chosen (AdjBesidePane *self)
{
  AdjGraphSet *graphs = adj_document_get_graphs (adj_panel_get_document (self));
  guint chosen = gtk_drop_down_get_selected (self->choice);

  if (self->following)
    return;
  adj_beside_pane_set_graph (self, chosen > 0 ? graphs : NULL,
                             chosen > 0 ? adj_graph_set_get (graphs, chosen - 1) : NULL);
}

void
adj_beside_pane_set_graph (AdjBesidePane *self, AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  g_return_if_fail (ADJ_IS_BESIDE_PANE (self));

  if (graphs != NULL)
    adj_graph_set_ref (graphs);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  self->graphs = graphs;
  self->graph = graph;
  update (self);
}

/* -- moving together -- */

typedef struct
{
  AdjBesidePane *self;
  AdjPoint middle; /* of what the first view shows */
  float least;
  AdjPoint offset; /* from the first to the second */
} Nearest;

static AdjPoint
middle_of (const AdjScene *scene, AdjNodeId node, gboolean *found)
{
  guint box = adj_node_id_is_valid (node) ? adj_scene_find_node (scene, node) : ADJ_NO_BOX;
  const AdjRect *rect;

  *found = box != ADJ_NO_BOX;
  if (!*found)
    return (AdjPoint){ 0, 0 };
  rect = &adj_scene_get_box (scene, box)->rect;
  return (AdjPoint){ rect->x + rect->width / 2, rect->y + rect->height / 2 };
}

static gboolean
take_nearest (guint index, gpointer data)
{
  Nearest *nearest = data;
  const AdjScene *scene = adj_graph_view_get_scene (nearest->self->first);
  const AdjSceneBox *box = adj_scene_get_box (scene, index);
  AdjPoint here, there;
  gboolean found;
  float away;

  if (box->kind != ADJ_BOX_NODE)
    return TRUE;
  here = (AdjPoint){ box->rect.x + box->rect.width / 2, box->rect.y + box->rect.height / 2 };
  away = ABS (here.x - nearest->middle.x) + ABS (here.y - nearest->middle.y);
  if (away >= nearest->least)
    return TRUE;
  there = middle_of (adj_beside_get_scene (nearest->self->beside),
                     adj_beside_find_other (nearest->self->beside, box->node), &found);
  if (found)
    {
      nearest->least = away;
      nearest->offset = (AdjPoint){ there.x - here.x, there.y - here.y };
    }
  return TRUE;
}

/* Where the second graph is when the pair that is nearest to the middle stands side by side. */
static gboolean
find_offset (AdjBesidePane *self, AdjPoint *offset)
{
  GtkWidget *widget = GTK_WIDGET (self->first);
  AdjCamera camera = adj_graph_view_get_camera (self->first);
  AdjScene *scene = adj_graph_view_get_scene (self->first);
  AdjRect visible;
  Nearest nearest = { .self = self, .least = G_MAXFLOAT };

  if (scene == NULL || adj_beside_get_scene (self->beside) == NULL)
    return FALSE;
  visible =
      adj_camera_visible (&camera, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  nearest.middle = (AdjPoint){ visible.x + visible.width / 2, visible.y + visible.height / 2 };
  adj_scene_foreach_box (scene, &visible, take_nearest, &nearest);
  *offset = nearest.offset;
  return nearest.least < G_MAXFLOAT;
}

static void
follow_first (AdjBesidePane *self)
{
  AdjCamera camera;
  AdjPoint offset;

  if (self->following || !gtk_widget_get_mapped (GTK_WIDGET (self)) || !find_offset (self, &offset))
    return;
  camera = adj_graph_view_get_camera (self->first);
  camera.x += offset.x;
  camera.y += offset.y;
  self->following = TRUE;
  adj_graph_view_set_camera (self->view, &camera);
  self->following = FALSE;
}

static void
follow_second (AdjBesidePane *self)
{
  AdjCamera camera;
  AdjPoint offset;

  if (self->following || !gtk_widget_get_mapped (GTK_WIDGET (self)) || !find_offset (self, &offset))
    return;
  camera = adj_graph_view_get_camera (self->view);
  camera.x -= offset.x;
  camera.y -= offset.y;
  self->following = TRUE;
  adj_graph_view_set_camera (self->first, &camera);
  self->following = FALSE;
}

/* -- selecting together -- */

static void
show_difference (AdjBesidePane *self, AdjNodeId own)
{
  const AdjAlignment *alignment = adj_beside_get_alignment (self->beside);
  g_autofree char *text = NULL;

  if (alignment == NULL)
    text = g_strdup (_ ("There is nothing to lay beside this graph"));
  else if (adj_node_id_is_valid (own) &&
           !adj_node_id_is_valid (adj_beside_find_other (self->beside, own)))
    text = g_strdup (_ ("Only in the graph on the left"));
  else if (adj_node_id_is_valid (own))
    text = adj_beside_describe (self->beside, own);
  else
    text = g_strdup_printf (_ ("+%u −%u ~%u, %u the same"), alignment->n_added,
                            alignment->n_removed, alignment->n_changed, alignment->n_same);
  gtk_label_set_text (self->difference, *text != '\0' ? text : _ ("The same here and there"));
}

static void
on_selected (AdjBesidePane *self)
{
  AdjNodeId own = adj_document_get_selected (adj_panel_get_document (self));

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  show_difference (self, own);
  if (self->following)
    return;
  self->following = TRUE;
  adj_graph_view_set_selected (self->view, adj_beside_find_other (self->beside, own));
  self->following = FALSE;
}

static void
on_other_selected (AdjBesidePane *self)
{
  AdjNodeId own;

  if (self->following || adj_panel_get_document (self) == NULL)
    return;
  own = adj_beside_find_own (self->beside, adj_graph_view_get_selected (self->view));
  self->following = TRUE;
  adj_document_set_selected (adj_panel_get_document (self), own);
  self->following = FALSE;
  if (!adj_node_id_is_valid (own) &&
      adj_node_id_is_valid (adj_graph_view_get_selected (self->view)))
    gtk_label_set_text (self->difference, _ ("Only in the graph on the right"));
}

/* -- text -- */

static void
append_line (
    GtkTextBuffer *buffer, const char *tag, const char *sign, const AdjGraph *graph, guint i)
{
  g_autoptr (GString) line = g_string_new (sign);
  GtkTextIter end;

  adj_node_print (graph, i, line);
  g_string_append_c (line, '\n');
  gtk_text_buffer_get_end_iter (buffer, &end);
  gtk_text_buffer_insert_with_tags_by_name (buffer, &end, line->str, -1, tag, NULL);
}

static void
fill_text (AdjBesidePane *self)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (self->text);
  const AdjAlignment *alignment = adj_beside_get_alignment (self->beside);
  const AdjGraph *other = adj_beside_get_graph (self->beside);
  const AdjBundleGraph *own = adj_document_get_graph (adj_panel_get_document (self));

  gtk_text_buffer_set_text (buffer, "", -1);
  for (guint i = 0; alignment != NULL && own != NULL && i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_NONE)
        append_line (buffer, "same", "  ", own->graph, change->b.index);
      if (change->kind == ADJ_CHANGE_REMOVED || change->kind == ADJ_CHANGE_CHANGED)
        append_line (buffer, "removed", "− ", other, change->a.index);
      if (change->kind == ADJ_CHANGE_ADDED || change->kind == ADJ_CHANGE_CHANGED)
        append_line (buffer, "added", "+ ", own->graph, change->b.index);
    }
}

static void
on_page (AdjBesidePane *self)
{
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "text") == 0)
    fill_text (self);
}

/* -- the picture -- */

/* What the other graph alone has, or has otherwise. */
static GArray *
list_different (const AdjAlignment *alignment)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < alignment->n_changes; i++)
    if (alignment->changes[i].kind != ADJ_CHANGE_NONE &&
        adj_node_id_is_valid (alignment->changes[i].a))
      g_array_append_val (nodes, alignment->changes[i].a.index);
  return nodes;
}

static void
on_changed (AdjBesidePane *self)
{
  AdjScene *scene = adj_beside_get_scene (self->beside);
  const AdjAlignment *alignment = adj_beside_get_alignment (self->beside);
  g_autoptr (GArray) different = alignment != NULL ? list_different (alignment) : NULL;

  self->following = TRUE;
  adj_graph_view_set_scene (self->view, scene, adj_beside_get_graph (self->beside));
  adj_graph_view_set_lit (self->view, different != NULL && different->len > 0 ? different : NULL);
  self->following = FALSE;
  on_page (self);
  if (adj_panel_get_document (self) == NULL)
    return;
  on_selected (self);
  follow_first (self);
}

/* -- widget -- */

void
adj_beside_pane_set_view (AdjBesidePane *self, AdjGraphView *view)
{
  g_return_if_fail (ADJ_IS_BESIDE_PANE (self));

  self->first = view;
  g_signal_connect_object (view, "camera-changed", G_CALLBACK (follow_first), self,
                           G_CONNECT_SWAPPED);
}

AdjGraphView *
adj_beside_pane_get_view (AdjBesidePane *self)
{
  return self->view;
}

static void
adj_beside_pane_dispose (GObject *object)
{
  AdjBesidePane *self = ADJ_BESIDE_PANE (object);

  self->following = TRUE;
  g_clear_object (&self->beside);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);

  G_OBJECT_CLASS (adj_beside_pane_parent_class)->dispose (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjBesidePane, name)

static void
adj_beside_pane_class_init (AdjBesidePaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_beside_pane_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  g_type_ensure (ADJ_TYPE_GRAPH_VIEW);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/beside-pane.ui");
  BIND (view);
  BIND (choice);
  BIND (difference);
  BIND (stack);
  BIND (text);
}

static void
adj_beside_pane_init (AdjBesidePane *self)
{
  GtkTextBuffer *buffer;

  gtk_widget_init_template (GTK_WIDGET (self));
  buffer = gtk_text_view_get_buffer (self->text);
  gtk_text_buffer_create_tag (buffer, "same", NULL);
  gtk_text_buffer_create_tag (buffer, "added", "foreground", "#26a269", NULL);
  gtk_text_buffer_create_tag (buffer, "removed", "foreground", "#c64600", NULL);
  self->beside = adj_beside_new ();
  g_signal_connect_swapped (self->beside, "changed", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->view, "camera-changed", G_CALLBACK (follow_second), self);
  g_signal_connect_swapped (self->view, "notify::selected", G_CALLBACK (on_other_selected), self);
  g_signal_connect_swapped (self->choice, "notify::selected", G_CALLBACK (on_chosen), self);
  g_signal_connect_swapped (self->stack, "notify::visible-child", G_CALLBACK (on_page), self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (on_selected));
}
