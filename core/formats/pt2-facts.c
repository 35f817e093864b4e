/* SPDX-License-Identifier: MIT */
/* What an exported program says beside its graph: how its modules are called, and what its guards
 * check. */

#include <string.h>

#include "formats/pt2-graph-private.h"

/* Of one fact, in bytes. */
#define MAX_TEXT (4 << 20)

static gboolean
is_list (const JsonItem *item)
{
  return item != NULL && item->kind == JSON_ARRAY;
}

/* "x, w": an argument that is no value of the graph by its kind. */
static void
print_arguments (const JsonItem *list, GString *out)
{
  for (guint i = 0; is_list (list) && i < list->n && out->len < MAX_TEXT; i++)
    {
      const char *kind = "?", *name = pt2_name_of (&list->items[i]);

      if (name == NULL)
        pt2_union (&list->items[i], &kind);
      g_string_append_printf (out, "%s%s", i > 0 ? ", " : "", name != NULL ? name : kind);
    }
}

/* That of the program names nothing. */
static void
print_call (const JsonItem *inputs, const JsonItem *outputs, GString *out)
{
  if (!is_list (inputs) || !is_list (outputs) || inputs->n + outputs->n == 0)
    return;
  g_string_append (out, " (");
  print_arguments (inputs, out);
  g_string_append (out, ") -> (");
  print_arguments (outputs, out);
  g_string_append_c (out, ')');
}

static void
print_names (const JsonItem *list, GString *out)
{
  if (!is_list (list))
    return;
  g_string_append (out, "\n    forward");
  for (guint i = 0; i < list->n && out->len < MAX_TEXT; i++)
    if (list->items[i].kind == JSON_STRING)
      g_string_append_printf (out, " %s", list->items[i].text);
}

static void
append_text (GString *out, const char *text)
{
  g_string_append_len (out, text, (gssize) strnlen (text, MAX_TEXT));
}

static void
print_text (const JsonItem *signature, const char *member, GString *out)
{
  const char *text = json_get_text (signature, member);

  if (text == NULL)
    return;
  g_string_append_printf (out, "\n    %s ", member);
  append_text (out, text);
}

/* {"fqn": "fc1", "signature": {"inputs": […], "outputs": […], "in_spec": "…", …}}; a module whose
 * signature was not kept has none. */
static void
print_module (const JsonItem *entry, GString *out)
{
  const JsonItem *signature = json_get (entry, "signature");
  const char *name = json_get_text (entry, "fqn");

  g_string_append (out, name != NULL && *name != '\0' ? name : "the program");
  if (signature == NULL || signature->kind != JSON_OBJECT)
    return;
  print_call (json_get (signature, "inputs"), json_get (signature, "outputs"), out);
  print_names (json_get (signature, "forward_arg_names"), out);
  print_text (signature, "in_spec", out);
  print_text (signature, "out_spec", out);
}

static void
print_guard (const JsonItem *guard, GString *out)
{
  if (guard->kind == JSON_STRING)
    append_text (out, guard->text);
}

/* The items of @list, each on lines of its own, as the fact @name. */
static void
add_list (const Pt2Program *program,
          const char *name,
          const JsonItem *list,
          void (*print) (const JsonItem *item, GString *out))
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GBytes) bytes = NULL;
  AdjBundleFact fact = { .name = name };
  const char *end;

  if (!is_list (list) || list->n == 0)
    return;
  for (guint i = 0; i < list->n && text->len < MAX_TEXT; i++)
    {
      if (i > 0)
        g_string_append_c (text, '\n');
      print (&list->items[i], text);
    }
  if (text->len > MAX_TEXT)
    {
      g_string_truncate (text, MAX_TEXT);
      g_utf8_validate (text->str, (gssize) text->len, &end);
      g_string_truncate (text, (gsize) (end - text->str));
      g_string_append (text, "…");
    }
  bytes = g_bytes_new (text->str, text->len);
  fact.text = bytes;
  if (!adj_bundle_builder_add_fact (program->builder, &fact, program->id))
    adj_diags_add (program->archive->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "%s is left out: there is too much beside the graphs", name);
}

void
pt2_add_facts (const Pt2Program *program)
{
  const JsonItem *module = json_get (program->root, "graph_module");

  add_list (program, "module_call_graph", json_get (module, "module_call_graph"), print_module);
  add_list (program, "guards_code", json_get (program->root, "guards_code"), print_guard);
}
