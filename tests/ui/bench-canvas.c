/* SPDX-License-Identifier: MIT */

/* Times panning through a joint graph of a deep model, and switching between two of its stages:
 * milliseconds of work for a frame and frames a second, one JSON line for each zoom. */

#include <stdlib.h>
#include <time.h>

#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/layered-graph.h"
#include "ui/adj-walk.h"

#define N_FRAMES 90

typedef struct
{
  AdjGraphView *view;
  AdjRect bounds;
  GdkFrameClock *clock;
  gint64 begun, started;
  clock_t cpu;           /* CPU time of the process at the start */
  double work[N_FRAMES]; /* in ms */
  guint n;
  AdjScene *stages[2]; /* (unowned): stages to switch between */
  AdjGraph *graphs[2];
  guint stage;
} Bench;

static void
on_before_paint (GdkFrameClock *clock, Bench *bench)
{
  bench->begun = g_get_monotonic_time ();
}

static void
on_after_paint (GdkFrameClock *clock, Bench *bench)
{
  if (bench->n < N_FRAMES)
    bench->work[bench->n++] = (g_get_monotonic_time () - bench->begun) / 1e3;
}

static gboolean
pan (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Bench *bench = data;
  AdjCamera camera = adj_graph_view_get_camera (bench->view);

  camera.y += 12 / camera.zoom;
  if (camera.y > bench->bounds.height * 0.8f)
    camera.y = 0;
  adj_graph_view_set_camera (bench->view, &camera);
  return G_SOURCE_CONTINUE;
}

/* Switches to the other stage as soon as the picture is painted. */
static gboolean
step (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  Bench *bench = data;

  gtk_widget_queue_draw (widget);
  if (bench->view->morph != NULL)
    return G_SOURCE_CONTINUE;
  bench->stage = 1 - bench->stage;
  adj_graph_view_step_next (bench->view, NULL);
  adj_graph_view_set_scene (bench->view, bench->stages[bench->stage], bench->graphs[bench->stage]);
  return G_SOURCE_CONTINUE;
}

static gboolean
is_over (gpointer data)
{
  return ((Bench *) data)->n == N_FRAMES;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
measure (Bench *bench, const char *what, GtkTickCallback each, const char *name, float zoom)
{
  guint n_nodes = adj_graph_get_n_nodes (bench->graphs[0]);
  AdjCamera camera = adj_graph_view_get_camera (bench->view);
  guint tick;
  double seconds, cpu;

  camera.zoom = zoom;
  camera.x = bench->bounds.width / 2 - 640 / zoom;
  camera.y = bench->bounds.height / 4;
  adj_graph_view_set_camera (bench->view, &camera);
  bench->n = 0;
  bench->started = g_get_monotonic_time ();
  bench->cpu = clock ();
  tick = gtk_widget_add_tick_callback (GTK_WIDGET (bench->view), each, bench, NULL);
  adj_wait_until (is_over, bench, 60);
  gtk_widget_remove_tick_callback (GTK_WIDGET (bench->view), tick);
  seconds = (g_get_monotonic_time () - bench->started) / 1e6;
  cpu = (double) (clock () - bench->cpu) * 1e3 / CLOCKS_PER_SEC / MAX (bench->n, 1);
  qsort (bench->work, bench->n, sizeof *bench->work, compare);
  g_print ("{\"bench\": \"canvas-%s\", \"nodes\": %u, \"zoom\": \"%s\", \"visible\": %u, "
           "\"median_ms\": %.1f, \"p95_ms\": %.1f, \"cpu_ms\": %.1f, \"frames_per_s\": %.1f}\n",
           what, n_nodes, name, adj_graph_view_count_visible (bench->view),
           bench->work[bench->n / 2], bench->work[bench->n * 95 / 100], cpu, bench->n / seconds);
}

/* Switches between the graph and one with an additional layer. */
static void
measure_steps (Bench *bench, guint n_layers)
{
  g_autoptr (AdjGraph) other = adj_test_layered_graph (n_layers + 1, FALSE);
  g_autoptr (AdjScene) scene = adj_layout_mirror (other, NULL, NULL, NULL, NULL);

  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", TRUE, NULL);
  bench->stages[1] = scene;
  bench->graphs[1] = other;
  measure (bench, "step", step, "1", 1);
  measure (bench, "step", step, "0.62", 0.62f);
  measure (bench, "step", step, "0.4", 0.4f);
}

int
main (int argc, char *argv[])
{
  guint n_layers = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 48;
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, FALSE);
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, NULL, NULL, NULL, NULL);
  static const struct
  {
    const char *name;
    float zoom;
  } zooms[] = { { "1", 1 }, { "0.5", 0.5f }, { "0.25", 0.25f }, { "0.1", 0.1f } };
  Bench bench = { .stages = { scene }, .graphs = { graph } };
  GtkWidget *window;

  if (!adj_walk_init () || scene == NULL)
    {
      g_printerr ("bench-canvas: there is no display or no layout\n");
      return 77;
    }
  window = gtk_window_new ();
  bench.view = ADJ_GRAPH_VIEW (adj_graph_view_new ());
  bench.bounds = adj_scene_get_bounds (scene);
  gtk_window_set_child (GTK_WINDOW (window), GTK_WIDGET (bench.view));
  gtk_window_set_default_size (GTK_WINDOW (window), 1280, 800);
  gtk_window_present (GTK_WINDOW (window));
  adj_graph_view_set_scene (bench.view, scene, graph);
  bench.clock = gtk_widget_get_frame_clock (window);
  g_signal_connect (bench.clock, "before-paint", G_CALLBACK (on_before_paint), &bench);
  g_signal_connect (bench.clock, "after-paint", G_CALLBACK (on_after_paint), &bench);
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    measure (&bench, "pan", pan, zooms[i].name, zooms[i].zoom);
  measure (&bench, "pan", pan, "fit", MAX (800 / bench.bounds.height, ADJ_ZOOM_MIN));
  measure_steps (&bench, n_layers);
  g_signal_handlers_disconnect_by_data (bench.clock, &bench);
  gtk_window_destroy (GTK_WINDOW (window));
  return 0;
}
