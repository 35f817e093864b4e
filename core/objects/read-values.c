/* SPDX-License-Identifier: MIT */
/* Objects of classes of values, which a file has as text: "Scale(2.0)". */

#include <string.h>

#include "ir/adj-builder.h"
#include "ir/adj-text.h"
#include "objects/adj-object-text.h"

typedef struct
{
  const AdjObjectClass *const *classes;
  guint n_classes;
  const AdjNodeId *map; /* by node of the graph that was read */
  guint n_read;
  GError *error;
} ReadValues;

/* Whether a class of this name is written as the @n bytes of @text: whole, or the last part of the
 * name, as Python has it. */
static gboolean
is_written_as (const char *name, const char *text, gsize n)
{
  const char *dot = strrchr (name, '.');
  const char *last = dot != NULL ? dot + 1 : name;

  return (strlen (name) == n && strncmp (name, text, n) == 0) ||
         (strlen (last) == n && strncmp (last, text, n) == 0);
}

/* (nullable): the class whose object @text is; @inside (out): where its arguments begin. */
static const AdjObjectClass *
find_class (const ReadValues *self, const char *text, const char **inside)
{
  const char *open = strchr (text, '(');

  if (open == NULL || !g_str_has_suffix (text, ")"))
    return NULL;
  *inside = open + 1;
  for (guint i = 0; i < self->n_classes; i++)
    if (self->classes[i]->read != NULL &&
        is_written_as (self->classes[i]->name, text, (gsize) (open - text)))
      return self->classes[i];
  return NULL;
}

/* (transfer full) (nullable) */
static AdjObject *
read_object (const AdjObjectClass *klass, const char *inside, GError **error)
{
  const gsize n = strlen (inside) - 1;
  g_autofree char *arguments = g_strdup_printf ("(%.*s%s)", (int) n, inside, n > 0 ? "," : "");
  g_auto (AdjValue) given = ADJ_NONE;
  g_auto (AdjValue) state = ADJ_NONE;

  return adj_value_parse (arguments, -1, NULL, NULL, &given, error) &&
                 klass->read (&given, &state, error)
             ? adj_object_new (klass, &state, error)
             : NULL;
}

static gboolean
read_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  ReadValues *self = data;
  const char *inside;
  const AdjObjectClass *klass =
      leaf->kind == ADJ_VALUE_RAW ? find_class (self, leaf->text, &inside) : NULL;
  AdjObject *object;

  if (klass == NULL)
    {
      *out = adj_value_copy (leaf);
      if (out->kind == ADJ_VALUE_NODE)
        out->node = self->map[leaf->node.index];
      return TRUE;
    }
  object = read_object (klass, inside, &self->error);
  if (object == NULL)
    {
      g_prefix_error (&self->error, "%s: ", leaf->text);
      return FALSE;
    }
  *out = ADJ_OBJECT (object);
  self->n_read++;
  return TRUE;
}

static gboolean
add_node (ReadValues *self, AdjBuilder *builder, const AdjGraph *graph, guint i, AdjNodeId *map)
{
  const AdjNode *node = adj_graph_get_node (graph, i);
  const guint before = self->n_read;
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;

  if (!adj_value_map (&node->args, read_leaf, self, &args) ||
      !adj_value_map (&node->kwargs, read_leaf, self, &kwargs))
    {
      g_prefix_error (&self->error, "node '%s': ", node->name);
      adj_error_blame_node (self->error, node->name, i);
      return FALSE;
    }
  if (self->n_read == before)
    adj_builder_copy (builder, graph, i, map);
  else
    map[i] = adj_builder_add (builder, &(AdjNodeSpec){ .name = node->name,
                                                       .opcode = node->opcode,
                                                       .target = node->target,
                                                       .op = node->op,
                                                       .args = args,
                                                       .kwargs = kwargs,
                                                       .val = node->val,
                                                       .meta = &node->meta,
                                                       .origin = { i } });
  return TRUE;
}

AdjGraph *
adj_graph_read_objects (AdjGraph *graph,
                        const AdjObjectClass *const *classes,
                        guint n_classes,
                        GError **error)
{
  const guint n = adj_graph_get_n_nodes (graph);
  g_autoptr (AdjBuilder) builder = NULL;
  g_autofree AdjNodeId *map = NULL;
  ReadValues self = { .classes = classes, .n_classes = n_classes };

  g_return_val_if_fail (graph != NULL && (n_classes == 0 || classes != NULL), NULL);

  builder = adj_builder_new_like (graph);
  map = g_new0 (AdjNodeId, n + 1);
  self.map = map;
  for (guint i = 0; i < n; i++)
    if (!add_node (&self, builder, graph, i, map))
      {
        g_propagate_error (error, self.error);
        return NULL;
      }
  return adj_builder_seal (builder, error);
}
