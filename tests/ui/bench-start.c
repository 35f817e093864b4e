/* SPDX-License-Identifier: MIT */

/* Times the start, from exec to the first frame of the window: JSON lines, medians over several
 * processes. */

#include <gio/gio.h>
#include <stdlib.h>

#include "window/adj-application.h"

#define N_STARTS 7

typedef enum
{
  LINKED,  /* main() is reached */
  STARTED, /* the display is open, style and resources are loaded */
  BUILT,   /* the window exists */
  PAINTED, /* its first frame is presented */
  N_STAGES
} Stage;

static const char *const stage_names[N_STAGES] = { "linked", "started", "built", "painted" };

/* -- the process that starts -- */

typedef struct
{
  gint64 origin;
  double ms[N_STAGES];
} Start;

static void
reach (Start *start, Stage stage)
{
  start->ms[stage] = (g_get_monotonic_time () - start->origin) / 1e3;
}

static void
on_after_paint (GdkFrameClock *clock, Start *start)
{
  reach (start, PAINTED);
  for (guint i = 0; i < N_STAGES; i++)
    g_print ("%f ", start->ms[i]);
  exit (0);
}

static void
on_map (GtkWidget *window, Start *start)
{
  g_signal_connect (gtk_widget_get_frame_clock (window), "after-paint", G_CALLBACK (on_after_paint),
                    start);
}

static void
on_window_added (GtkApplication *application, GtkWindow *window, Start *start)
{
  g_signal_connect (window, "map", G_CALLBACK (on_map), start);
}

static void
on_activate (GApplication *application, Start *start)
{
  reach (start, BUILT);
}

static void
on_startup (GApplication *application, Start *start)
{
  reach (start, STARTED);
}

static int
start_here (const char *origin)
{
  Start start = { .origin = g_ascii_strtoll (origin, NULL, 10) };
  g_autoptr (AdjApplication) application = NULL;

  reach (&start, LINKED);
  g_set_application_name ("Adjoint");
  application = adj_application_new (G_APPLICATION_NON_UNIQUE);
  g_signal_connect_after (application, "startup", G_CALLBACK (on_startup), &start);
  g_signal_connect_after (application, "activate", G_CALLBACK (on_activate), &start);
  g_signal_connect (application, "window-added", G_CALLBACK (on_window_added), &start);
  return g_application_run (G_APPLICATION (application), 0, NULL);
}

/* -- the process that measures -- */

static gboolean
measure (const char *program, double ms[N_STAGES])
{
  g_autofree char *origin = g_strdup_printf ("%" G_GINT64_FORMAT, g_get_monotonic_time ());
  char *argv[] = { (char *) program, origin, NULL };
  g_autofree char *out = NULL;
  g_auto (GStrv) words = NULL;
  int status;

  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, NULL, &status, NULL))
    return FALSE;
  words = g_strsplit (out, " ", -1);
  if (g_strv_length (words) <= N_STAGES)
    return FALSE;
  for (guint i = 0; i < N_STAGES; i++)
    ms[i] = g_ascii_strtod (words[i], NULL);
  return TRUE;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

int
main (int argc, char *argv[])
{
  double ms[N_STAGES][N_STARTS], one[N_STAGES];

  if (argc > 1)
    return start_here (argv[1]);
  for (guint n = 0; n < N_STARTS; n++)
    {
      if (!measure (argv[0], one))
        {
          g_printerr ("bench-start: there is no display\n");
          return 77;
        }
      for (guint i = 0; i < N_STAGES; i++)
        ms[i][n] = one[i];
    }
  for (guint i = 0; i < N_STAGES; i++)
    {
      qsort (ms[i], N_STARTS, sizeof ms[i][0], compare);
      g_print ("{\"bench\": \"start\", \"stage\": \"%s\", \"median_ms\": %.1f, \"min_ms\": %.1f}\n",
               stage_names[i], ms[i][N_STARTS / 2], ms[i][0]);
    }
  return 0;
}
