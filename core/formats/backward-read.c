/* SPDX-License-Identifier: MIT */
/* Reads the captured backwards of .adjoint: their nodes and reasons, and the results of hooks. */

#include "formats/backward-private.h"

static gboolean
check_texts (const ValueReader *reader, const JsonItem *owner, const char *name, GError **error)
{
  const JsonItem *list = json_get (owner, name);

  gboolean good = list == NULL || list->kind == JSON_ARRAY;

  for (guint i = 0; good && list != NULL && i < list->n; i++)
    good = list->items[i].kind == JSON_STRING;
  if (!good)
    json_fail (reader->json, list, error, "\"%s\" must be an array of texts", name);
  return good;
}

/* Each entry of the list has the member @key of this kind. */
static gboolean
check_entries (const ValueReader *reader,
               const JsonItem *owner,
               const char *name,
               const char *key,
               JsonKind kind,
               GError **error)
{
  const JsonItem *list = json_get (owner, name);

  if (list != NULL && list->kind != JSON_ARRAY)
    {
      json_fail (reader->json, list, error, "\"%s\" must be an array", name);
      return FALSE;
    }
  for (guint i = 0; list != NULL && i < list->n; i++)
    {
      const JsonItem *member = json_get (&list->items[i], key);

      if (member != NULL && member->kind == kind)
        continue;
      json_fail (reader->json, &list->items[i], error, "each of \"%s\" must have \"%s\"", name,
                 key);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_object (const ValueReader *reader, const JsonItem *item, GError **error)
{
  if (item->kind == JSON_OBJECT)
    return TRUE;
  json_fail (reader->json, item, error, "\"%s\" must be an object", item->key);
  return FALSE;
}

gboolean
adjoint_read_capture (const ValueReader *reader,
                      const JsonItem *item,
                      AdjValue *out,
                      GError **error)
{
  return check_object (reader, item, error) && check_texts (reader, item, "nodes", error) &&
         check_texts (reader, item, "reasons", error) && value_read (reader, item, out, error);
}

gboolean
adjoint_read_backward (const ValueReader *reader,
                       const JsonItem *item,
                       AdjValue *out,
                       GError **error)
{
  const JsonItem *results = json_get (item, "results");

  return check_object (reader, item, error) &&
         (results == NULL || check_object (reader, results, error)) &&
         check_entries (reader, item, "inputs", "from", JSON_STRING, error) &&
         check_entries (reader, item, "hooks", "name", JSON_STRING, error) &&
         check_entries (reader, item, "gradients", "of", JSON_INT, error) &&
         value_read (reader, item, out, error);
}
