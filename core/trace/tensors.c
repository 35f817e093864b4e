/* SPDX-License-Identifier: MIT */

/* Nodes for tensors: the node of each one, results of calls that have several, constants. */

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "ir/adj-value-internal.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/functional-private.h"
#include "trace/tracer-private.h"

typedef enum
{
  PROXY_NODE,
  PROXY_CONSTANT, /* lifted: each use makes a get_attr node */
  PROXY_ITEM,     /* one of the results of a node */
} ProxyKind;

/* The node that represents a tensor, stored in its slot. */
typedef struct
{
  AdjTraceMark *mark;
  ProxyKind kind;
  guint32 index; /* of the node, or the constant */
  guint32 item;
} Proxy;

void
adj_trace_mark_unref (AdjTraceMark *mark)
{
  if (--mark->n_refs == 0)
    g_free (mark);
}

static void
proxy_free (gpointer data)
{
  Proxy *proxy = data;

  adj_trace_mark_unref (proxy->mark);
  g_free (proxy);
}

static gpointer
proxy_copy (gpointer data)
{
  Proxy *proxy = g_memdup2 (data, sizeof *proxy);

  proxy->mark->n_refs++;
  return proxy;
}

static gint32
number_storage (AdjTracer *tracer, const AdjTensor *tensor)
{
  gpointer id = GSIZE_TO_POINTER ((gsize) adj_storage_get_id (adj_tensor_get_storage (tensor)));
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (tracer->storages, id));

  if (number == 0)
    {
      number = g_hash_table_size (tracer->storages) + 1;
      g_hash_table_insert (tracer->storages, id, GUINT_TO_POINTER (number));
    }
  return (gint32) number - 1;
}

/* A snapshot of @value, unaffected by later changes: metadata for a tensor. */
AdjValue
adj_tracer_snapshot (AdjTracer *tracer, const AdjValue *value, gboolean with_requires_grad)
{
  AdjValue *items;

  if (value->kind == ADJ_VALUE_TENSOR)
    {
      AdjTensorMeta *meta = adj_arena_memdup (tracer->arena, adj_tensor_get_meta (value->tensor),
                                              sizeof (AdjTensorMeta));

      meta->storage = number_storage (tracer, value->tensor);
      meta->requires_grad = meta->requires_grad && with_requires_grad;
      return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
    }
  if (value->kind == ADJ_VALUE_OPAQUE_OBJECT && adj_object_from_opaque (value->object) != NULL)
    return adj_tracer_snapshot_object (tracer, adj_object_from_opaque (value->object));
  if (value->kind != ADJ_VALUE_LIST && value->kind != ADJ_VALUE_TUPLE)
    return adj_value_copy_to_arena (value, tracer->arena);

  items = adj_arena_new0 (tracer->arena, AdjValue, MAX (value->n, 1));
  for (guint i = 0; i < value->n; i++)
    items[i] = adj_tracer_snapshot (tracer, &value->items[i], with_requires_grad);
  return ADJ_ITEMS (TUPLE, items, value->n);
}

static const AdjSlotClass slot_class = { .free = proxy_free, .copy = proxy_copy };

static Proxy *
get_own_proxy (const AdjTracer *tracer, const AdjTensor *tensor)
{
  Proxy *proxy = adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY);

  return proxy != NULL && proxy->mark == tracer->mark ? proxy : NULL;
}

/* A value that objects keep is represented by the last node that returned it, as in PyTorch, whose
 * fake objects keep the tensor itself. */
static Proxy *
get_proxy (const AdjTracer *tracer, const AdjTensor *tensor)
{
  AdjKeptValue *kept = adj_kept_value_find (tensor);
  Proxy *proxy = kept != NULL ? g_hash_table_lookup (tracer->kept_nodes, kept) : NULL;

  return proxy != NULL ? proxy : get_own_proxy (tracer, tensor);
}

static Proxy *
set_proxy (AdjTracer *tracer, AdjTensor *tensor, ProxyKind kind, guint32 index, guint32 item)
{
  Proxy *proxy = get_own_proxy (tracer, tensor);
  AdjKeptValue *kept = adj_kept_value_find (tensor);

  if (proxy == NULL)
    {
      proxy = g_new (Proxy, 1);
      proxy->mark = tracer->mark;
      tracer->mark->n_refs++;
      adj_tensor_set_slot (tensor, ADJ_SLOT_PROXY, proxy, &slot_class);
    }
  proxy->kind = kind;
  proxy->index = index;
  proxy->item = item;
  if (kept != NULL)
    g_hash_table_insert (tracer->kept_nodes, adj_kept_value_ref (kept),
                         g_memdup2 (proxy, sizeof *proxy));
  return proxy;
}

/* A write that must be in forward does not change the node of the written tensor, since backward
 * may read the input. */
static gboolean
keeps_name (const AdjTracer *tracer, AdjTensor *tensor)
{
  return g_strcmp0 (adj_context_get_place (tracer->cx)->tag, "must_be_in_forward") == 0 &&
         get_proxy (tracer, tensor) != NULL;
}

void
adj_tracer_track (AdjTracer *tracer, const AdjValue *value, AdjNodeId id)
{
  if (value->kind == ADJ_VALUE_TENSOR && !keeps_name (tracer, value->tensor))
    {
      set_proxy (tracer, value->tensor, PROXY_NODE, id.index, 0);
      adj_tracer_offer_sizes (tracer, adj_tensor_get_meta (value->tensor), id);
    }
  else if (value->kind == ADJ_VALUE_SIZE)
    adj_tracer_bind_size (tracer, value->size, id);
  else if (value->kind == ADJ_VALUE_OPAQUE_OBJECT && adj_object_from_opaque (value->object) != NULL)
    adj_tracer_track_object (tracer, adj_object_from_opaque (value->object), id);
}

/* A node for one of the results of @call; @here: with the metadata of the current place, not of the
 * call's. */
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
  adj_tracer_track (tracer, value, id);
  return id;
}

/* Replaces tensors by their values below functionalization, whose sizes are recorded. */
static void
unwrap_args (const AdjValue *args, guint n, AdjValue *out)
{
  for (guint i = 0; i < n; i++)
    {
      const Functional *functional =
          args[i].kind == ADJ_VALUE_TENSOR ? functional_find (args[i].tensor) : NULL;

      out[i] = functional != NULL ? ADJ_TENSOR (functional->value) : args[i];
    }
}

#define ITEM "torch.ops.aten._local_scalar_dense.default"

/* Methods that read a size (x.size (0)) are not recorded: the size gets a node when it is used. */
void
adj_tracer_note_builtin (AdjTracer *tracer,
                         const char *target,
                         const AdjValue *args,
                         guint n_args,
                         const AdjValue *result)
{
  const Proxy *proxy = NULL;
  g_autofree AdjValue *plain = NULL;

  if (result->kind == ADJ_VALUE_SIZE)
    {
      plain = g_new0 (AdjValue, n_args + 1);
      unwrap_args (args, n_args, plain);
    }
  if (plain != NULL && n_args == 1 && plain[0].kind == ADJ_VALUE_TENSOR &&
      (strcmp (target, "item") == 0 || strcmp (target, ITEM) == 0))
    adj_tracer_add_item (tracer, ITEM, plain[0].tensor, result->size);
  else if (plain != NULL && strchr (target, '.') != NULL)
    adj_tracer_add_size (tracer, target, plain, n_args, result->size);
  else if (result->kind == ADJ_VALUE_TENSOR)
    proxy = get_proxy (tracer, result->tensor);
  if (proxy != NULL && proxy->kind == PROXY_ITEM)
    add_item (tracer, (AdjNodeId){ proxy->index }, proxy->item, TRUE, result);
}

/* A result that is itself several: its getitem is a node, which is dropped if unread. */
static void
track_nested (AdjTracer *tracer, AdjNodeId call, guint index, const AdjValue *value)
{
  AdjNodeId id = add_item (tracer, call, index, FALSE, value);

  if (tracer->items_when_read)
    {
      g_array_index (tracer->nodes, AdjTracedNode, id.index).only_if_read = TRUE;
      tracer->n_if_read++;
    }
  adj_tracer_track_items (tracer, id, value);
}

void
adj_tracer_track_items (AdjTracer *tracer, AdjNodeId call, const AdjValue *result)
{
  for (guint i = 0; i < result->n; i++)
    if (adj_value_is_container (&result->items[i]))
      track_nested (tracer, call, i, &result->items[i]);
    else if (!tracer->items_when_read)
      add_item (tracer, call, i, FALSE, &result->items[i]);
    else if (result->items[i].kind == ADJ_VALUE_TENSOR)
      set_proxy (tracer, result->items[i].tensor, PROXY_ITEM, call.index, i);
}

/* -- constants ---- */

/* Index of the constant with the bytes that @data has now; equal bytes share one. */
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
      proxy = set_proxy (tracer, tensor, PROXY_CONSTANT, find_constant (tracer, data), 0);
    }

  name = g_strdup_printf ("_tensor_constant%u", proxy->index);
  node.target = adj_arena_intern (tracer->arena, name);
  *out = ADJ_NODE (adj_tracer_add (tracer, &node, node.target));
  return TRUE;
}

gboolean
adj_tracer_take_tensor (AdjTracer *tracer, AdjTensor *tensor, AdjValue *out)
{
  const Proxy *proxy = get_proxy (tracer, tensor);

  if (proxy == NULL || proxy->kind == PROXY_CONSTANT)
    return take_constant (tracer, tensor, out);
  *out = ADJ_NODE ((AdjNodeId){ proxy->index });
  if (proxy->kind == PROXY_ITEM)
    out->node = add_item (tracer, out->node, proxy->item, FALSE, &ADJ_TENSOR (tensor));
  return TRUE;
}

const char *
adj_tracer_name_value (const AdjTensor *tensor)
{
  const Proxy *proxy = adj_tensor_get_slot (tensor, ADJ_SLOT_PROXY);

  if (proxy == NULL || proxy->mark->ended || proxy->kind == PROXY_CONSTANT)
    return NULL;
  return g_array_index (proxy->mark->tracer->nodes, AdjTracedNode, proxy->index).name;
}
