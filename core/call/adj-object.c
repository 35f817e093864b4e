/* SPDX-License-Identifier: MIT */
/* Objects of a class: made, described and freed; their methods by name. */

#include "call/adj-object.h"

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "call/adj-schema-internal.h"
#include "call/context-private.h"
#include "call/object-private.h"
#include "ir/adj-graph.h"

static void
object_finalize (AdjOpaque *opaque)
{
  AdjObject *object = (AdjObject *) opaque;
  struct _AdjObjectHeader *header = object->header;

  if (header->klass != NULL && header->klass->finalize != NULL)
    header->klass->finalize (object);
  adj_value_clear (&header->flat);
  g_rec_mutex_clear (&header->lock);
  adj_arena_free (header->arena);
  g_free (header->name);
  g_free (header);
}

static char *
object_describe (const AdjOpaque *opaque)
{
  const AdjObject *object = (const AdjObject *) opaque;

  return g_strdup_printf ("%s%s", object->header->is_fake ? "fake " : "", object->header->name);
}

static const char *
object_get_type (const AdjOpaque *opaque)
{
  return ((const AdjObject *) opaque)->header->name;
}

static char *
object_write (const AdjOpaque *opaque)
{
  const AdjObject *object = (const AdjObject *) opaque;
  const AdjObjectClass *klass = object->header->klass;

  return klass != NULL && klass->write != NULL ? klass->write (object) : NULL;
}

/* Objects that are not live and whose state is unknown are equal if their classes are. */
static gboolean
object_equal (const AdjOpaque *a, const AdjOpaque *b)
{
  AdjObject *one = (AdjObject *) a, *other = (AdjObject *) b;

  return adj_object_equal (one, other) ||
         (!object_state_is_known (one) && !object_state_is_known (other) &&
          g_str_equal (one->header->name, other->header->name));
}

static gboolean
object_is_value (const AdjOpaque *object)
{
  return adj_object_is_value ((const AdjObject *) object);
}

static const AdjOpaqueClass object_class = {
  .name = "object",
  .equal = object_equal,
  .is_value = object_is_value,
  .write = object_write,
  .describe = object_describe,
  .get_type = object_get_type,
  .finalize = object_finalize,
};

static AdjObject *
instance_new (const char *name, const AdjObjectClass *real, gsize size)
{
  AdjObject *object = (AdjObject *) adj_opaque_new (&object_class, size);

  object->header = g_new0 (struct _AdjObjectHeader, 1);
  object->header->name = g_strdup (name);
  object->header->real = real;
  object->header->arena = adj_arena_new ();
  g_rec_mutex_init (&object->header->lock);
  return object;
}

/* -- the record of a class -- */

static gboolean refuse_class (const AdjObjectClass *klass, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
refuse_class (const AdjObjectClass *klass, GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list list;

  va_start (list, format);
  why = g_strdup_vprintf (format, list);
  va_end (list);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the class '%s' %s", klass->name, why);
  return FALSE;
}

static gboolean
check_schema (const AdjObjectClass *klass, const AdjSchema *schema, GError **error)
{
  if (adj_schema_mutates (schema))
    return refuse_class (klass, error, "has a method '%s' that writes its arguments",
                         schema->overload);
  for (guint i = 0; i < schema->n_returns; i++)
    if (schema->returns[i].type.alias != 0)
      return refuse_class (klass, error, "has a method '%s' whose result shows an argument",
                           schema->overload);
  return TRUE;
}

static gboolean
check_methods (const AdjObjectClass *klass, GError **error)
{
  for (guint i = 0; i < klass->n_methods; i++)
    {
      const char *schema = klass->methods[i].schema;
      const int n = (int) strcspn (schema, "(");

      if (klass->methods[i].call == NULL)
        return refuse_class (klass, error, "has a method '%.*s': Expect %.*s to be a callable", n,
                             schema, n, schema);
    }
  return TRUE;
}

/* (transfer full): the method as an operator overload, "ns::Class.method(…) -> …"; for a Python
 * class without the module, which contains dots. */
static char *
make_schema_text (const AdjObjectClass *klass, const char *schema)
{
  const char *dot = strrchr (klass->name, '.');

  if (strstr (klass->name, "::") != NULL || dot == NULL)
    return g_strconcat (klass->name, ".", schema, NULL);
  return g_strconcat ("python::", dot + 1, ".", schema, NULL);
}

static gboolean
parse_schemas (AdjObject *object, GError **error)
{
  struct _AdjObjectHeader *header = object->header;
  const AdjObjectClass *klass = header->real;

  header->schemas = adj_arena_new0 (header->arena, const AdjSchema *, klass->n_methods + 1);
  for (guint i = 0; i < klass->n_methods; i++)
    {
      const char *schema = klass->methods[i].schema;
      g_autofree char *text = make_schema_text (klass, schema);
      g_autoptr (GError) failure = NULL;

      header->schemas[i] =
          adj_schema_parse (adj_arena_intern (header->arena, text), header->arena, &failure);
      if (header->schemas[i] == NULL)
        return refuse_class (klass, error, "has a wrong schema '%s': %s", schema, failure->message);
      if (!check_schema (klass, header->schemas[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_class (const AdjObjectClass *klass, GError **error)
{
  /* Names of C++ classes have "::", those of Python classes a dot. */
  if (strstr (klass->name, "::") == NULL && strchr (klass->name, '.') == NULL)
    return refuse_class (klass, error, "has no name of the form namespace::Class or module.Class");
  if (klass->size < sizeof (AdjObject))
    return refuse_class (klass, error, "has instances smaller than an object");
  if (klass->unflatten == NULL)
    return refuse_class (klass, error, "doesn't define a classmethod __obj_unflatten__.");
  return check_methods (klass, error);
}

gboolean
adj_object_class_check (const AdjObjectClass *klass, GError **error)
{
  g_autoptr (AdjObject) object = NULL;

  if (!check_class (klass, error))
    return FALSE;
  object = instance_new (klass->name, klass, sizeof (AdjObject));
  return parse_schemas (object, error);
}

/* -- making -- */

AdjObject *
object_instance_new (const AdjObjectClass *klass,
                     const AdjObjectClass *real,
                     const AdjValue *state,
                     gboolean is_fake,
                     GError **error)
{
  static const AdjValue empty = { .kind = ADJ_VALUE_TUPLE };
  g_autoptr (AdjObject) object = NULL;
  GError *failure = NULL;

  if (!check_class (klass, error))
    return NULL;
  object = instance_new (real->name, real, klass->size);
  object->header->is_fake = is_fake;
  if (!parse_schemas (object, error))
    return NULL;
  object->header->klass = klass;
  if (klass->unflatten (object, state != NULL ? state : &empty, &failure))
    return g_steal_pointer (&object);
  g_propagate_prefixed_error (error, failure, "%s: ", real->name);
  return NULL;
}

AdjObject *
adj_object_new (const AdjObjectClass *klass, const AdjValue *state, GError **error)
{
  g_return_val_if_fail (klass != NULL && klass->name != NULL, NULL);

  return object_instance_new (klass, klass, state, FALSE, error);
}

AdjObject *
adj_object_new_in (AdjContext *cx, const AdjObjectClass *klass, const AdjValue *state)
{
  GError *error = NULL;
  AdjObject *object;

  g_return_val_if_fail (cx != NULL && klass != NULL, NULL);

  object = adj_object_new (klass, state, &error);
  if (object == NULL)
    {
      adj_context_fail (cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return NULL;
    }
  g_ptr_array_add (cx->objects, object);
  return object;
}

AdjObject *
adj_object_new_flat (const char *name, const AdjObjectClass *klass, const AdjValue *state)
{
  AdjObject *object;

  g_return_val_if_fail (name != NULL, NULL);

  object = instance_new (name, klass, sizeof (AdjObject));
  if (state != NULL)
    object->header->flat = adj_value_copy (state);
  if (klass != NULL && !parse_schemas (object, NULL))
    object->header->real = NULL;
  return object;
}

AdjObject *
adj_object_from_opaque (AdjOpaque *opaque)
{
  return opaque != NULL && opaque->klass == &object_class ? (AdjObject *) opaque : NULL;
}

/* -- reading -- */

const char *
adj_object_get_name (const AdjObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);

  return object->header->name;
}

const AdjObjectClass *
adj_object_get_class (const AdjObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);

  return object->header->real;
}

gboolean
adj_object_is_fake (const AdjObject *object)
{
  g_return_val_if_fail (object != NULL, FALSE);

  return object->header->is_fake;
}

gboolean
adj_object_is_value (const AdjObject *object)
{
  g_return_val_if_fail (object != NULL, FALSE);

  return object->header->klass != NULL && object->header->klass->write != NULL;
}

gboolean
adj_object_is_live (const AdjObject *object)
{
  g_return_val_if_fail (object != NULL, FALSE);

  return object->header->klass != NULL;
}

const AdjSchema *
adj_object_find_method (const AdjObject *object, const char *name, const AdjMethod **method)
{
  const struct _AdjObjectHeader *header = object->header;

  for (guint i = 0; header->real != NULL && i < header->real->n_methods; i++)
    if (g_str_equal (header->schemas[i]->overload, name))
      {
        if (method != NULL)
          *method = &header->real->methods[i];
        return header->schemas[i];
      }
  return NULL;
}

/* (nullable): the object that argument @value of a node of @graph denotes, if known. */
static const AdjObject *
find_object (const AdjGraph *graph, const AdjValue *value)
{
  const AdjNode *node;

  if (value->kind != ADJ_VALUE_NODE)
    return NULL;
  node = adj_graph_get_node (graph, value->node.index);
  return node->val.kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_object_from_opaque (node->val.object)
                                                   : NULL;
}

gboolean
adj_object_node_is_pure (const AdjGraph *graph, const AdjNode *node)
{
  const AdjMethod *method = NULL;
  const AdjObject *object;

  if (!g_str_equal (node->target, ADJ_TARGET_CALL_TORCHBIND) || node->args.n < 2 ||
      node->args.items[1].kind != ADJ_VALUE_STRING)
    return FALSE;
  object = find_object (graph, &node->args.items[0]);
  return object != NULL &&
         adj_object_find_method (object, node->args.items[1].text, &method) != NULL && method->pure;
}

/* -- for methods -- */

AdjValue
adj_object_store (AdjTensor *tensor)
{
  AdjTensorData *data;

  g_return_val_if_fail (tensor != NULL, ADJ_NONE);

  data = adj_tensor_snapshot (tensor);
  return data != NULL ? ADJ_DATA (data) : ADJ_TENSOR (kept_value_store (tensor));
}

AdjTensor *
adj_object_load (AdjContext *cx, const AdjValue *value)
{
  g_return_val_if_fail (cx != NULL && value != NULL, NULL);

  if (value->kind == ADJ_VALUE_DATA)
    return adj_scope_add (cx, adj_tensor_new_from_data (value->data));
  if (value->kind == ADJ_VALUE_TENSOR)
    return adj_scope_add (cx, kept_value_load (value->tensor, adj_context_get_symbols (cx)));
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the state has %s, not a tensor",
                    adj_value_kind_name (value->kind));
  return NULL;
}

gboolean
adj_context_set_object_tracing (AdjContext *cx, gboolean enabled)
{
  gboolean before;

  g_return_val_if_fail (cx != NULL, FALSE);

  before = !cx->objects_are_direct;
  cx->objects_are_direct = !enabled;
  return before;
}
