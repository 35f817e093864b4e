/* SPDX-License-Identifier: MIT */
/* Objects and their states as text. */

#include "objects/adj-object-text.h"

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"

/* Rows stand below the first one. */
static void
print_tensor (const AdjTensorData *data, guint max_items, GString *out)
{
  g_autofree char *text = adj_tensor_data_print (data, max_items);
  const char *line = strrchr (out->str, '\n');
  int column = (int) g_utf8_strlen (line != NULL ? line + 1 : out->str, -1);

  for (const char *at = text; *at != '\0'; at++)
    {
      g_string_append_c (out, *at);
      if (*at == '\n')
        g_string_append_printf (out, "%*s", column, "");
    }
}

static void
print_items (const AdjValue *value, guint max_items, GString *out)
{
  gboolean list = value->kind == ADJ_VALUE_LIST;

  g_string_append_c (out, list ? '[' : '(');
  for (guint i = 0; i < value->n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      adj_object_value_print (&value->items[i], max_items, out);
    }
  g_string_append_c (out, list ? ']' : ')');
}

static void
print_dict (const AdjValue *value, guint max_items, GString *out)
{
  g_string_append_c (out, '{');
  for (guint i = 0; i + 1 < value->n; i += 2)
    {
      g_string_append (out, i > 0 ? ", " : "");
      adj_value_print (&value->items[i], NULL, out);
      g_string_append (out, ": ");
      adj_object_value_print (&value->items[i + 1], max_items, out);
    }
  g_string_append_c (out, '}');
}

void
adj_object_value_print (const AdjValue *value, guint max_items, GString *out)
{
  g_return_if_fail (value != NULL && out != NULL);

  if (value->kind == ADJ_VALUE_DATA)
    print_tensor (value->data, max_items, out);
  else if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    print_items (value, max_items, out);
  else if (value->kind == ADJ_VALUE_DICT)
    print_dict (value, max_items, out);
  else
    adj_value_print (value, NULL, out);
}

void
adj_object_state_print (const AdjValue *state, guint max_items, GString *out)
{
  g_return_if_fail (state != NULL && out != NULL);

  for (guint i = 0; state->kind == ADJ_VALUE_TUPLE && i < state->n; i++)
    {
      const AdjValue *pair = &state->items[i];

      g_string_append_printf (out, "  %s: ", pair->items[0].text);
      adj_object_value_print (&pair->items[1], max_items, out);
      g_string_append_c (out, '\n');
    }
}

void
adj_object_print (AdjObject *object, guint max_items, GString *out)
{
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  g_return_if_fail (object != NULL && out != NULL);

  g_string_append_printf (out, "%s\n", adj_object_get_name (object));
  if (adj_object_flatten (object, &state, &error))
    adj_object_state_print (&state, max_items, out);
  else
    g_string_append_printf (out, "  %s\n", error->message);
}

/* -- calls in graphs -- */

/* Where the object stands among the arguments of @node; -1: it calls no method. */
static gint
find_arguments (const AdjNode *node)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return -1;
  if (g_str_equal (node->target, ADJ_TARGET_CALL_TORCHBIND))
    return 0;
  return g_str_equal (node->target, ADJ_TARGET_WITH_EFFECTS) && node->args.n > 1 &&
                 node->args.items[1].kind == ADJ_VALUE_OP &&
                 g_str_equal (node->args.items[1].text, ADJ_TARGET_CALL_TORCHBIND)
             ? 2
             : -1;
}

gboolean
adj_object_call_find (const AdjGraph *graph, guint index, AdjObjectCallInfo *info)
{
  const AdjNode *node, *object;
  const AdjObject *known;
  gint at;

  g_return_val_if_fail (graph != NULL && info != NULL, FALSE);

  node = adj_graph_get_node (graph, index);
  at = find_arguments (node);
  if (at < 0 || node->args.n < (guint) at + 2 || node->args.items[at].kind != ADJ_VALUE_NODE ||
      node->args.items[at + 1].kind != ADJ_VALUE_STRING)
    return FALSE;
  *info = (AdjObjectCallInfo){ .object = node->args.items[at].node,
                               .method_name = node->args.items[at + 1].text };
  object = adj_graph_get_node (graph, info->object.index);
  if (object->val.kind != ADJ_VALUE_OPAQUE_OBJECT)
    return TRUE;
  info->class_name = adj_opaque_get_type (object->val.object);
  known = adj_object_from_opaque (object->val.object);
  if (known != NULL)
    adj_object_find_method (known, info->method_name, &info->method);
  return TRUE;
}

char *
adj_object_call_print (const AdjGraph *graph, guint index)
{
  AdjObjectCallInfo info;
  const char *colons, *dot;

  if (!adj_object_call_find (graph, index, &info))
    return NULL;
  if (info.class_name == NULL)
    return g_strdup_printf ("%s.%s", adj_graph_get_node (graph, info.object.index)->name,
                            info.method_name);
  colons = strstr (info.class_name, "::");
  dot = strrchr (info.class_name, '.');
  return g_strdup_printf ("%s.%s",
                          colons != NULL ? colons + 2
                          : dot != NULL  ? dot + 1
                                         : info.class_name,
                          info.method_name);
}
