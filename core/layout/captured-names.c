/* SPDX-License-Identifier: MIT */

/* The names of nodes of a captured backward in the picture. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "layout/captured-private.h"

char *
adj_captured_name_call (const AdjCaptured *captured, guint call)
{
  const char *name = call < adj_captured_get_n_calls (captured)
                         ? adj_captured_get_call (captured, call)->name
                         : NULL;
  const char *colon = name != NULL ? strrchr (name, ':') : NULL;

  /* "torch::autograd::AccumulateGrad" */
  return g_strdup_printf ("%s (NodeCall %u)",
                          name == NULL    ? "Node"
                          : colon != NULL ? colon + 1
                                          : name,
                          call);
}

char *
adj_captured_name_hook_type (const AdjCaptured *captured, guint index)
{
  static const struct
  {
    const char *type, *name;
  } types[] = {
    { "tensor_pre_hook", "tensor pre-hook" },
    { "cpp_tensor_pre_hook", "retain_grad" },
    { "pre_hook", "pre-hook" },
    { "post_hook", "post-hook" },
    { "post_acc_grad_hook", "post-accumulate hook" },
    { "unpack_hook", "unpack hook" },
    { "call_backward", "custom backward" },
    { "self_invoke", "traced hook" },
  };
  const AdjCapturedNode *node = adj_captured_get_node (captured, index);
  const AdjValue *given =
      adj_value_find_member (&adj_graph_get_node (captured->graph, index)->kwargs, "hook_type");
  const char *type = given != NULL && given->kind == ADJ_VALUE_STRING
                         ? given->text
                         : adj_captured_get_text (captured, "hooks", node->item, "type");

  if (node->kind == ADJ_CAPTURED_BACKWARD)
    type = "call_backward";
  for (guint i = 0; type != NULL && i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (type, types[i].type))
      return g_strdup (types[i].name);
  return g_strdup (type != NULL ? type : "hook");
}

char *
adj_captured_name_leaf (const AdjCaptured *captured, guint input)
{
  const char *name = input < adj_captured_get_n_inputs (captured)
                         ? adj_captured_get_input (captured, input)->name
                         : NULL;

  return name != NULL ? g_strdup (name) : g_strdup_printf ("inputs[%u]", input);
}

/* "clip" of "train.clip", "<lambda>" of "train.main.<locals>.<lambda>". */
static const char *
last_part (const char *name)
{
  const char *dot = strrchr (name, '.');

  return dot != NULL && dot[1] != '\0' ? dot + 1 : name;
}

/* "clip · tensor pre-hook", "tensor pre-hook · hooks[0]" */
static char *
name_hook (const AdjCaptured *self, guint index)
{
  const AdjCapturedNode *node = adj_captured_get_node (self, index);
  const char *name = adj_captured_get_text (self, "hooks", node->item, "name");
  g_autofree char *type = adj_captured_name_hook_type (self, index);

  if (name == NULL && node->kind == ADJ_CAPTURED_BACKWARD &&
      node->call < adj_captured_get_n_calls (self))
    name = adj_captured_get_call (self, node->call)->name;
  if (name != NULL)
    return g_strdup_printf ("%s · %s", last_part (name), type);
  return node->item != ADJ_CAPTURED_NONE ? g_strdup_printf ("%s · hooks[%u]", type, node->item)
                                         : g_steal_pointer (&type);
}

/* Keeps the end of the path, which tells parameters of one module apart. */
static char *
name_short (const AdjCaptured *self, guint32 input)
{
  g_autofree char *leaf = adj_captured_name_leaf (self, input);
  const char *dot = strrchr (leaf, '.');

  while (dot != NULL && dot > leaf && dot[-1] != '.')
    dot--;
  return g_strdup (dot != NULL ? dot : leaf);
}

static char *
name_input (const AdjCaptured *self, guint32 item)
{
  const AdjCapturedInput *input =
      item < self->inputs->len ? &g_array_index (self->inputs, AdjCapturedInput, item) : NULL;
  g_autofree char *leaf = NULL;

  if (input != NULL && input->from == ADJ_FROM_GRADIENT)
    return g_strdup ("gradient given");
  if (input == NULL || input->from == ADJ_FROM_SAVED)
    return g_strdup_printf ("inputs[%u]", item);
  leaf = name_short (self, input->from == ADJ_FROM_GRAD ? input->of : item);
  return input->from == ADJ_FROM_GRAD ? g_strdup_printf (".grad %s", leaf)
                                      : g_steal_pointer (&leaf);
}

char *
adj_captured_name_node (const AdjCaptured *captured, guint index)
{
  const AdjCapturedNode *node = adj_captured_get_node (captured, index);
  const char *name = adj_graph_get_node (captured->graph, index)->name;
  g_autofree char *leaf = NULL;

  switch (node->kind)
    {
    case ADJ_CAPTURED_LIST:
      return g_strdup_printf ("%s · %u", name, node->item);
    case ADJ_CAPTURED_INPUT:
      return name_input (captured, node->item);
    case ADJ_CAPTURED_HOOK:
    case ADJ_CAPTURED_BACKWARD:
      return name_hook (captured, index);
    case ADJ_CAPTURED_ACCUMULATE:
      if (node->leaf == ADJ_CAPTURED_NONE)
        return NULL;
      leaf = name_short (captured, node->leaf);
      return g_strdup_printf ("accumulate %s", leaf);
    case ADJ_CAPTURED_CALLBACKS:
      return g_strdup ("final callbacks");
    case ADJ_CAPTURED_SIZE:
    case ADJ_CAPTURED_HOOK_ITEM:
    case ADJ_CAPTURED_OTHER:
      break;
    }
  return NULL;
}
