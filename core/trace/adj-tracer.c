/* SPDX-License-Identifier: MIT */
#include "trace/adj-tracer.h"

#include <string.h>

#include "trace/tracer-private.h"

AdjTracer *
adj_tracer_new (AdjContext *cx, const char *name, gboolean items_when_read)
{
  AdjTracer *tracer = g_new0 (AdjTracer, 1);

  tracer->cx = cx;
  tracer->mark = g_new0 (AdjTraceMark, 1);
  tracer->mark->n_refs = 1;
  tracer->items_when_read = items_when_read;
  tracer->arena = adj_arena_new ();
  tracer->builder = adj_builder_new (name, adj_context_get_symbols (cx));
  tracer->nodes = g_array_new (FALSE, FALSE, sizeof (AdjTracedNode));
  tracer->stems = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  tracer->storages = g_hash_table_new (g_int64_hash, g_int64_equal);
  tracer->data = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  tracer->data_by_at = g_hash_table_new (NULL, NULL);
  tracer->sizes = g_hash_table_new (g_int64_hash, g_int64_equal);
  return tracer;
}

void
adj_tracer_free (AdjTracer *tracer)
{
  tracer->mark->ended = TRUE;
  adj_trace_mark_unref (tracer->mark);
  g_hash_table_unref (tracer->stems);
  g_hash_table_unref (tracer->storages);
  g_hash_table_unref (tracer->data_by_at);
  g_hash_table_unref (tracer->sizes);
  g_ptr_array_unref (tracer->data);
  g_array_unref (tracer->nodes);
  adj_builder_free (tracer->builder);
  adj_arena_free (tracer->arena);
  g_free (tracer);
}

/* -- provenance ---- */

/* What is known where no graph is being interpreted. */
static const AdjNodeMeta *
make_meta (AdjTracer *tracer, const AdjPlace *place)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  g_autofree char *line = NULL;
  const char *text = place->stack_trace;
  AdjNodeMeta *meta;

  if (text == NULL && place->file != NULL)
    text = line = g_strdup_printf ("  File \"%s\", line %u, in C\n", place->file, place->line);
  if (text == NULL)
    return &no_meta;
  meta = adj_arena_memdup (tracer->arena, &no_meta, sizeof no_meta);
  meta->stack_trace = adj_arena_intern (tracer->arena, text);
  return meta;
}

/* What the place in the program says of the nodes that are made there. */
static const AdjNodeMeta *
get_meta (AdjTracer *tracer, AdjNodeId *origin)
{
  const AdjPlace *place = adj_context_get_place (tracer->cx);

  *origin = place->graph != NULL ? place->id : ADJ_NO_NODE;
  if (place->graph != NULL && place->graph == tracer->meta_graph &&
      place->id.index == tracer->meta_index)
    return tracer->meta;

  if (place->graph != NULL && place->graph != tracer->meta_graph)
    adj_builder_share (tracer->builder, place->graph);
  tracer->meta_graph = place->graph;
  tracer->meta_index = place->id.index;
  tracer->meta = place->graph != NULL ? &adj_graph_get_node (place->graph, place->id.index)->meta
                                      : make_meta (tracer, place);
  return tracer->meta;
}

/* -- nodes ---- */

static const char *
get_stem (AdjTracer *tracer, const char *target)
{
  char *stem = g_hash_table_lookup (tracer->stems, target);

  if (stem == NULL)
    {
      stem = adj_target_get_stem (target);
      g_hash_table_insert (tracer->stems, (gpointer) target, stem);
    }
  return stem;
}

static const char *
make_name (AdjTracer *tracer, const char *stem)
{
  g_autofree char *name = adj_builder_unique_name (tracer->builder, stem);

  return adj_arena_strdup (tracer->arena, name);
}

/* @stem: %NULL: of the target, which then lives as long as the tracer. */
AdjNodeId
adj_tracer_add (AdjTracer *tracer, AdjTracedNode *node, const char *stem)
{
  AdjNodeId id = { tracer->nodes->len };

  if (node->name == NULL)
    node->name = make_name (tracer, stem != NULL ? stem : get_stem (tracer, node->target));
  if (node->meta == NULL)
    node->meta = get_meta (tracer, &node->origin);
  g_array_append_val (tracer->nodes, *node);
  return id;
}

/* -- what a trace consists of ---- */

AdjNodeId
adj_tracer_add_placeholder (AdjTracer *tracer,
                            const char *name,
                            const char *stem,
                            const AdjNodeMeta *meta,
                            const AdjValue *value)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_PLACEHOLDER,
    .meta = meta != NULL ? meta : &no_meta,
    .origin = ADJ_NO_NODE,
  };
  AdjNodeId id;

  node.name = make_name (tracer, name != NULL ? name : stem);
  if (name != NULL)
    node.name = adj_arena_intern (tracer->arena, name);
  node.target = node.name;
  node.val = adj_tracer_snapshot (tracer, value, TRUE);
  id = adj_tracer_add (tracer, &node, NULL);
  adj_tracer_track (tracer, value, id);
  return id;
}

AdjNodeId
adj_tracer_add_call (AdjTracer *tracer,
                     const char *target,
                     const AdjValue *args,
                     const AdjValue *kwargs,
                     const AdjValue *result)
{
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = target,
    .args = *args,
    .kwargs = *kwargs,
    .val = adj_tracer_snapshot (tracer, result, FALSE),
  };
  AdjNodeId id;

  node.meta = get_meta (tracer, &node.origin);
  if (node.meta->original_aten == NULL)
    {
      AdjNodeMeta *meta = adj_arena_memdup (tracer->arena, node.meta, sizeof *meta);

      meta->original_aten = target;
      node.meta = tracer->meta = meta;
    }
  id = adj_tracer_add (tracer, &node, NULL);
  if (result->kind == ADJ_VALUE_TUPLE || result->kind == ADJ_VALUE_LIST)
    adj_tracer_track_items (tracer, id, result);
  else
    adj_tracer_track (tracer, result, id);
  return id;
}

gboolean
adj_tracer_add_output (AdjTracer *tracer, const AdjValue *value)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_OUTPUT,
    .target = "output",
    .meta = &no_meta,
    .origin = ADJ_NO_NODE,
  };
  AdjValue *item = adj_arena_new0 (tracer->arena, AdjValue, 1);

  if (!adj_tracer_take (tracer, value, item))
    return FALSE;
  node.args = ADJ_ITEMS (TUPLE, item, 1);
  adj_tracer_add (tracer, &node, NULL);
  return TRUE;
}

/* -- sealing ---- */

static gboolean
mark_read (const AdjValue *leaf, gpointer data)
{
  guint32 *read = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    read[leaf->node.index] = 1;
  return TRUE;
}

/* New positions; G_MAXUINT32 for nodes that are left out. */
static guint32 *
number_nodes (const AdjTracer *tracer)
{
  guint n = tracer->nodes->len, next = 0;
  guint32 *places = g_new0 (guint32, MAX (n, 1));

  for (guint i = n; i-- > 0;)
    {
      const AdjTracedNode *node = &g_array_index (tracer->nodes, AdjTracedNode, i);

      places[i] |= !node->only_if_read;
      if (places[i] == 0)
        continue;
      adj_value_foreach (&node->args, mark_read, places);
      adj_value_foreach (&node->kwargs, mark_read, places);
    }
  for (guint i = 0; i < n; i++)
    places[i] = places[i] != 0 ? next++ : G_MAXUINT32;
  return places;
}

static void
renumber (AdjValue *value, const guint32 *places)
{
  if (value->kind == ADJ_VALUE_NODE)
    value->node.index = places[value->node.index];
  else if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      renumber (&value->items[i], places);
}

void
adj_tracer_set_header (AdjTracer *tracer, AdjHeader header, const char *parameters)
{
  adj_builder_set_header (tracer->builder, header, parameters);
}

AdjGraph *
adj_tracer_seal (AdjTracer *tracer, GError **error)
{
  AdjBuilder *builder = tracer->builder;
  g_autofree guint32 *places = number_nodes (tracer);

  adj_builder_reserve (builder, tracer->nodes->len);
  for (guint i = 0; i < tracer->nodes->len; i++)
    {
      AdjTracedNode *node = &g_array_index (tracer->nodes, AdjTracedNode, i);

      if (places[i] == G_MAXUINT32)
        continue;
      renumber (&node->args, places);
      renumber (&node->kwargs, places);
      adj_builder_add (builder,
                       &(AdjNodeSpec){ .name = node->name,
                                       .opcode = node->opcode,
                                       .meta_is_shared = adj_node_id_is_valid (node->origin),
                                       .target = node->target,
                                       .args = node->args,
                                       .kwargs = node->kwargs,
                                       .val = node->val,
                                       .meta = node->meta,
                                       .origin = node->origin });
    }
  for (guint i = 0; i < tracer->data->len; i++)
    {
      g_autofree char *name = g_strdup_printf ("_tensor_constant%u", i);

      adj_builder_add_attr (builder, name, &ADJ_DATA (g_ptr_array_index (tracer->data, i)));
    }
  return adj_builder_seal (builder, error);
}
