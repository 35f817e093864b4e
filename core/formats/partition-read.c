/* SPDX-License-Identifier: MIT */
/* Reads the options of a partition from .adjoint. */

#include <math.h>

#include "formats/partition-private.h"

static gboolean
check_options (const JsonReader *json, const JsonItem *options, GError **error)
{
  if (options->kind != JSON_OBJECT)
    {
      json_fail (json, options, error, "\"options\" must be an object");
      return FALSE;
    }
  for (guint i = 0; i < options->n; i++)
    if (options->items[i].kind == JSON_ARRAY || options->items[i].kind == JSON_OBJECT)
      {
        json_fail (json, &options->items[i], error, "an option is a number, a text or a bool");
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_budget (const JsonReader *json, const JsonItem *budget, GError **error)
{
  if ((budget->kind == JSON_FLOAT && isfinite (budget->number) && budget->number >= 0) ||
      (budget->kind == JSON_INT && budget->integer >= 0))
    return TRUE;
  json_fail (json, budget, error, "\"activation_memory_budget\" must be a number from 0 on");
  return FALSE;
}

gboolean
adjoint_read_partition (const ValueReader *reader,
                        const JsonItem *item,
                        AdjValue *out,
                        GError **error)
{
  const JsonItem *partitioner = json_get (item, "partitioner");
  const JsonItem *budget = json_get (item, "activation_memory_budget");
  const JsonItem *options = json_get (item, "options");

  if (item->kind != JSON_OBJECT)
    json_fail (reader->json, item, error, "\"partition\" must be an object");
  else if (partitioner != NULL && partitioner->kind != JSON_STRING)
    json_fail (reader->json, partitioner, error, "\"partitioner\" must be a text");
  else if ((budget == NULL || check_budget (reader->json, budget, error)) &&
           (options == NULL || check_options (reader->json, options, error)))
    return value_read (reader, item, out, error);
  return FALSE;
}
