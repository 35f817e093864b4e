/* SPDX-License-Identifier: MIT */
/* Records calls as nodes, with names, places in the program and seq_nr; drops dead nodes and seals.
 */

#include "trace/adj-tracer.h"

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"
#include "ir/adj-own-ops-internal.h"
#include "ops/adj-ops.h"
#include "trace/tracer-private.h"

/* Common data of the nodes that call one target. */
typedef struct
{
  const char *text; /* in the graph's arena */
  char *stem;       /* (owned) */
  const AdjOp *op;  /* (nullable) */
} TracedTarget;

static void
target_free (gpointer data)
{
  TracedTarget *target = data;

  g_free (target->stem);
  g_free (target);
}

AdjTracer *
adj_tracer_new (AdjContext *cx, const char *name, gboolean items_when_read)
{
  AdjTracer *tracer = g_new0 (AdjTracer, 1);

  tracer->cx = cx;
  tracer->mark = g_new0 (AdjTraceMark, 1);
  tracer->mark->n_refs = 1;
  tracer->mark->tracer = tracer;
  tracer->items_when_read = items_when_read;
  tracer->builder = adj_builder_new (name, adj_context_get_symbols (cx), adj_op_find);
  tracer->arena = adj_builder_get_arena (tracer->builder);
  tracer->temporary = adj_arena_new ();
  tracer->nodes = g_array_new (FALSE, FALSE, sizeof (AdjTracedNode));
  tracer->targets = g_hash_table_new_full (NULL, NULL, NULL, target_free);
  tracer->storages = g_hash_table_new (NULL, NULL);
  tracer->data = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  tracer->attributes = g_array_new (FALSE, FALSE, sizeof (TracedAttribute));
  g_array_set_clear_func (tracer->attributes, adj_traced_attribute_clear);
  tracer->object_nodes = g_hash_table_new (NULL, NULL);
  tracer->kept_nodes =
      g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_kept_value_unref, g_free);
  tracer->data_by_at = g_hash_table_new (NULL, NULL);
  tracer->sizes = g_hash_table_new (g_int64_hash, g_int64_equal);
  tracer->subgraphs = g_array_new (FALSE, FALSE, sizeof (TracedGraph));
  g_array_set_clear_func (tracer->subgraphs, adj_traced_graph_clear);
  return tracer;
}

void
adj_tracer_free (AdjTracer *tracer)
{
  tracer->mark->ended = TRUE;
  adj_trace_mark_unref (tracer->mark);
  g_hash_table_unref (tracer->targets);
  g_hash_table_unref (tracer->storages);
  g_hash_table_unref (tracer->data_by_at);
  g_hash_table_unref (tracer->sizes);
  g_array_unref (tracer->subgraphs);
  g_ptr_array_unref (tracer->data);
  g_array_unref (tracer->attributes);
  g_hash_table_unref (tracer->object_nodes);
  g_hash_table_unref (tracer->kept_nodes);
  g_array_unref (tracer->nodes);
  adj_builder_free (tracer->builder);
  adj_arena_free (tracer->temporary);
  g_free (tracer);
}

/* -- provenance ---- */

#define ACCUMULATION "Gradient addition node due to multiple use of tensor around:"

/* Whether autograd gives seq_nr to the calls being recorded. */
static gboolean
is_differentiated (const AdjTracer *tracer, const AdjPlace *place)
{
  return place->running > 0 || adj_context_get_sequence (tracer->cx) >= 0;
}

/* Adds the place and seq_nr of the forward node to a node of the backward. */
static void
add_backward (AdjTracer *tracer, const AdjPlace *place, AdjNodeMeta *meta)
{
  AdjNodeMeta forward = *meta;

  *meta = (AdjNodeMeta) ADJ_NODE_META_INIT;
  meta->partitioner_tag = ADJ_IS_BACKWARD;
  meta->hook = place->hook != NULL ? adj_arena_intern (tracer->temporary, place->hook) : NULL;
  meta->stack_trace = forward.stack_trace;
  if (!place->accumulates)
    {
      meta->n_frames = forward.n_frames;
      meta->frames = forward.frames;
      meta->n_fwd_modules = forward.n_modules;
      meta->fwd_modules = forward.modules;
      return;
    }
  meta->stack_trace = ACCUMULATION;
  if (forward.stack_trace != NULL)
    {
      g_autofree char *text = g_strconcat (forward.stack_trace, ACCUMULATION, NULL);

      meta->stack_trace = adj_arena_intern (tracer->temporary, text);
    }
}

static const AdjNodeMeta *
make_meta (AdjTracer *tracer, const AdjPlace *place)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  const AdjNodeMeta *from = &no_meta;
  g_autofree char *line = NULL;
  const char *text = place->stack_trace;
  AdjNodeMeta *meta;

  if (place->graph != NULL)
    from = &adj_graph_get_node (place->graph, place->id.index)->meta;
  else if (text == NULL && place->file != NULL)
    text = line = g_strdup_printf ("  File \"%s\", line %u, in %s\n\n", place->file, place->line,
                                   place->function != NULL ? place->function : "C");
  if (!is_differentiated (tracer, place) && place->tag == NULL &&
      (place->graph != NULL || text == NULL))
    return from;

  meta = adj_arena_memdup (tracer->temporary, from, sizeof *from);
  if (place->graph == NULL && text != NULL)
    meta->stack_trace = adj_arena_intern (tracer->temporary, text);
  if (place->tag != NULL)
    meta->partitioner_tag = place->tag;
  if (!is_differentiated (tracer, place))
    return meta;
  meta->original_aten = NULL;
  if (place->running > 0)
    add_backward (tracer, place, meta);
  meta->seq_nr = place->running > 0 && !place->accumulates ? (gint64) place->running - 1
                                                           : adj_context_get_sequence (tracer->cx);
  return meta;
}

/* The metadata of nodes at the current place of the program. */
static const AdjNodeMeta *
get_meta (AdjTracer *tracer, AdjNodeId *origin)
{
  const AdjPlace *place = adj_context_get_place (tracer->cx);
  gint64 sequence = adj_context_get_sequence (tracer->cx);
  const AdjRegionTag region = adj_context_get_region (tracer->cx);

  *origin = place->graph != NULL ? place->outer_id : ADJ_NO_NODE;
  if (place->graph != NULL && place->graph == tracer->meta_place.graph &&
      place->id.index == tracer->meta_place.id.index &&
      place->running == tracer->meta_place.running &&
      place->accumulates == tracer->meta_place.accumulates && sequence == tracer->meta_sequence &&
      region.id == tracer->meta_region.id && region.recompute == tracer->meta_region.recompute &&
      region.is_again == tracer->meta_region.is_again)
    return tracer->meta;

  if (place->graph != NULL && place->graph != tracer->meta_place.graph)
    adj_builder_share (tracer->builder, place->graph);
  tracer->meta_place = *place;
  tracer->meta_sequence = sequence;
  tracer->meta_region = region;
  tracer->meta = make_meta (tracer, place);
  if (region.is_again || (region.id >= 0 && place->running == 0))
    {
      AdjNodeMeta *meta = adj_arena_memdup (tracer->temporary, tracer->meta, sizeof *meta);

      if (region.is_again)
        meta->partitioner_tag = ADJ_MUST_BE_IN_BACKWARD;
      else
        {
          meta->ac_graph_id = region.id;
          meta->recompute = region.recompute;
        }
      tracer->meta = meta;
    }
  tracer->meta_aten = tracer->meta->original_aten;
  return tracer->meta;
}

/* -- nodes ---- */

static TracedTarget *
get_target (AdjTracer *tracer, const char *name)
{
  TracedTarget *target = g_hash_table_lookup (tracer->targets, name);

  if (target == NULL)
    {
      target = g_new (TracedTarget, 1);
      target->text = adj_arena_intern (tracer->arena, name);
      target->stem = adj_target_get_stem (name);
      target->op = adj_op_find (name);
      g_hash_table_insert (tracer->targets, (gpointer) name, target);
    }
  return target;
}

void
adj_tracer_note_op (AdjTracer *tracer, const AdjOp *op)
{
  const char *target = adj_op_get_schema (op)->target;

  if (!adj_op_is_own (op))
    return;
  get_target (tracer, target)->op = op;
  adj_builder_note_op (tracer->builder, target, op);
}

void
adj_tracer_write_as (AdjTracer *tracer, const AdjOp *op, const AdjOp *as)
{
  TracedTarget *target = get_target (tracer, adj_op_get_schema (op)->target);

  target->text = adj_arena_intern (tracer->arena, adj_op_get_schema (as)->target);
  target->op = as;
}

typedef struct
{
  const AdjTracer *tracer;
  AdjNodeId origin;
} Origin;

static gboolean
take_origin (const AdjValue *leaf, gpointer data)
{
  Origin *self = data;
  AdjNodeId origin = ADJ_NO_NODE;

  if (leaf->kind == ADJ_VALUE_NODE)
    origin = g_array_index (self->tracer->nodes, AdjTracedNode, leaf->node.index).origin;
  if (adj_node_id_is_valid (origin))
    self->origin = origin;
  return TRUE;
}

/* Sets the origin of a call that no node of a graph makes, such as a copy into an input at the end:
 * the origin of its last argument. */
static void
find_origin (const AdjTracer *tracer, AdjTracedNode *node)
{
  Origin self = { tracer, ADJ_NO_NODE };

  adj_value_foreach (&node->args, take_origin, &self);
  node->origin = self.origin;
  node->own_texts = TRUE;
}

/* @stem: %NULL: derived from the target, which then lives as long as the tracer. */
AdjNodeId
adj_tracer_add (AdjTracer *tracer, AdjTracedNode *node, const char *stem)
{
  AdjNodeId id = { tracer->nodes->len };

  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    {
      const TracedTarget *target = get_target (tracer, node->target);

      node->target = target->text;
      node->op = target->op;
      stem = stem != NULL ? stem : target->stem;
    }
  if (node->name == NULL)
    node->name = adj_builder_take_name (tracer->builder, stem != NULL ? stem : node->target);
  if (node->meta == NULL)
    node->meta = get_meta (tracer, &node->origin);
  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && !adj_node_id_is_valid (node->origin))
    find_origin (tracer, node);
  node->own_texts |= tracer->meta_place.accumulates || node->meta->hook != NULL;
  tracer->n_if_read += node->only_if_read;
  g_array_append_val (tracer->nodes, *node);
  return id;
}

/* -- what a trace consists of ---- */

AdjNodeId
adj_tracer_add_placeholder (AdjTracer *tracer,
                            const char *name,
                            const char *stem,
                            const AdjNodeMeta *meta,
                            AdjNodeId origin,
                            const AdjValue *value)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_PLACEHOLDER,
    .meta = meta != NULL ? meta : &no_meta,
    .origin = origin,
    .own_texts = TRUE,
  };
  AdjNodeId id;

  node.name = adj_builder_take_name (tracer->builder, name != NULL ? name : stem);
  if (name != NULL)
    node.name = adj_builder_hold_name (tracer->builder, name);
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
  const char *original = adj_context_get_place (tracer->cx)->original;
  AdjNodeId id;

  node.meta = get_meta (tracer, &node.origin);
  if (original == NULL)
    original = tracer->meta_aten != NULL ? tracer->meta_aten : target;
  if (node.meta->original_aten != original)
    {
      AdjNodeMeta *meta = adj_arena_memdup (tracer->temporary, node.meta, sizeof *meta);

      meta->original_aten = original;
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

void
adj_tracer_set_formulas (AdjTracer *tracer, gboolean formulas)
{
  tracer->formulas = formulas;
}

void
adj_tracer_set_drop_dead (AdjTracer *tracer, gboolean drop_dead)
{
  tracer->drop_dead = drop_dead;
}

/* Whether @node has no effect but its value. */
static gboolean
is_pure (const AdjTracedNode *node)
{
  const AdjOp *op;

  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    return TRUE;
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  op = node->op;
  if (op == NULL)
    return g_str_has_prefix (node->target, "operator.");
  return adj_op_is_pure (op);
}

/* (nullable): new indices; G_MAXUINT32 for nodes that are dropped.  %NULL: all stay. */
static guint32 *
number_nodes (const AdjTracer *tracer)
{
  guint n = tracer->nodes->len, next = 0;
  guint32 *places;

  if (tracer->n_if_read == 0 && !tracer->drop_dead)
    return NULL;
  places = g_new0 (guint32, MAX (n, 1));

  for (guint i = n; i-- > 0;)
    {
      const AdjTracedNode *node = &g_array_index (tracer->nodes, AdjTracedNode, i);

      places[i] |= !node->only_if_read && !(tracer->drop_dead && is_pure (node));
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

      if (places != NULL && places[i] == G_MAXUINT32)
        continue;
      if (places != NULL)
        {
          renumber (&node->args, places);
          renumber (&node->kwargs, places);
        }
      adj_builder_add (
          builder,
          &(AdjNodeSpec){ .name = node->name,
                          .opcode = node->opcode,
                          .meta_is_shared = adj_node_id_is_valid (node->origin) && !node->own_texts,
                          .is_taken = TRUE,
                          .op = node->op,
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
  for (guint i = 0; i < tracer->attributes->len; i++)
    {
      const TracedAttribute *attribute = &g_array_index (tracer->attributes, TracedAttribute, i);

      adj_builder_add_attr (builder, attribute->name, &ADJ_OPAQUE (attribute->object));
    }
  for (guint i = 0; i < tracer->subgraphs->len; i++)
    {
      const TracedGraph *subgraph = &g_array_index (tracer->subgraphs, TracedGraph, i);

      adj_builder_add_subgraph (builder, subgraph->name, subgraph->graph);
    }
  return adj_builder_seal (builder, error);
}
