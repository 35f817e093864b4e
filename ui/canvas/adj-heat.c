/* SPDX-License-Identifier: MIT */
/* Numbers of nodes (bytes, time, error) as tints of their cards. */

#include "canvas/adj-heat.h"

#include <glib/gi18n.h>
#include <math.h>

#include "analysis/adj-lifetimes.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

struct _AdjHeat
{
  guint n;
  double *numbers; /* NaN: none */
  char **texts;
  double low, high;
  char *low_text, *high_text;
};

/* -- what is measured -- */

/* The sources of the numbers. */
typedef struct
{
  const AdjEvaluation *evaluation; /* (nullable) */
  const AdjLifetime *lives;
} Source;

/* Each storage is counted once: views are folded into the box of their base, or count 0. */
static double
bytes_of (const Source *source, guint index)
{
  return source->lives[index].bytes > 0 ? (double) source->lives[index].bytes : NAN;
}

static double
time_of (const Source *source, guint index)
{
  const AdjRunResult *result = adj_evaluation_get_result (source->evaluation);
  gint64 ns = result->node_ns != NULL && index < result->n_nodes ? result->node_ns[index] : 0;

  return ns > 0 ? (double) ns : NAN;
}

static double
error_of (const Source *source, guint index)
{
  const AdjValueComparison *comparison =
      adj_evaluation_find (source->evaluation, (AdjNodeId){ index });

  if (comparison == NULL || comparison->verdict == ADJ_VERDICT_SKIPPED)
    return NAN;
  return comparison->difference.max_rel;
}

static char *
print_bytes (double number)
{
  return adj_properties_bytes ((gint64) number);
}

static const struct
{
  double (*measure) (const Source *source, guint index);
  char *(*print) (double number);
  gboolean adds, needs_run;
} measures[ADJ_N_COLORINGS] = {
  [ADJ_COLOR_BY_BYTES] = { bytes_of, print_bytes, TRUE, FALSE },
  [ADJ_COLOR_BY_TIME] = { time_of, adj_properties_time, TRUE, TRUE },
  [ADJ_COLOR_BY_ERROR] = { error_of, adj_properties_number, FALSE, TRUE },
};

/* -- the heat -- */

static void
find_range (AdjHeat *self)
{
  self->low = INFINITY;
  self->high = 0;
  for (guint i = 0; i < self->n; i++)
    if (!isnan (self->numbers[i]) && self->numbers[i] > 0)
      {
        self->low = fmin (self->low, self->numbers[i]);
        self->high = fmax (self->high, self->numbers[i]);
      }
}

static void
print_texts (AdjHeat *self, char *(*print) (double number))
{
  self->texts = g_new0 (char *, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    if (!isnan (self->numbers[i]))
      self->texts[i] = print (self->numbers[i]);
  self->low_text = print (self->low);
  self->high_text = print (self->high);
}

AdjHeat *
adj_heat_new (const AdjScene *scene,
              const AdjGraph *graph,
              const AdjEvaluation *evaluation,
              AdjColoring coloring)
{
  g_autoptr (AdjHeat) self = NULL;
  Source source = { evaluation, NULL };

  if (measures[coloring].measure == NULL || (measures[coloring].needs_run && evaluation == NULL))
    return NULL;
  source.lives = adj_graph_get_lifetimes (graph);
  self = g_new0 (AdjHeat, 1);
  self->n = adj_scene_get_n_boxes (scene);
  self->numbers = g_new (double, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    self->numbers[i] = NAN;
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint box = adj_scene_find_node (scene, (AdjNodeId){ i });
      double number = measures[coloring].measure (&source, i);

      if (box >= self->n || isnan (number))
        continue;
      if (isnan (self->numbers[box]))
        self->numbers[box] = number;
      else if (measures[coloring].adds)
        self->numbers[box] += number;
      else
        self->numbers[box] = fmax (self->numbers[box], number);
    }
  find_range (self);
  if (self->high <= 0)
    return NULL;
  print_texts (self, measures[coloring].print);
  return g_steal_pointer (&self);
}

void
adj_heat_free (AdjHeat *heat)
{
  for (guint i = 0; heat->texts != NULL && i < heat->n; i++)
    g_free (heat->texts[i]);
  g_free (heat->texts);
  g_free (heat->numbers);
  g_free (heat->low_text);
  g_free (heat->high_text);
  g_free (heat);
}

const char *
adj_heat_get_text (const AdjHeat *heat, guint box)
{
  return box < heat->n ? heat->texts[box] : NULL;
}

/* Shares are logarithmic, since one large value would leave all others pale. */
float
adj_heat_get_share (const AdjHeat *heat, guint box)
{
  double number = box < heat->n ? heat->numbers[box] : NAN;

  if (isnan (number) || number <= 0)
    return 0;
  if (heat->high <= heat->low * 1.001)
    return 1;
  return (float) (0.08 + 0.92 * log (number / heat->low) / log (heat->high / heat->low));
}

const char *
adj_heat_get_low (const AdjHeat *heat)
{
  return heat->low_text;
}

const char *
adj_heat_get_high (const AdjHeat *heat)
{
  return heat->high_text;
}

AdjColor
adj_heat_color (float share, AdjScheme scheme)
{
  gboolean dark = scheme == ADJ_SCHEME_DARK || scheme == ADJ_SCHEME_HIGH_CONTRAST_DARK;
  const AdjColor *card = &adj_palette_get (scheme)->card;
  AdjColor full = dark ? (AdjColor){ 0.53f, 0.37f, 0, 1 } : (AdjColor){ 0.95f, 0.68f, 0.10f, 1 };

  return (AdjColor){ card->red + (full.red - card->red) * share,
                     card->green + (full.green - card->green) * share,
                     card->blue + (full.blue - card->blue) * share, 1 };
}
