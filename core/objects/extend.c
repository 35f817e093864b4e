/* SPDX-License-Identifier: MIT */
/* What a file has of the classes and operators of plugins: texts and states of objects, calls of
 * operators. */

#include "base/adj-diag-internal.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-own-ops-internal.h"
#include "ir/adj-text-internal.h"
#include "objects/adj-extensions-internal.h"
#include "objects/adj-object-table.h"
#include "objects/written-object-private.h"

struct _AdjExtender
{
  const AdjExtensions *extensions;
  AdjDiags *diags;     /* (nullable) */
  GHashTable *objects; /* AdjOpaque as it was read → AdjObject; both owned */
  GHashTable *graphs;  /* AdjGraph → AdjGraph; both owned */
  guint n_taken;       /* values that became objects, calls that found their operator */
  GError *error;
};

AdjExtender *
adj_extender_new (const AdjExtensions *extensions, AdjDiags *diags)
{
  AdjExtender *extender = g_new0 (AdjExtender, 1);

  extender->extensions = extensions;
  extender->diags = diags;
  extender->objects = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_opaque_unref,
                                             (GDestroyNotify) adj_opaque_unref);
  extender->graphs = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_graph_unref,
                                            (GDestroyNotify) adj_graph_unref);
  return extender;
}

void
adj_extender_free (AdjExtender *extender)
{
  g_hash_table_unref (extender->objects);
  g_hash_table_unref (extender->graphs);
  g_clear_error (&extender->error);
  g_free (extender);
}

/* -- values as text: "Scale(2.0)" -- */

static gboolean
take_text (AdjExtender *self, const AdjValue *leaf, AdjValue *out)
{
  const char *inside;
  const AdjObjectClass *klass = adj_extensions_find_written (self->extensions, leaf->text, &inside);
  AdjObject *object;

  if (klass == NULL)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  object = object_read_written (klass, inside, &self->error);
  if (object == NULL)
    {
      g_prefix_error (&self->error, "%s: ", leaf->text);
      return FALSE;
    }
  adj_diags_remove (self->diags, ADJ_UNREAD_VALUE, leaf->text);
  *out = ADJ_OBJECT (object);
  self->n_taken++;
  return TRUE;
}

/* -- objects as states -- */

static gboolean
has_elements (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_META;
}

/* (transfer full) (nullable): an object of what @told has; %NULL with @error. */
static AdjObject *
make_live (const AdjObjectClass *klass, const AdjValue *told, GError **error)
{
  const AdjValue *pickled = adj_object_state_get (told, ADJ_OBJECT_PICKLED);
  g_auto (AdjValue) state = ADJ_NONE;

  if (pickled == NULL)
    return adj_object_new (klass, told, error);
  return klass->restore (pickled, &state, error) ? adj_object_new (klass, &state, error) : NULL;
}

/* (transfer full) (nullable): what @opaque is an object of, live where its state has all elements,
 * or what was pickled of it can be read. */
static AdjObject *
make_object (const AdjObjectClass *klass, AdjOpaque *opaque, GError **error)
{
  AdjObject *flat = adj_object_from_opaque (opaque), *object;
  g_auto (AdjValue) told = flat != NULL ? adj_object_dup_flat (flat) : ADJ_NONE;
  g_auto (AdjValue) state = ADJ_NONE;

  if (flat == NULL || !adj_object_flatten (flat, &state, NULL) ||
      !adj_value_foreach (&state, has_elements, NULL) ||
      (klass->restore == NULL && adj_object_state_get (&state, ADJ_OBJECT_PICKLED) != NULL))
    return adj_object_new_flat (klass->name, klass, &told);
  object = make_live (klass, &state, error);
  if (object == NULL)
    g_prefix_error (error, "an object of the class '%s': ", klass->name);
  return object;
}

/* (nullable): the class of the plugin that @opaque is an object of, and is none of yet. */
static const AdjObjectClass *
find_class (const AdjExtender *self, AdjOpaque *opaque)
{
  const char *name = adj_opaque_get_type (opaque);
  const AdjObject *object = adj_object_from_opaque (opaque);
  const AdjObjectClass *klass =
      name != NULL ? adj_extensions_find_class (self->extensions, name) : NULL;

  return object != NULL && adj_object_get_class (object) == klass ? NULL : klass;
}

static gboolean
take_object (AdjExtender *self, const AdjValue *leaf, AdjValue *out)
{
  AdjObject *object = g_hash_table_lookup (self->objects, leaf->object);
  const AdjObjectClass *klass = object == NULL ? find_class (self, leaf->object) : NULL;

  if (object == NULL && klass == NULL)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  if (object == NULL)
    {
      object = make_object (klass, leaf->object, &self->error);
      if (object == NULL)
        return FALSE;
      g_hash_table_insert (self->objects, adj_opaque_ref (leaf->object), object);
    }
  *out = ADJ_OPAQUE (adj_opaque_ref (&object->parent));
  self->n_taken++;
  return TRUE;
}

static gboolean
take_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_RAW)
    return take_text (data, leaf, out);
  if (leaf->kind == ADJ_VALUE_OPAQUE_OBJECT)
    return take_object (data, leaf, out);
  *out = adj_value_copy (leaf);
  return TRUE;
}

gboolean
adj_extender_take_value (AdjExtender *self, AdjValue *value, GError **error)
{
  AdjValue taken;

  if (!adj_value_map (value, take_leaf, self, &taken))
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }
  adj_value_clear (value);
  *value = taken;
  return TRUE;
}

/* -- graphs -- */

typedef struct
{
  AdjExtender *self;
  AdjBuilder *builder;
} Naming;

/* An operator among the arguments, which an operator calls (with_effects). */
static gboolean
note_named (const AdjValue *leaf, gpointer data)
{
  Naming *naming = data;
  const AdjOp *op = leaf->kind == ADJ_VALUE_OP
                        ? adj_extensions_find_op (naming->self->extensions, leaf->text)
                        : NULL;

  if (op == NULL)
    return TRUE;
  adj_builder_note_op (naming->builder, leaf->text, op);
  naming->self->n_taken++;
  return TRUE;
}

/* (nullable): the type of argument @index of @op, if that is a class. */
static const AdjType *
get_asked_type (const AdjOp *op, guint index)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  const AdjType *type = index < schema->n_arguments ? &schema->arguments[index].type : NULL;

  return type != NULL && adj_type_is_class (type) ? type : NULL;
}

/* (nullable): the class that @type names. */
static const AdjObjectClass *
find_asked_class (const AdjExtender *self, const AdjType *type)
{
  guint n = adj_extensions_get_n_classes (self->extensions);

  for (guint i = 0; i < n + adj_object_classes_get_n (); i++)
    {
      const AdjObjectClass *klass =
          i < n ? adj_extensions_get_class (self->extensions, i) : adj_object_classes_get (i - n);

      if (adj_type_is_class_named (type, klass->name))
        return klass;
    }
  return NULL;
}

/* (nullable): the type that @user, which calls an operator of a plugin, asks of its input @id. */
static const AdjType *
find_type_for (const AdjExtender *self, const AdjNode *user, AdjNodeId id)
{
  gboolean ordered = g_str_equal (user->target, ADJ_TARGET_WITH_EFFECTS) && user->args.n > 1 &&
                     user->args.items[1].kind == ADJ_VALUE_OP;
  guint first = ordered ? 2 : 0;
  const AdjOp *op =
      adj_extensions_find_op (self->extensions, ordered ? user->args.items[1].text : user->target);

  for (guint i = first; op != NULL && i < user->args.n; i++)
    {
      const AdjValue *arg = &user->args.items[i];
      const AdjType *type = arg->kind == ADJ_VALUE_NODE && arg->node.index == id.index
                                ? get_asked_type (op, i - first)
                                : NULL;

      if (type != NULL)
        return type;
    }
  return NULL;
}

/* Whether Dynamo writes an object of the class @name as @text: "__main___Scale" of
 * "__main__.Scale". */
static gboolean
is_annotated_as (const char *name, const char *text)
{
  while (*name != '\0' && (*name == *text || (*name == '.' && *text == '_')))
    name++, text++;
  return *name == '\0' && *text == '\0';
}

/* (nullable): the class that the annotation of @node names. */
static const AdjObjectClass *
find_annotated_class (const AdjExtender *self, const AdjNode *node)
{
  const char *text = adj_node_get_type_text (node);

  for (guint i = 0; text != NULL && i < adj_extensions_get_n_classes (self->extensions); i++)
    {
      const AdjObjectClass *klass = adj_extensions_get_class (self->extensions, i);

      if (is_annotated_as (klass->name, text))
        return klass;
    }
  return NULL;
}

/* (transfer full): an object of the class that @type names, of which no more may be here. */
static AdjObject *
tell_asked (const AdjExtender *self, const AdjType *type)
{
  const AdjObjectClass *klass = find_asked_class (self, type);
  g_autofree char *name = g_strndup (type->name, strcspn (type->name, "?"));

  return adj_object_new_flat (klass != NULL ? klass->name : name, klass, NULL);
}

/* Of an input nothing may be told: it is what its annotation says, or what the operators that take
 * it ask for. */
static void
tell_input (AdjExtender *self, const AdjGraph *graph, guint index, AdjValue *val)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const AdjObjectClass *klass;
  const AdjType *type = NULL;

  if (node->opcode != ADJ_OPCODE_PLACEHOLDER || val->kind != ADJ_VALUE_NONE)
    return;
  klass = find_annotated_class (self, node);
  for (guint i = 0; i < node->n_users && klass == NULL && type == NULL; i++)
    type = find_type_for (self, adj_graph_get_node (graph, node->users[i].index),
                          (AdjNodeId){ index });
  if (klass == NULL && type == NULL)
    return;
  *val = ADJ_OBJECT (klass != NULL ? adj_object_new_flat (klass->name, klass, NULL)
                                   : tell_asked (self, type));
  self->n_taken++;
}

/* The nodes stay in their places, so that what refers to one still does. */
static gboolean
add_node (AdjExtender *self, AdjBuilder *builder, const AdjGraph *graph, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const AdjOp *op = node->op;
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_auto (AdjValue) val = ADJ_NONE;
  Naming naming = { self, builder };

  if (op == NULL && node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    {
      op = adj_extensions_find_op (self->extensions, node->target);
      self->n_taken += op != NULL;
    }
  adj_value_foreach (&node->args, note_named, &naming);
  if (!adj_value_map (&node->args, take_leaf, self, &args) ||
      !adj_value_map (&node->kwargs, take_leaf, self, &kwargs) ||
      !adj_value_map (&node->val, take_leaf, self, &val))
    {
      g_prefix_error (&self->error, "node '%s': ", node->name);
      adj_error_blame_node (self->error, node->name, index);
      return FALSE;
    }
  tell_input (self, graph, index, &val);
  adj_builder_add (builder, &(AdjNodeSpec){ .name = node->name,
                                            .opcode = node->opcode,
                                            .target = node->target,
                                            .op = op,
                                            .args = args,
                                            .kwargs = kwargs,
                                            .val = val,
                                            .meta = &node->meta,
                                            .span = node->span,
                                            .origin = node->origin });
  return TRUE;
}

static gboolean
add_attributes (AdjExtender *self, AdjBuilder *builder, const AdjGraph *graph)
{
  const char *name;

  for (guint i = 0; i < adj_graph_get_n_attrs (graph); i++)
    {
      g_auto (AdjValue) value = ADJ_NONE;

      if (!adj_value_map (adj_graph_get_attr (graph, i, &name), take_leaf, self, &value))
        {
          g_prefix_error (&self->error, "attribute '%s': ", name);
          return FALSE;
        }
      adj_builder_add_attr (builder, name, &value);
    }
  return TRUE;
}

static AdjGraph *take_graph (AdjExtender *self, AdjGraph *graph);

static gboolean
add_subgraphs (AdjExtender *self, AdjBuilder *builder, const AdjGraph *graph)
{
  const char *name;

  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    {
      AdjGraph *subgraph = adj_graph_get_subgraph (graph, i, &name);
      AdjGraph *taken = take_graph (self, subgraph);

      if (taken == NULL)
        return FALSE;
      self->n_taken += taken != subgraph;
      adj_builder_add_subgraph (builder, name, taken);
    }
  return TRUE;
}

/* (transfer full) (nullable) */
static AdjGraph *
rebuild (AdjExtender *self, AdjGraph *graph)
{
  const guint before = self->n_taken;
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (!add_node (self, builder, graph, i))
      return NULL;
  if (!add_attributes (self, builder, graph) || !add_subgraphs (self, builder, graph))
    return NULL;
  return self->n_taken == before ? adj_graph_ref (graph) : adj_builder_seal (builder, &self->error);
}

/* (transfer none) (nullable) */
static AdjGraph *
take_graph (AdjExtender *self, AdjGraph *graph)
{
  AdjGraph *taken = g_hash_table_lookup (self->graphs, graph);

  if (taken != NULL)
    return taken;
  taken = rebuild (self, graph);
  if (taken != NULL)
    g_hash_table_insert (self->graphs, adj_graph_ref (graph), taken);
  return taken;
}

AdjGraph *
adj_extender_take_graph (AdjExtender *self, AdjGraph *graph, GError **error)
{
  AdjGraph *taken = take_graph (self, graph);

  if (taken == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self->error));
      return NULL;
    }
  return adj_graph_ref (taken);
}
