/* SPDX-License-Identifier: MIT */
/* The columns of a table of outputs. */

#include "panel/output-columns.h"

#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-scene-painter.h"
#include "model/adj-output-item.h"
#include "model/adj-tensor-stats.h"
#include "report/adj-properties.h"
#include "widgets/adj-column.h"

static char *
get_position (gpointer item)
{
  return g_strdup_printf ("%u", adj_output_item_get_position (item));
}

static char *
get_name (gpointer item)
{
  return g_strdup (adj_output_item_get_name (item));
}

static char *
get_type_of (gpointer item)
{
  AdjTensorData *value = adj_output_item_get_value (item);
  GString *text = g_string_new (value == NULL ? "None" : NULL);

  if (value != NULL)
    adj_tensor_meta_print (adj_tensor_data_get_meta (value), NULL, text);
  return g_string_free (text, FALSE);
}

static char *
get_first (gpointer item)
{
  AdjTensorData *value = adj_output_item_get_value (item);

  return value != NULL ? adj_tensor_stats_first (value, 4) : g_strdup (ADJ_COLUMN_NOTHING);
}

static char *
get_max_abs (gpointer item)
{
  const AdjValueComparison *comparison = adj_output_item_get_comparison (item);

  return adj_properties_number (comparison != NULL && adj_output_item_get_value (item) != NULL
                                    ? comparison->difference.max_abs
                                    : NAN);
}

static char *
get_status (gpointer item)
{
  const AdjValueComparison *comparison = adj_output_item_get_comparison (item);

  if (comparison == NULL)
    return g_strdup ("");
  return g_strdup_printf ("%s  %s", adj_verdict_sign (comparison->verdict),
                          adj_properties_comparison (comparison));
}

static const AdjColumn columns[] = {
  { "#", get_position, 44, FALSE, TRUE, NULL },
  { N_ ("Output"), get_name, 170, TRUE, FALSE, NULL },
  { N_ ("Type"), get_type_of, 150, FALSE, TRUE, NULL },
  { N_ ("First"), get_first, -1, FALSE, TRUE, NULL },
  { N_ ("Max abs"), get_max_abs, 86, FALSE, TRUE, NULL },
  { N_ ("Status"), get_status, 150, FALSE, FALSE, NULL },
};

void
adj_output_columns_append (GtkColumnView *view)
{
  adj_columns_append (view, columns, G_N_ELEMENTS (columns));
}

void
adj_output_columns_update (GtkColumnView *view)
{
  adj_columns_show_filled (view, columns, G_N_ELEMENTS (columns));
}
