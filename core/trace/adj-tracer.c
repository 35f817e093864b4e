/* SPDX-License-Identifier: MIT */
#include "trace/adj-tracer.h"

#include <string.h>

#include "trace/tracer-private.h"

typedef enum
{
  PROXY_NODE,
  PROXY_CONSTANT, /* lifted: each use makes a get_attr node */
  PROXY_ITEM,     /* one of the results of a node */
} ProxyKind;

/* What stands for a tensor, in its slot. */
typedef struct
{
  AdjTraceMark *mark;
  ProxyKind kind;
  guint32 index; /* of the node, or the constant */
  guint32 item;
} Proxy;

static void
mark_unref (AdjTraceMark *mark)
{
  if (--mark->n_refs == 0)
    g_free (mark);
}

static void
proxy_free (gpointer data)
{
  Proxy *proxy = data;

  mark_unref (proxy->mark);
  g_free (proxy);
}

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
  tracer->storages = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  tracer->data = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  tracer->data_by_at = g_hash_table_new (NULL, NULL);
  tracer->sizes = g_hash_table_new (g_int64_hash, g_int64_equal);
  tracer->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_graph_unref);
  return tracer;
}

void
adj_tracer_free (AdjTracer *tracer)
{
  tracer->mark->ended = TRUE;
  mark_unref (tracer->mark);
  g_hash_table_unref (tracer->stems);
  g_hash_table_unref (tracer->storages);
  g_hash_table_unref (tracer->data_by_at);
  g_hash_table_unref (tracer->sizes);
  g_ptr_array_unref (tracer->data);
  g_ptr_array_unref (tracer->graphs);
  g_array_unref (tracer->nodes);
  adj_builder_free (tracer->builder);
  adj_arena_free (tracer->arena);
  g_free (tracer);
}

/* -- provenance ---- */

static AdjNodeMeta *
make_meta (AdjTracer *tracer, const AdjPlace *place)
{
  AdjNodeMeta *meta = adj_arena_new0 (tracer->arena, AdjNodeMeta, 1);

  *meta = (AdjNodeMeta) ADJ_NODE_META_INIT;
  if (place->graph != NULL)
    *meta = adj_graph_get_node (place->graph, place->id.index)->meta;
  else if (place->stack_trace != NULL)
    meta->stack_trace = adj_arena_intern (tracer->arena, place->stack_trace);
  else if (place->file != NULL)
    {
      g_autofree char *text =
          g_strdup_printf ("  File \"%s\", line %u, in C\n", place->file, place->line);

      meta->stack_trace = adj_arena_intern (tracer->arena, text);
    }
  return meta;
}

/* What the place in the program says of the nodes that are made there; one copy for all of them. */
static AdjNodeMeta *
get_meta (AdjTracer *tracer, AdjNodeId *origin)
{
  const AdjPlace *place = adj_context_get_place (tracer->cx);

  *origin = place->graph != NULL ? place->id : ADJ_NO_NODE;
  if (place->graph != NULL && place->graph == tracer->meta_graph &&
      place->id.index == tracer->meta_index)
    return tracer->meta;

  if (place->graph != NULL && place->graph != tracer->meta_graph)
    g_ptr_array_add (tracer->graphs, adj_graph_ref ((AdjGraph *) place->graph));
  tracer->meta_graph = place->graph;
  tracer->meta_index = place->id.index;
  tracer->meta = make_meta (tracer, place);
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

/* -- tracking ---- */

static gint32
number_storage (AdjTracer *tracer, const AdjTensor *tensor)
{
  gint64 id = (gint64) adj_storage_get_id (adj_tensor_get_storage (tensor));
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (tracer->storages, &id));

  if (number == 0)
    {
      number = g_hash_table_size (tracer->storages) + 1;
      g_hash_table_insert (tracer->storages, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (number));
    }
  return (gint32) number - 1;
}

/* What @value is now, whatever becomes of it later. */
static AdjValue
snapshot (AdjTracer *tracer, const AdjValue *value, gboolean with_requires_grad)
{
  AdjTensorMeta *meta;
  AdjValue *items;

  if (value->kind == ADJ_VALUE_TENSOR)
    {
      meta = adj_arena_memdup (tracer->arena, adj_tensor_get_meta (value->tensor), sizeof *meta);
      meta->storage = number_storage (tracer, value->tensor);
      meta->requires_grad = meta->requires_grad && with_requires_grad;
      return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
    }
  if (value->kind != ADJ_VALUE_LIST && value->kind != ADJ_VALUE_TUPLE)
    return adj_value_copy_to_arena (value, tracer->arena);

  items = adj_arena_new0 (tracer->arena, AdjValue, MAX (value->n, 1));
  for (guint i = 0; i < value->n; i++)
    items[i] = snapshot (tracer, &value->items[i], with_requires_grad);
  return ADJ_ITEMS (TUPLE, items, value->n);
}

static Proxy *
get_proxy (const AdjTracer *tracer, const AdjTensor *tensor)
{
  Proxy *proxy = adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY);

  return proxy != NULL && proxy->mark == tracer->mark ? proxy : NULL;
}

static Proxy *
set_proxy (AdjTracer *tracer, AdjTensor *tensor, ProxyKind kind, guint32 index)
{
  Proxy *proxy = get_proxy (tracer, tensor);

  if (proxy == NULL)
    {
      proxy = g_new (Proxy, 1);
      proxy->mark = tracer->mark;
      tracer->mark->n_refs++;
      adj_tensor_set_slot (tensor, ADJ_SLOT_PROXY, proxy, proxy_free);
    }
  proxy->kind = kind;
  proxy->index = index;
  return proxy;
}

static void
track (AdjTracer *tracer, const AdjValue *value, AdjNodeId id)
{
  if (value->kind == ADJ_VALUE_TENSOR)
    {
      set_proxy (tracer, value->tensor, PROXY_NODE, id.index);
      adj_tracer_offer_sizes (tracer, adj_tensor_get_meta (value->tensor), id);
    }
  else if (value->kind == ADJ_VALUE_SIZE)
    adj_tracer_bind_size (tracer, value->size, id);
}

/* A node for one of the results of @call; @here: it belongs to the current place, not to that of
 * the call. */
static AdjNodeId
add_item (AdjTracer *tracer, AdjNodeId call, guint index, gboolean here, const AdjValue *value)
{
  const AdjTracedNode *from = &g_array_index (tracer->nodes, AdjTracedNode, call.index);
  AdjTracedNode node = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = "operator.getitem",
    .val = from->val.items[index],
    .meta = here ? NULL : from->meta,
    .origin = from->origin,
  };
  AdjValue *args = adj_arena_new0 (tracer->arena, AdjValue, 2);
  AdjNodeId id;

  args[0] = ADJ_NODE (call);
  args[1] = ADJ_INT (index);
  node.args = ADJ_ITEMS (TUPLE, args, 2);
  id = adj_tracer_add (tracer, &node, NULL);
  track (tracer, value, id);
  return id;
}

void
adj_tracer_note_builtin (AdjTracer *tracer,
                         const char *target,
                         const AdjValue *args,
                         guint n_args,
                         const AdjValue *result)
{
  const Proxy *proxy = NULL;

  if (result->kind == ADJ_VALUE_SIZE)
    adj_tracer_add_size (tracer, target, args, n_args, result->size);
  else if (result->kind == ADJ_VALUE_TENSOR)
    proxy = get_proxy (tracer, result->tensor);
  if (proxy != NULL && proxy->kind == PROXY_ITEM)
    add_item (tracer, (AdjNodeId){ proxy->index }, proxy->item, TRUE, result);
}

/* -- arguments ---- */

/* The constant of the bytes that @tensor holds now; the same one for the same bytes. */
static guint
find_constant (AdjTracer *tracer, AdjTensorData *data)
{
  gpointer at = (gpointer) g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (tracer->data_by_at, at));
  AdjTensorMeta old, new;

  if (known != 0)
    {
      old = *adj_tensor_data_get_meta (g_ptr_array_index (tracer->data, known - 1));
      new = *adj_tensor_data_get_meta (data);
      old.storage = new.storage = -1;
      if (adj_tensor_meta_equal (&old, &new))
        return known - 1;
    }

  g_ptr_array_add (tracer->data, adj_tensor_data_ref (data));
  if (at != NULL)
    g_hash_table_insert (tracer->data_by_at, at, GUINT_TO_POINTER (tracer->data->len));
  return tracer->data->len - 1;
}

static gboolean
refuse_fake (AdjTracer *tracer, const AdjTensor *tensor)
{
  const Proxy *other = adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY);
  const char *why = other != NULL && !other->mark->ended
                        ? "takes a fake tensor of another trace"
                        : "takes a fake tensor that comes from no input of this trace";

  if (tracer->call != NULL)
    return adj_op_call_fail_as (tracer->call, ADJ_ERROR_UNSUPPORTED, "%s", why);
  adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the trace %s", why);
  return FALSE;
}

static gboolean
take_constant (AdjTracer *tracer, AdjTensor *tensor, AdjValue *out)
{
  Proxy *proxy = get_proxy (tracer, tensor);
  AdjTracedNode node = { .opcode = ADJ_OPCODE_GET_ATTR };
  g_autofree char *name = NULL;

  if (proxy == NULL)
    {
      g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);

      if (data == NULL)
        return refuse_fake (tracer, tensor);
      proxy = set_proxy (tracer, tensor, PROXY_CONSTANT, find_constant (tracer, data));
    }

  name = g_strdup_printf ("_tensor_constant%u", proxy->index);
  node.target = adj_arena_intern (tracer->arena, name);
  *out = ADJ_NODE (adj_tracer_add (tracer, &node, node.target));
  return TRUE;
}

static gboolean
take_items (AdjTracer *tracer, const AdjValue *value, AdjValue *out)
{
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, MAX (value->n, 1));

  for (guint i = 0; i < value->n; i++)
    if (!adj_tracer_take (tracer, &value->items[i], &items[i]))
      return FALSE;
  *out = *value;
  out->items = items;
  return TRUE;
}

gboolean
adj_tracer_take (AdjTracer *tracer, const AdjValue *value, AdjValue *out)
{
  const Proxy *proxy;

  if (value->kind == ADJ_VALUE_TENSOR)
    {
      proxy = get_proxy (tracer, value->tensor);
      if (proxy == NULL || proxy->kind == PROXY_CONSTANT)
        return take_constant (tracer, value->tensor, out);
      *out = ADJ_NODE ((AdjNodeId){ proxy->index });
      if (proxy->kind == PROXY_ITEM)
        out->node = add_item (tracer, out->node, proxy->item, FALSE, value);
      return TRUE;
    }
  if (value->kind == ADJ_VALUE_SIZE)
    return adj_tracer_take_size (tracer, value->size, out);
  if (adj_value_is_container (value))
    return take_items (tracer, value, out);
  if (value->kind == ADJ_VALUE_GRAPH || value->kind == ADJ_VALUE_OPAQUE_OBJECT)
    {
      adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "%s cannot be an argument in a trace", adj_value_kind_name (value->kind));
      return FALSE;
    }
  *out = adj_value_copy_to_arena (value, tracer->arena);
  return TRUE;
}

/* Numbers as the dispatcher passes them on: an int where a float stands is that float, a lone
 * number where a list stands is that list. */
static AdjValue
normalize (AdjTracer *tracer, const AdjType *type, const AdjValue *value)
{
  if (type->is_list && type->list_size > 0 && value->kind != ADJ_VALUE_NONE &&
      !adj_value_is_container (value))
    {
      AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, type->list_size);

      for (gint i = 0; i < type->list_size; i++)
        items[i] = *value;
      return ADJ_ITEMS (LIST, items, (guint) type->list_size);
    }
  if (type->is_list && value->kind == ADJ_VALUE_TUPLE)
    return ADJ_ITEMS (LIST, value->items, value->n);
  if (type->kind == ADJ_TYPE_FLOAT && value->kind == ADJ_VALUE_INT)
    return ADJ_FLOAT ((double) value->integer);
  if (type->kind == ADJ_TYPE_BOOL && value->kind == ADJ_VALUE_INT)
    return ADJ_BOOL (value->integer != 0);
  return *value;
}

static gboolean
is_default (AdjTracer *tracer, const AdjArgument *argument, const AdjValue *value)
{
  AdjValue normal;

  if (!argument->has_default)
    return FALSE;
  normal = normalize (tracer, &argument->type, &argument->default_value);
  return adj_value_equal (&normal, value);
}

static gboolean
take_arguments (AdjTracer *tracer, const AdjOpCall *call, AdjValue *args, AdjValue *kwargs)
{
  const AdjSchema *schema = call->schema;
  AdjValue normal[ADJ_MAX_ARGUMENTS];
  guint n_args = schema->n_positional;
  guint n_kwargs = 0;
  AdjValue *out;

  for (guint i = 0; i < schema->n_arguments; i++)
    normal[i] = normalize (tracer, &schema->arguments[i].type, &call->args[i]);
  while (n_args > 0 && is_default (tracer, &schema->arguments[n_args - 1], &normal[n_args - 1]))
    n_args--;

  out = adj_arena_new0 (tracer->arena, AdjValue, MAX (n_args, 1));
  for (guint i = 0; i < n_args; i++)
    if (!adj_tracer_take (tracer, &normal[i], &out[i]))
      return FALSE;
  *args = ADJ_ITEMS (TUPLE, out, n_args);

  out = NULL;
  for (guint i = schema->n_positional; i < schema->n_arguments; i++)
    if (!is_default (tracer, &schema->arguments[i], &normal[i]))
      {
        const char *name = schema->arguments[i].name;

        if (out == NULL)
          out = adj_arena_new0 (tracer->arena, AdjValue, 2 * (schema->n_arguments - i));
        out[n_kwargs++] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (name), .text = name };
        if (!adj_tracer_take (tracer, &normal[i], &out[n_kwargs++]))
          return FALSE;
      }
  *kwargs = n_kwargs > 0 ? ADJ_ITEMS (DICT, out, n_kwargs) : ADJ_NONE;
  return TRUE;
}

gboolean
adj_tracer_take_arguments (AdjTracer *tracer,
                           const AdjOpCall *call,
                           AdjValue *args,
                           AdjValue *kwargs)
{
  gboolean done;

  tracer->call = call;
  done = take_arguments (tracer, call, args, kwargs);
  tracer->call = NULL;
  return done;
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
  node.val = snapshot (tracer, value, TRUE);
  id = adj_tracer_add (tracer, &node, NULL);
  track (tracer, value, id);
  return id;
}

static void
add_items (AdjTracer *tracer, AdjNodeId call, const AdjValue *result)
{
  for (guint i = 0; i < result->n; i++)
    if (!tracer->items_when_read)
      add_item (tracer, call, i, FALSE, &result->items[i]);
    else if (result->items[i].kind == ADJ_VALUE_TENSOR)
      set_proxy (tracer, result->items[i].tensor, PROXY_ITEM, call.index)->item = i;
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
    .val = snapshot (tracer, result, FALSE),
  };
  AdjNodeMeta *meta = get_meta (tracer, &node.origin);
  AdjNodeId id;

  if (meta->original_aten == NULL)
    meta->original_aten = target;
  node.meta = meta;
  id = adj_tracer_add (tracer, &node, NULL);
  if (result->kind == ADJ_VALUE_TUPLE || result->kind == ADJ_VALUE_LIST)
    add_items (tracer, id, result);
  else
    track (tracer, result, id);
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

  for (guint i = 0; i < tracer->nodes->len; i++)
    {
      AdjTracedNode *node = &g_array_index (tracer->nodes, AdjTracedNode, i);

      if (places[i] == G_MAXUINT32)
        continue;
      renumber (&node->args, places);
      renumber (&node->kwargs, places);
      adj_builder_add (builder, &(AdjNodeSpec){ .name = node->name,
                                                .opcode = node->opcode,
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
