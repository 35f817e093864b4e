/* SPDX-License-Identifier: MIT */
/* AdjBuilder: makes a graph node by node, with unique names and references that are checked, and
 * seals it. */

#include "ir/adj-builder.h"

#include <string.h>

#include "ir/adj-builder-internal.h"
#include "ir/adj-graph-private.h"
#include "ir/adj-own-ops-internal.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ir/adj-value-private.h"
#include "ir/adj-verify.h"
#include "ir/builder-private.h"

typedef struct
{
  guint n;
  const AdjFrame *frames;
} Frames;

static void
release_reference (gpointer data)
{
  AdjValue *value = data;

  adj_value_clear (value);
  g_free (value);
}

AdjBuilder *
adj_builder_new (const char *name, AdjSymbols *symbols, AdjFindOpFunc find_op)
{
  AdjBuilder *builder = g_new0 (AdjBuilder, 1);

  builder->arena = adj_arena_new ();
  builder->references = g_ptr_array_new_with_free_func (release_reference);
  builder->symbols = symbols ? adj_symbols_ref (symbols) : adj_symbols_new ();
  builder->find_op = find_op;
  builder->name = g_strdup (name);
  builder->nodes = g_array_new (FALSE, FALSE, sizeof (AdjNode));
  builder->names = adj_namespace_new ();
  builder->metas = adj_meta_table_new ();
  builder->frames = g_hash_table_new (NULL, NULL);
  builder->subgraphs = g_array_new (FALSE, FALSE, sizeof (AdjNamedGraph));
  builder->attrs = g_array_new (FALSE, FALSE, sizeof (AdjNamedValue));
  builder->mentioned = g_array_new (FALSE, TRUE, sizeof (guint32));
  builder->inputs = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));

  return builder;
}

AdjBuilder *
adj_builder_new_like (const AdjGraph *graph)
{
  AdjBuilder *builder = adj_builder_new (graph->name, graph->symbols, graph->find_op);

  adj_builder_set_header (builder, graph->header, graph->parameters);
  adj_builder_set_thread_state (builder, &graph->thread_state);
  adj_builder_note_ops_of (builder, graph);
  return builder;
}

static void
clear_subgraphs (GArray *subgraphs)
{
  for (guint i = 0; i < subgraphs->len; i++)
    adj_graph_unref (g_array_index (subgraphs, AdjNamedGraph, i).graph);
  g_array_set_size (subgraphs, 0);
}

void
adj_builder_free (AdjBuilder *builder)
{
  clear_subgraphs (builder->subgraphs);
  g_array_unref (builder->subgraphs);
  g_array_unref (builder->attrs);
  g_array_unref (builder->mentioned);
  g_array_unref (builder->inputs);
  g_hash_table_unref (builder->metas);
  g_hash_table_unref (builder->frames);
  g_clear_pointer (&builder->nodes, g_array_unref);
  g_clear_pointer (&builder->references, g_ptr_array_unref);
  g_clear_pointer (&builder->symbols, adj_symbols_unref);
  g_clear_pointer (&builder->arena, adj_arena_free);
  g_clear_pointer (&builder->names, adj_namespace_free);
  g_clear_error (&builder->error);
  g_free (builder->parameters);
  g_clear_pointer (&builder->own_ops, g_hash_table_unref);
  g_free (builder->name);
  g_free (builder);
}

AdjSymbols *
adj_builder_get_symbols (AdjBuilder *builder)
{
  return builder->symbols;
}

void
adj_builder_set_header (AdjBuilder *builder, AdjHeader header, const char *parameters)
{
  builder->header = header;
  g_free (builder->parameters);
  builder->parameters = g_strdup (parameters);
}

void
adj_builder_set_thread_state (AdjBuilder *builder, const AdjThreadState *thread_state)
{
  builder->thread_state = *thread_state;
}

char *
adj_builder_unique_name (AdjBuilder *builder, const char *candidate)
{
  return g_strdup (adj_builder_take_name (builder, candidate));
}

const char *
adj_builder_take_name (AdjBuilder *builder, const char *candidate)
{
  return adj_namespace_take (builder->names, candidate);
}

const char *
adj_builder_hold_name (AdjBuilder *builder, const char *name)
{
  return adj_namespace_hold (builder->names, name);
}

AdjArena *
adj_builder_get_arena (AdjBuilder *builder)
{
  return builder->arena;
}

AdjNodeId
adj_builder_find (AdjBuilder *builder, const char *name)
{
  return (AdjNodeId){ adj_namespace_find (builder->names, name) };
}

guint
adj_builder_get_n_nodes (AdjBuilder *builder)
{
  return builder->nodes->len;
}

const char *
adj_builder_get_name (AdjBuilder *builder, AdjNodeId id)
{
  g_return_val_if_fail (id.index < builder->nodes->len, NULL);

  return g_array_index (builder->nodes, AdjNode, id.index).name;
}

G_GNUC_PRINTF (3, 4)
static void
fail (AdjBuilder *builder, AdjError code, const char *format, ...)
{
  va_list args;

  if (builder->error)
    return;

  va_start (args, format);
  builder->error = g_error_new_valist (ADJ_ERROR, code, format, args);
  va_end (args);
}

/* -- Taking over what a caller gives ---- */

static gboolean
is_too_deep (const AdjValue *value, guint depth)
{
  if (!adj_value_is_container (value))
    return FALSE;
  if (depth == 0)
    return TRUE;

  for (guint i = 0; i < value->n; i++)
    if (is_too_deep (&value->items[i], depth - 1))
      return TRUE;

  return FALSE;
}

static gboolean
keep_reference (const AdjValue *leaf, gpointer data)
{
  AdjBuilder *builder = data;

  if (adj_value_is_reference (leaf))
    {
      AdjValue copy = adj_value_copy (leaf);

      g_ptr_array_add (builder->references, g_memdup2 (&copy, sizeof copy));
    }

  return TRUE;
}

void
adj_builder_keep (AdjBuilder *builder, const AdjValue *value)
{
  adj_value_foreach (value, keep_reference, builder);
}

static AdjValue
take_value (AdjBuilder *builder, const AdjValue *value, const char *name)
{
  if (value->kind == ADJ_VALUE_NONE)
    return *value;
  if (is_too_deep (value, ADJ_MAX_DEPTH))
    {
      fail (builder, ADJ_ERROR_LIMIT, "node '%s': a value is nested more than %d levels deep", name,
            ADJ_MAX_DEPTH);
      return ADJ_NONE;
    }

  adj_builder_keep (builder, value);

  return adj_value_copy_consed (value, builder->arena, builder->metas);
}

static const char *
take_text (AdjBuilder *builder, const char *text)
{
  return text ? adj_arena_intern (builder->arena, text) : NULL;
}

static const AdjModule *
take_modules (AdjBuilder *builder, const AdjModule *modules, guint n)
{
  AdjModule *copy;

  if (n == 0)
    return NULL;

  copy = adj_arena_new0 (builder->arena, AdjModule, n);
  for (guint i = 0; i < n; i++)
    {
      copy[i].path = take_text (builder, modules[i].path);
      copy[i].class_name = take_text (builder, modules[i].class_name);
    }

  return copy;
}

static const Frames *
take_frames (AdjBuilder *builder, const char *stack_trace)
{
  Frames *frames = g_hash_table_lookup (builder->frames, stack_trace);

  if (!frames)
    {
      frames = adj_arena_new0 (builder->arena, Frames, 1);
      frames->n = adj_stack_trace_parse (stack_trace, builder->arena, &frames->frames);
      g_hash_table_insert (builder->frames, (gpointer) stack_trace, frames);
    }

  return frames;
}

static void
take_meta (AdjBuilder *builder, AdjNode *node, const AdjNodeMeta *meta)
{
  node->meta = *meta;
  node->meta.stack_trace = take_text (builder, meta->stack_trace);
  node->meta.frames = NULL;
  node->meta.n_frames = 0;
  node->meta.modules = take_modules (builder, meta->modules, meta->n_modules);
  node->meta.fwd_modules = take_modules (builder, meta->fwd_modules, meta->n_fwd_modules);
  node->meta.partitioner_tag = take_text (builder, meta->partitioner_tag);
  node->meta.original_aten = take_text (builder, meta->original_aten);
  node->meta.source = take_text (builder, meta->source);
  node->meta.parameter = take_text (builder, meta->parameter);
  node->meta.hook = take_text (builder, meta->hook);

  if (node->meta.stack_trace)
    {
      const Frames *frames = take_frames (builder, node->meta.stack_trace);

      node->meta.frames = frames->frames;
      node->meta.n_frames = frames->n;
    }

  if (meta->extra && meta->extra->kind == ADJ_VALUE_DICT && meta->extra->n > 0)
    {
      AdjValue extra = take_value (builder, meta->extra, node->name);

      node->meta.extra = adj_arena_memdup (builder->arena, &extra, sizeof extra);
    }
  else
    node->meta.extra = NULL;
}

static void
note_input (AdjBuilder *builder, AdjNodeId input)
{
  guint32 self = builder->nodes->len + 1;

  if (input.index < builder->mentioned->len)
    {
      guint32 *mark = &g_array_index (builder->mentioned, guint32, input.index);

      if (*mark == self)
        return;
      *mark = self;
    }
  g_array_append_val (builder->inputs, input);
}

/* @references: whether the references in @value still have to be kept. */
static void
note_inputs (AdjBuilder *builder, const AdjValue *value, gboolean references)
{
  if (value->kind == ADJ_VALUE_NODE)
    note_input (builder, value->node);
  else if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      note_inputs (builder, &value->items[i], references);
  else if (references)
    keep_reference (value, builder);
}

static void
take_inputs (AdjBuilder *builder, AdjNode *node, gboolean references)
{
  g_array_set_size (builder->inputs, 0);
  note_inputs (builder, &node->args, references);
  note_inputs (builder, &node->kwargs, references);

  node->n_inputs = builder->inputs->len;
  if (node->n_inputs > 0)
    node->inputs = adj_arena_memdup (builder->arena, builder->inputs->data,
                                     sizeof (AdjNodeId) * node->n_inputs);
}

/* -- Adding ---- */

void
adj_builder_share (AdjBuilder *builder, const AdjGraph *graph)
{
  AdjValue reference = { .kind = ADJ_VALUE_GRAPH, .graph = adj_graph_ref ((AdjGraph *) graph) };

  g_ptr_array_add (builder->references, g_memdup2 (&reference, sizeof reference));
}

void
adj_builder_reserve (AdjBuilder *builder, guint n_nodes)
{
  guint n = builder->nodes->len;

  g_array_set_size (builder->nodes, n + n_nodes);
  g_array_set_size (builder->nodes, n);
}

/* The name of the next node. */
static const char *
make_name (AdjBuilder *builder, const AdjNodeSpec *spec)
{
  g_autofree char *stem = NULL;
  const char *name = spec->name;

  if (name == NULL && spec->opcode == ADJ_OPCODE_CALL_FUNCTION)
    stem = adj_target_get_stem (spec->target);
  else if (name == NULL && spec->opcode == ADJ_OPCODE_RAW)
    stem = g_strdup ("raw");
  else if (name == NULL)
    stem = adj_target_get_path_stem (spec->target + strspn (spec->target, "*"));
  if (name == NULL)
    name = adj_namespace_take (builder->names, stem);
  else if (!spec->is_taken)
    name = adj_namespace_hold (builder->names, name);

  if (!adj_namespace_bind (builder->names, name, builder->nodes->len))
    fail (builder, ADJ_ERROR_VERIFY, "node '%s': another node has this name", name);

  return name;
}

/* Arguments are a tuple and keyword arguments a dict, even when there are none. */
static AdjValue
take_arguments (AdjBuilder *builder, const AdjValue *value, AdjValueKind kind, const char *name)
{
  AdjValue taken = take_value (builder, value, name);

  if (taken.kind == ADJ_VALUE_NONE)
    return (AdjValue){ .kind = kind };
  if (taken.kind != kind)
    fail (builder, ADJ_ERROR_VERIFY, "node '%s': arguments are %s, not %s", name,
          adj_value_kind_name (taken.kind), adj_value_kind_name (kind));

  return taken;
}

/* Stores the values of @spec, which are in the arena already, without copying them. */
static void
take_over (AdjBuilder *builder, const AdjNodeSpec *spec, AdjNode *node)
{
  node->target = spec->target;
  node->op = spec->op;
  node->args = spec->args;
  node->kwargs = spec->kwargs;
  node->val = spec->val;
  node->args.kind = ADJ_VALUE_TUPLE;
  node->kwargs.kind = ADJ_VALUE_DICT;
}

static void
take_contents (AdjBuilder *builder, const AdjNodeSpec *spec, AdjNode *node)
{
  node->target = take_text (builder, spec->target);
  if (spec->opcode == ADJ_OPCODE_CALL_FUNCTION && builder->find_op != NULL)
    node->op = spec->op != NULL ? spec->op : builder->find_op (node->target);
  node->args = take_arguments (builder, &spec->args, ADJ_VALUE_TUPLE, node->name);
  node->kwargs = take_arguments (builder, &spec->kwargs, ADJ_VALUE_DICT, node->name);
  node->val = take_value (builder, &spec->val, node->name);
}

AdjNodeId
adj_builder_add (AdjBuilder *builder, const AdjNodeSpec *spec)
{
  static const AdjNodeMeta no_meta = ADJ_NODE_META_INIT;
  AdjNodeId id = { builder->nodes->len };
  guint32 unmentioned = 0;
  AdjNode node = { 0 };

  g_return_val_if_fail (spec->target != NULL, ADJ_NO_NODE);

  if (id.index >= ADJ_MAX_NODES)
    {
      fail (builder, ADJ_ERROR_LIMIT, "a graph may have at most %u nodes", ADJ_MAX_NODES);
      return ADJ_NO_NODE;
    }

  node.name = make_name (builder, spec);
  node.opcode = spec->opcode;
  if (spec->is_taken)
    take_over (builder, spec, &node);
  else
    take_contents (builder, spec, &node);
  node.span = spec->span;
  node.origin = spec->origin;
  if (spec->meta && spec->meta_is_shared)
    node.meta = *spec->meta;
  else
    take_meta (builder, &node, spec->meta ? spec->meta : &no_meta);
  take_inputs (builder, &node, spec->is_taken);

  g_array_append_val (builder->nodes, node);
  g_array_append_val (builder->mentioned, unmentioned);

  return id;
}

AdjNodeId
adj_builder_placeholder (AdjBuilder *builder, const char *name, const AdjTensorMeta *meta)
{
  AdjNodeSpec spec = {
    .name = name,
    .opcode = ADJ_OPCODE_PLACEHOLDER,
    .target = name,
    .origin = ADJ_NO_NODE,
  };

  if (meta)
    spec.val = (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };

  return adj_builder_add (builder, &spec);
}

AdjNodeId
adj_builder_call (AdjBuilder *builder, const char *target, const AdjValue *args, guint n_args)
{
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = target,
    .args = { .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args },
    .origin = ADJ_NO_NODE,
  };

  return adj_builder_add (builder, &spec);
}

AdjNodeId
adj_builder_output (AdjBuilder *builder, const AdjValue *value)
{
  AdjNodeSpec spec = {
    .name = "output",
    .opcode = ADJ_OPCODE_OUTPUT,
    .target = "output",
    .args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = (AdjValue *) value },
    .origin = ADJ_NO_NODE,
  };

  return adj_builder_add (builder, &spec);
}

void
adj_builder_add_subgraph (AdjBuilder *builder, const char *name, AdjGraph *graph)
{
  AdjNamedGraph entry = { take_text (builder, name), adj_graph_ref (graph) };

  g_array_append_val (builder->subgraphs, entry);
}

void
adj_builder_add_attr (AdjBuilder *builder, const char *name, const AdjValue *value)
{
  AdjNamedValue entry = { take_text (builder, name), take_value (builder, value, name) };

  g_array_append_val (builder->attrs, entry);
}

/* -- Sealing ---- */

static void
move_entries (AdjBuilder *builder, AdjGraph *graph)
{
  graph->n_subgraphs = builder->subgraphs->len;
  if (graph->n_subgraphs > 0)
    graph->subgraphs = adj_arena_memdup (graph->arena, builder->subgraphs->data,
                                         sizeof (AdjNamedGraph) * graph->n_subgraphs);
  g_array_set_size (builder->subgraphs, 0);

  graph->n_attrs = builder->attrs->len;
  if (graph->n_attrs > 0)
    graph->attrs = adj_arena_memdup (graph->arena, builder->attrs->data,
                                     sizeof (AdjNamedValue) * graph->n_attrs);
}

AdjGraph *
adj_builder_seal (AdjBuilder *builder, GError **error)
{
  g_autoptr (AdjGraph) graph = NULL;

  g_return_val_if_fail (builder->nodes != NULL, NULL);

  graph = g_new0 (AdjGraph, 1);
  g_atomic_ref_count_init (&graph->refs);
  graph->arena = g_steal_pointer (&builder->arena);
  graph->references = g_steal_pointer (&builder->references);
  graph->symbols = g_steal_pointer (&builder->symbols);
  graph->names = g_steal_pointer (&builder->names);
  graph->find_op = builder->find_op;
  graph->own_ops = g_steal_pointer (&builder->own_ops);
  graph->name = adj_arena_strdup (graph->arena, builder->name);
  graph->header = builder->header;
  graph->thread_state = builder->thread_state;
  if (builder->parameters)
    graph->parameters = adj_arena_strdup (graph->arena, builder->parameters);
  graph->n_nodes = builder->nodes->len;
  graph->nodes = (gpointer) g_array_free (g_steal_pointer (&builder->nodes), FALSE);
  move_entries (builder, graph);
  adj_graph_index (graph);

  if (builder->error)
    {
      g_propagate_error (error, g_steal_pointer (&builder->error));
      return NULL;
    }
  if (!adj_graph_verify (graph, error))
    return NULL;

  return g_steal_pointer (&graph);
}
