/* SPDX-License-Identifier: MIT */
/* The pane of a second graph beside the canvas. */

#include "canvas/adj-beside-pane.h"

#include <glib/gi18n.h>

#include "canvas/adj-text-pair.h"
#include "ir/adj-graph.h"
#include "model/adj-beside.h"
#include "model/adj-stages.h"
#include "report/adj-properties.h"

struct _AdjBesidePane
{
  AdjPanel parent_instance;

  AdjGraphView *view;
  GtkDropDown *choice;
  GtkLabel *difference;
  GtkLabel *values;
  GtkStack *stack;
  AdjTextPair *text;
  AdjGraphView *first;         /* (unowned) (nullable) */
  AdjBeside *beside;           /* (owned) */
  AdjGraphSet *graphs;         /* (owned) (nullable): of @graph */
  const AdjBundleGraph *graph; /* (nullable): the graph that the user chose */
  AdjGraphSet *others;         /* (owned) (nullable): of @other */
  const AdjBundleGraph *other; /* (nullable): a graph of another file, which the list also has */
  char *file;                  /* (owned) (nullable): its title */
  AdjBundle *listed;           /* (unowned): the bundle whose graphs are listed */
  gboolean opening;            /* the canvas was narrowed for the pane */
  gboolean following;          /* one view is following the other */
};

G_DEFINE_FINAL_TYPE (AdjBesidePane, adj_beside_pane, ADJ_TYPE_PANEL)

/* -- what is shown -- */

/* The graph that the shown stage was made from, else the next graph. */
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

/* Appends the graph's title, after @file where it is of another file. */
static void
append_name (GtkStringList *names, const char *file, const AdjBundleGraph *graph)
{
  g_autofree char *name =
      g_strdup_printf ("%s%s%s (%s)", file != NULL ? file : "", file != NULL ? ": " : "",
                       adj_properties_role_title (graph->role), graph->id);

  gtk_string_list_append (names, name);
}

static void
list_graphs (AdjBesidePane *self, AdjDocument *document)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  guint n = graphs != NULL ? adj_graph_set_get_n (graphs) : 0, selected = 0;

  gtk_string_list_append (names, _ ("The stage before"));
  for (guint i = 0; i < n; i++)
    {
      append_name (names, NULL, adj_graph_set_get (graphs, i));
      if (self->graph == adj_graph_set_get (graphs, i))
        selected = i + 1;
    }
  if (self->other != NULL)
    append_name (names, self->file, self->other);
  if (self->other != NULL && self->graph == self->other)
    selected = n + 1;
  self->following = TRUE;
  gtk_drop_down_set_model (self->choice, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->choice, selected);
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
show (AdjBesidePane *self, AdjGraphSet *graphs, const AdjBundleGraph *graph)
{
  if (graphs != NULL)
    adj_graph_set_ref (graphs);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  self->graphs = graphs;
  self->graph = graph;
  update (self);
}

static void
on_chosen (AdjBesidePane *self)
{
  AdjGraphSet *graphs = adj_document_get_graphs (adj_panel_get_document (self));
  guint chosen = gtk_drop_down_get_selected (self->choice);

  if (self->following)
    return;
  if (chosen == 0)
    show (self, NULL, NULL);
  else if (chosen <= adj_graph_set_get_n (graphs))
    show (self, graphs, adj_graph_set_get (graphs, chosen - 1));
  else
    show (self, self->others, self->other);
}

void
adj_beside_pane_set_graph (AdjBesidePane *self,
                           AdjGraphSet *graphs,
                           const AdjBundleGraph *graph,
                           const char *file)
{
  AdjDocument *document = adj_panel_get_document (self);

  g_return_if_fail (ADJ_IS_BESIDE_PANE (self));

  if (graphs != adj_document_get_graphs (document))
    {
      adj_graph_set_ref (graphs);
      g_clear_pointer (&self->others, adj_graph_set_unref);
      self->others = graphs;
      self->other = graph;
      g_free (self->file);
      self->file = g_strdup (file);
    }
  show (self, graphs, graph);
  list_graphs (self, document);
  self->listed = adj_document_get_bundle (document);
}

/* -- moving together -- */

typedef struct
{
  AdjBesidePane *self;
  AdjPoint middle; /* of the visible part of the first view */
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

/* The offset of the second picture that puts the selected node, or its closed module, side by side
 * in both; %FALSE: it is out of view. */
static gboolean
find_offset_of_selected (AdjBesidePane *self, const AdjRect *visible, AdjPoint *offset)
{
  AdjNodeId own = adj_graph_view_get_selected (self->first);
  AdjNodeId other = adj_beside_find_other (self->beside, own);
  gboolean here_found, there_found;
  AdjPoint here = middle_of (adj_graph_view_get_scene (self->first), own, &here_found);
  AdjPoint there = middle_of (adj_beside_get_scene (self->beside), other, &there_found);

  *offset = (AdjPoint){ there.x - here.x, there.y - here.y };
  return here_found && there_found && here.x > visible->x && here.y > visible->y &&
         here.x < visible->x + visible->width && here.y < visible->y + visible->height;
}

/* The offset for the selection or, where it is out of view, for the aligned pair that is nearest to
 * the middle, preferably a visible one. */
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
  if (find_offset_of_selected (self, &visible, offset))
    return TRUE;
  nearest.middle = (AdjPoint){ visible.x + visible.width / 2, visible.y + visible.height / 2 };
  adj_scene_foreach_box (scene, &visible, take_nearest, &nearest);
  if (nearest.least == G_MAXFLOAT)
    for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
      take_nearest (i, &nearest);
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
  g_autofree char *text = NULL, *values = NULL;

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
  values =
      adj_beside_describe_values (self->beside, adj_panel_get_document (ADJ_PANEL (self)), own);
  gtk_label_set_text (self->values, values);
  gtk_widget_set_visible (GTK_WIDGET (self->values), *values != '\0');
}

static void
on_selected (AdjBesidePane *self)
{
  AdjNodeId own = adj_document_get_selected (adj_panel_get_document (self));

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  show_difference (self, own);
  adj_text_pair_select (self->text, own, ADJ_NO_NODE);
  if (self->following)
    return;
  self->following = TRUE;
  adj_graph_view_set_selected (self->view, adj_beside_find_other (self->beside, own));
  self->following = FALSE;
  follow_first (self);
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
    {
      gtk_label_set_text (self->difference, _ ("Only in the graph on the right"));
      adj_text_pair_select (self->text, own, adj_graph_view_get_selected (self->view));
    }
}

/* -- text -- */

static void
fill_text (AdjBesidePane *self)
{
  const AdjBundleGraph *own = adj_document_get_graph (adj_panel_get_document (self));
  const AdjAlignment *alignment = adj_beside_get_alignment (self->beside);

  adj_text_pair_set (self->text, own != NULL ? alignment : NULL,
                     adj_beside_get_graph (self->beside), own != NULL ? own->graph : NULL);
}

static void
on_line (AdjTextPair *text, guint own, guint other, AdjBesidePane *self)
{
  if (self->following || adj_panel_get_document (self) == NULL)
    return;
  if (own != G_MAXUINT)
    adj_document_set_selected (adj_panel_get_document (self), (AdjNodeId){ own });
  else
    adj_graph_view_set_selected (self->view, (AdjNodeId){ other });
}

static void
on_page (AdjBesidePane *self)
{
  AdjDocument *document = adj_panel_get_document (self);

  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "text") != 0 || document == NULL)
    return;
  fill_text (self);
  adj_text_pair_select (self->text, adj_document_get_selected (document), ADJ_NO_NODE);
}

/* -- the picture -- */

/* What became of each node of the other graph, as for adj_graph_view_set_changes().
 * (transfer full) */
static GBytes *
list_changes (const AdjAlignment *alignment, const AdjGraph *other)
{
  guint n = adj_graph_get_n_nodes (other);
  guint8 *kinds = g_malloc0 (MAX (n, 1));

  for (guint i = 0; i < alignment->n_changes; i++)
    if (adj_node_id_is_valid (alignment->changes[i].a))
      kinds[alignment->changes[i].a.index] = (guint8) alignment->changes[i].kind;
  return g_bytes_new_take (kinds, n);
}

/* The canvas is half as wide now: a picture that still fits is centred, else the middle of the view
 * stays in the middle. */
static void
make_room (AdjBesidePane *self)
{
  AdjCamera camera = adj_graph_view_get_camera (self->first);
  AdjRect bounds = adj_scene_get_bounds (adj_graph_view_get_scene (self->first));
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)) / camera.zoom;

  self->opening = FALSE;
  if (adj_node_id_is_valid (adj_graph_view_get_selected (self->first)))
    return;
  if (camera.x <= bounds.x && bounds.width <= width)
    camera.x = bounds.x + bounds.width / 2 - width / 2;
  else
    camera.x += width / 2;
  adj_graph_view_set_camera (self->first, &camera);
}

static void
on_changed (AdjBesidePane *self)
{
  AdjScene *scene = adj_beside_get_scene (self->beside);
  const AdjAlignment *alignment = adj_beside_get_alignment (self->beside);
  AdjGraph *other = adj_beside_get_graph (self->beside);
  g_autoptr (GBytes) changes = alignment != NULL ? list_changes (alignment, other) : NULL;

  self->following = TRUE;
  adj_graph_view_set_scene (self->view, scene, other);
  adj_graph_view_set_changes (self->view, changes);
  if (scene != NULL && self->opening && adj_graph_view_get_scene (self->first) != NULL)
    make_room (self);
  self->following = FALSE;
  on_page (self);
  if (adj_panel_get_document (self) == NULL)
    return;
  on_selected (self);
  follow_first (self);
}

static void
on_map (AdjBesidePane *self)
{
  self->opening = TRUE;
  update (self);
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
  g_clear_pointer (&self->others, adj_graph_set_unref);
  g_clear_pointer (&self->file, g_free);

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
  g_type_ensure (ADJ_TYPE_TEXT_PAIR);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/beside-pane.ui");
  BIND (view);
  BIND (choice);
  BIND (difference);
  BIND (values);
  BIND (stack);
  BIND (text);
}

static void
adj_beside_pane_init (AdjBesidePane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->beside = adj_beside_new ();
  g_signal_connect_swapped (self->beside, "changed", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->view, "camera-changed", G_CALLBACK (follow_second), self);
  g_signal_connect_swapped (self->view, "notify::selected", G_CALLBACK (on_other_selected), self);
  g_signal_connect_swapped (self->choice, "notify::selected", G_CALLBACK (on_chosen), self);
  g_signal_connect (self->text, "selected", G_CALLBACK (on_line), self);
  g_signal_connect_swapped (self->stack, "notify::visible-child", G_CALLBACK (on_page), self);
  g_signal_connect (self, "map", G_CALLBACK (on_map), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (on_selected));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (on_selected));
}
