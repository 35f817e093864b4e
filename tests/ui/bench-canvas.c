/* SPDX-License-Identifier: MIT */

/* Panning through a joint graph of a deep model: milliseconds of work a frame and frames a second,
 * one JSON line for each zoom. */

#include <stdlib.h>
#include <time.h>

#include "canvas/adj-graph-view.h"
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
  clock_t cpu;           /* of the process when it began */
  double work[N_FRAMES]; /* ms */
  guint n;
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
measure (Bench *bench, const char *name, float zoom, guint n_nodes)
{
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
  tick = gtk_widget_add_tick_callback (GTK_WIDGET (bench->view), pan, bench, NULL);
  adj_wait_until (is_over, bench, 60);
  gtk_widget_remove_tick_callback (GTK_WIDGET (bench->view), tick);
  seconds = (g_get_monotonic_time () - bench->started) / 1e6;
  cpu = (double) (clock () - bench->cpu) * 1e3 / CLOCKS_PER_SEC / MAX (bench->n, 1);
  qsort (bench->work, bench->n, sizeof *bench->work, compare);
  g_print ("{\"bench\": \"canvas-pan\", \"nodes\": %u, \"zoom\": \"%s\", \"visible\": %u, "
           "\"median_ms\": %.1f, \"p95_ms\": %.1f, \"cpu_ms\": %.1f, \"frames_per_s\": %.1f}\n",
           n_nodes, name, adj_graph_view_count_visible (bench->view), bench->work[bench->n / 2],
           bench->work[bench->n * 95 / 100], cpu, bench->n / seconds);
}

int
main (int argc, char *argv[])
{
  guint n_layers = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 48;
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, FALSE);
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, NULL, NULL, NULL, NULL);
  guint n_nodes = adj_graph_get_n_nodes (graph);
  GtkWidget *window;
  Bench bench = { 0 };

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
  measure (&bench, "1", 1, n_nodes);
  measure (&bench, "0.5", 0.5f, n_nodes);
  measure (&bench, "0.25", 0.25f, n_nodes);
  measure (&bench, "0.1", 0.1f, n_nodes);
  measure (&bench, "fit", MAX (800 / bench.bounds.height, ADJ_ZOOM_MIN), n_nodes);
  g_signal_handlers_disconnect_by_data (bench.clock, &bench);
  gtk_window_destroy (GTK_WINDOW (window));
  return 0;
}
