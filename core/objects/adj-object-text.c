/* SPDX-License-Identifier: MIT */
/* Objects and their states as text. */

#include "objects/adj-object-text.h"

#include "ir/adj-text.h"

static void print_value (const AdjValue *value, guint max_items, GString *out);

static void
print_tensor (const AdjTensorData *data, guint max_items, GString *out)
{
  g_autofree char *text = adj_tensor_data_print (data, max_items);

  for (const char *at = text; *at != '\0'; at++)
    {
      g_string_append_c (out, *at);
      if (*at == '\n')
        g_string_append (out, "    ");
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
      print_value (&value->items[i], max_items, out);
    }
  g_string_append_c (out, list ? ']' : ')');
}

static void
print_value (const AdjValue *value, guint max_items, GString *out)
{
  if (value->kind == ADJ_VALUE_DATA)
    print_tensor (value->data, max_items, out);
  else if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    print_items (value, max_items, out);
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
      print_value (&pair->items[1], max_items, out);
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
