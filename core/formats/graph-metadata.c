/* SPDX-License-Identifier: MIT */
/* What a node of .adjoint says beside its call: a table of the members of "meta". */

#include <string.h>

#include "formats/graph-metadata-private.h"
#include "ir/adj-graph.h"

static gboolean
keep_extra (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  ValueReader reader = metadata->value;
  AdjValue pair[2] = {
    { .kind = ADJ_VALUE_STRING, .n = strlen (item->key), .text = item->key },
  };

  reader.plain = TRUE;
  reader.nodes = NULL;
  if (!value_read (&reader, item, &pair[1], error))
    return FALSE;
  g_array_append_vals (metadata->extra, pair, 2);
  return TRUE;
}

static gboolean
read_modules (
    NodeMetadata *metadata, const JsonItem *item, guint *n, const AdjModule **out, GError **error)
{
  AdjModule *modules;

  if (item->kind != JSON_ARRAY)
    {
      json_fail (metadata->value.json, item, error, "%s must be an array", item->key);
      return FALSE;
    }
  modules = adj_arena_new0 (metadata->value.arena, AdjModule, item->n + 1);
  for (guint i = 0; i < item->n; i++)
    {
      const JsonItem *pair = &item->items[i];

      if (pair->kind != JSON_ARRAY || pair->n != 2 || pair->items[0].kind != JSON_STRING ||
          pair->items[1].kind != JSON_STRING)
        {
          json_fail (metadata->value.json, pair, error, "%s: expected [path, class]", item->key);
          return FALSE;
        }
      modules[i] = (AdjModule){ pair->items[0].text, pair->items[1].text };
    }
  *n = item->n;
  *out = modules;
  return TRUE;
}

static gboolean
read_stack (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  metadata->meta.stack_trace = value_read_text (&metadata->value, item, error);
  return metadata->meta.stack_trace != NULL;
}

static gboolean
read_own_modules (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  return read_modules (metadata, item, &metadata->meta.n_modules, &metadata->meta.modules, error);
}

static gboolean
read_fwd_modules (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  return read_modules (metadata, item, &metadata->meta.n_fwd_modules, &metadata->meta.fwd_modules,
                       error);
}

static gboolean
read_number (NodeMetadata *metadata, const JsonItem *item, gint64 *out, GError **error)
{
  if (item->kind != JSON_INT || item->integer < 0)
    return keep_extra (metadata, item, error);
  *out = item->integer;
  return TRUE;
}

static gboolean
read_seq_nr (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  return read_number (metadata, item, &metadata->meta.seq_nr, error);
}

static gboolean
read_ac_graph_id (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  return read_number (metadata, item, &metadata->meta.ac_graph_id, error);
}

static gboolean
read_origin (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  gint64 origin = -1;

  if (!read_number (metadata, item, &origin, error))
    return FALSE;
  if (origin >= 0 && origin < ADJ_MAX_NODES)
    metadata->origin.index = (guint32) origin;
  return TRUE;
}

static gboolean
read_recompute (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  AdjRecompute policy =
      item->kind == JSON_STRING ? adj_recompute_from_name (item->text) : ADJ_N_RECOMPUTE;

  if (policy == ADJ_N_RECOMPUTE || policy == ADJ_RECOMPUTE_NONE)
    return keep_extra (metadata, item, error);
  metadata->meta.recompute = policy;
  return TRUE;
}

static gboolean
read_alias (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  if (metadata->tensor == NULL || item->kind != JSON_INT || item->integer < 0 ||
      item->integer > G_MAXINT32)
    return keep_extra (metadata, item, error);
  metadata->tensor->storage = item->integer;
  return TRUE;
}

static gboolean
read_offset (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  AdjSize size = ADJ_SIZE (0);
  gboolean good = metadata->tensor != NULL;

  if (good && item->kind == JSON_STRING)
    good = adj_size_parse (metadata->value.symbols, item->text, item->n, &size, NULL);
  else if (good && item->kind == JSON_INT && item->integer >= 0)
    size = ADJ_SIZE (item->integer);
  else
    good = FALSE;
  if (!good)
    return keep_extra (metadata, item, error);
  metadata->tensor->shape.offset = size;
  return TRUE;
}

static gboolean
read_requires_grad (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  if (metadata->tensor == NULL || item->kind != JSON_TRUE)
    return keep_extra (metadata, item, error);
  metadata->tensor->requires_grad = TRUE;
  return TRUE;
}

static gboolean
read_tensor_layout (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  AdjLayout layout = item->kind == JSON_STRING ? adj_layout_from_name (item->text) : ADJ_N_LAYOUTS;

  if (metadata->tensor == NULL || layout == ADJ_N_LAYOUTS)
    return keep_extra (metadata, item, error);
  metadata->tensor->layout = layout;
  return TRUE;
}

/* Members of "meta" with a place of their own; a value that does not fit is kept as unknown ones
 * are. */
static const struct
{
  const char *key;
  gboolean (*read) (NodeMetadata *metadata, const JsonItem *item, GError **error);
} meta_members[] = {
  { "stack", read_stack },
  { "modules", read_own_modules },
  { "fwd_modules", read_fwd_modules },
  { "seq_nr", read_seq_nr },
  { "ac_graph_id", read_ac_graph_id },
  { "origin", read_origin },
  { "recompute", read_recompute },
  { "alias", read_alias },
  { "offset", read_offset },
  { "requires_grad", read_requires_grad },
  { "layout", read_tensor_layout },
};

/* Members of "meta" whose value is a name. */
static const struct
{
  const char *key;
  gsize offset; /* in AdjNodeMeta, of a const char * */
} name_members[] = {
  { "original_aten", G_STRUCT_OFFSET (AdjNodeMeta, original_aten) },
  { "partitioner_tag", G_STRUCT_OFFSET (AdjNodeMeta, partitioner_tag) },
  { "source", G_STRUCT_OFFSET (AdjNodeMeta, source) },
  { "param", G_STRUCT_OFFSET (AdjNodeMeta, parameter) },
  { "hook", G_STRUCT_OFFSET (AdjNodeMeta, hook) },
};

static gboolean
read_meta_member (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (meta_members); i++)
    if (strcmp (meta_members[i].key, item->key) == 0)
      return meta_members[i].read (metadata, item, error);
  for (guint i = 0; i < G_N_ELEMENTS (name_members) && item->kind == JSON_STRING; i++)
    if (strcmp (name_members[i].key, item->key) == 0)
      {
        G_STRUCT_MEMBER (const char *, &metadata->meta, name_members[i].offset) = item->text;
        return TRUE;
      }
  return keep_extra (metadata, item, error);
}

gboolean
graph_read_metadata (NodeMetadata *metadata, const JsonItem *item, GError **error)
{
  const JsonItem *meta = json_get (item, "meta");
  const JsonItem *type = json_get (item, "type");

  if (type != NULL && type->kind == JSON_STRING)
    {
      AdjValue pair[2] = {
        { .kind = ADJ_VALUE_STRING, .n = 4, .text = "type" },
        { .kind = ADJ_VALUE_RAW, .n = type->n, .text = type->text },
      };

      g_array_append_vals (metadata->extra, pair, 2);
    }
  if (meta == NULL)
    return TRUE;
  if (meta->kind != JSON_OBJECT)
    {
      json_fail (metadata->value.json, meta, error, "meta must be an object");
      return FALSE;
    }
  for (guint i = 0; i < meta->n; i++)
    if (!read_meta_member (metadata, &meta->items[i], error))
      return FALSE;
  return TRUE;
}
