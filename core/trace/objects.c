/* SPDX-License-Identifier: MIT */
/* Calls of methods in a trace: one node each, and the nodes that represent objects. */

#include <string.h>

#include "ir/adj-builder-internal.h"
#include "ir/adj-value-internal.h"
#include "trace/tracer-private.h"

#define ONLY_CONSTANTS                                                                             \
  "Currently, only these constant dtypes are supported to be returned from torchbind methods: "    \
  "None, int, float, bool"

/* -- objects -- */

void
adj_tracer_track_object (AdjTracer *tracer, AdjObject *object, AdjNodeId id)
{
  g_hash_table_insert (tracer->object_nodes, object, GUINT_TO_POINTER (id.index + 1));
}

/* Adds a node for each use of an attribute, as PyTorch does. */
static AdjNodeId
add_attribute (AdjTracer *tracer, AdjObject *object)
{
  AdjTracedNode node = { .opcode = ADJ_OPCODE_GET_ATTR };

  node.target = adj_arena_intern (
      tracer->arena, adj_tracer_take_attribute (tracer, "_torchbind_obj", &object->parent)->name);
  node.val = adj_tracer_snapshot_object (tracer, object);
  return adj_tracer_add (tracer, &node, node.target);
}

void
adj_tracer_take_object (AdjTracer *tracer, AdjObject *object, AdjValue *out)
{
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (tracer->object_nodes, object));

  if (known == 0 && adj_object_is_value (object))
    {
      *out = ADJ_OBJECT (object);
      adj_builder_keep (tracer->builder, out);
      return;
    }
  *out = ADJ_NODE (known != 0 ? (AdjNodeId){ known - 1 } : add_attribute (tracer, object));
}

static gboolean
describe_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjTensorMeta *meta = NULL;

  if (leaf->kind == ADJ_VALUE_DATA)
    meta = adj_tensor_data_get_meta (leaf->data);
  else if (leaf->kind == ADJ_VALUE_TENSOR)
    meta = adj_tensor_get_meta (leaf->tensor);
  *out = adj_value_copy (meta != NULL ? &(AdjValue){ .kind = ADJ_VALUE_META, .meta = meta } : leaf);
  return TRUE;
}

AdjValue
adj_tracer_snapshot_object (AdjTracer *tracer, AdjObject *object)
{
  g_auto (AdjValue) state = ADJ_NONE;
  g_auto (AdjValue) described = ADJ_NONE;
  gboolean known = adj_object_flatten (object, &state, NULL);
  g_autoptr (AdjObject) flat = NULL;

  if (known)
    adj_value_map (&state, describe_leaf, NULL, &described);
  flat = adj_object_new_flat (adj_object_get_name (object), adj_object_get_class (object),
                              known ? &described : NULL);
  adj_builder_keep (tracer->builder, &ADJ_OBJECT (flat));
  return ADJ_OBJECT (flat);
}

/* -- calls -- */

/* The arguments (obj, 'method', …), as called. */
static gboolean
take_call (AdjTracer *tracer, const AdjObjectCall *call, AdjValue *args, AdjValue *kwargs)
{
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, call->n_args + 2);

  adj_tracer_take_object (tracer, call->object, &items[0]);
  items[1] = (AdjValue){ .kind = ADJ_VALUE_STRING,
                         .n = strlen (call->name),
                         .text = adj_arena_intern (tracer->arena, call->name) };
  for (guint i = 0; i < call->n_args; i++)
    if (!adj_tracer_take (tracer, &call->args[i], &items[i + 2]))
      return FALSE;
  *args = ADJ_ITEMS (TUPLE, items, call->n_args + 2);
  return adj_tracer_take (tracer, call->kwargs, kwargs);
}

static gboolean
is_constant (const AdjValue *leaf, gpointer data)
{
  static const guint32 kinds = 1u << ADJ_VALUE_NONE | 1u << ADJ_VALUE_BOOL | 1u << ADJ_VALUE_INT |
                               1u << ADJ_VALUE_FLOAT | 1u << ADJ_VALUE_SIZE |
                               1u << ADJ_VALUE_TENSOR;

  return (kinds >> leaf->kind & 1) != 0;
}

static void
warn_of_real (AdjTracer *tracer, AdjMode *mode, const AdjObjectCall *call)
{
  const char *name = adj_object_get_name (call->object);
  const char *colons = strstr (name, "::"), *dot = strrchr (name, '.');
  const char *class_name = colons != NULL ? colons + 2 : dot != NULL ? dot + 1 : name;

  while (mode->below != NULL)
    mode = mode->below;
  if (adj_object_is_fake (call->object) || g_str_equal (mode->klass->name, "fake"))
    return;
  adj_context_warn (tracer->cx,
                    "Tracing torchbind method %s.%s with real ScriptObject. This may cause the "
                    "original object being mutated. If this is not intended, You can register a "
                    "fake class for \"%s\" and trace without elements.",
                    class_name, call->name, name);
}

gboolean
adj_tracer_record_object (AdjTracer *tracer, AdjMode *mode, AdjObjectCall *call)
{
  AdjValue args, kwargs;

  if (!take_call (tracer, call, &args, &kwargs) || !adj_mode_call_object_below (mode, call))
    return FALSE;
  if (!adj_value_foreach (&call->result, is_constant, NULL))
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED, ONLY_CONSTANTS);
  warn_of_real (tracer, mode, call);
  if (call->token != NULL)
    return adj_tracer_add_ordered_call (
        tracer,
        &(AdjTracedEffect){ call->token, call->new_token, ADJ_TARGET_CALL_TORCHBIND, FALSE }, &args,
        &kwargs, &call->result);
  adj_tracer_add_call (tracer, ADJ_TARGET_CALL_TORCHBIND, &args, &kwargs, &call->result);
  return TRUE;
}
