/* SPDX-License-Identifier: MIT */
/* Metadata of the nodes of exported programs: texts with lists in them. */

#include <string.h>

#include "formats/pt2-graph-private.h"
#include "ir/adj-graph.h"

#define MAX_MODULES 1000

/* Where the text up to @separator outside of brackets and quotes ends. */
static const char *
part_end (const char *at, char separator)
{
  guint depth = 0;
  char quote = '\0';

  for (; *at != '\0'; at++)
    if (quote != '\0')
      quote = *at == quote ? '\0' : quote;
    else if (*at == '\'' || *at == '"')
      quote = *at;
    else if (*at == '(' || *at == '[')
      depth++;
    else if (*at == ')' || *at == ']')
      depth -= depth > 0;
    else if (*at == separator && depth == 0)
      break;
  return at;
}

static const char *
last_part (const char *name)
{
  const char *dot = strrchr (name, '.');

  return dot != NULL ? dot + 1 : name;
}

/* "L__self___fc,fc,torch.nn.modules.linear.Linear": path and class. */
static gboolean
read_module (AdjArena *arena, const char *at, const char *end, AdjModule *out)
{
  g_autofree char *text = g_strndup (at, (gsize) (end - at));
  const char *path = part_end (text, ',');
  const char *type = *path == ',' ? part_end (path + 1, ',') : path;

  if (*type != ',' || type == path + 1)
    return FALSE;
  out->path = adj_arena_strndup (arena, path + 1, (gsize) (type - path - 1));
  out->class_name = adj_arena_strdup (arena, last_part (type + 1));
  return TRUE;
}

/* Modules from the outside in; the outermost, which has no path, is left out. */
static void
read_modules (AdjArena *arena, const char *text, AdjNodeMeta *out)
{
  g_autoptr (GArray) modules = g_array_new (FALSE, FALSE, sizeof (AdjModule));

  while (*text != '\0' && modules->len < MAX_MODULES)
    {
      const char *end = part_end (text, ';');
      AdjModule module;

      if (read_module (arena, text, end, &module))
        g_array_append_val (modules, module);
      text = *end == ';' ? end + 1 : end;
    }
  out->n_modules = modules->len;
  out->modules = modules->len > 0
                     ? adj_arena_memdup (arena, modules->data, modules->len * sizeof (AdjModule))
                     : NULL;
}

/* Says how the call came about, which the frames and modules say better. */
static gboolean
is_passed_over (const char *key)
{
  return strcmp (key, "torch_fn") == 0 || strcmp (key, "source_fn_stack") == 0 ||
         strcmp (key, "from_node") == 0;
}

static void
keep (GArray *extra, const JsonItem *item)
{
  AdjValue pair[2] = {
    { .kind = ADJ_VALUE_STRING, .n = (guint) strlen (item->key), .text = item->key },
    { .kind = ADJ_VALUE_STRING, .n = item->n, .text = item->text },
  };

  g_array_append_vals (extra, pair, 2);
}

void
pt2_read_node_meta (const Pt2Scope *scope, const JsonItem *metadata, AdjNodeMeta *out)
{
  g_autoptr (GArray) extra = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  *out = (AdjNodeMeta) ADJ_NODE_META_INIT;
  for (guint i = 0; metadata != NULL && metadata->kind == JSON_OBJECT && i < metadata->n; i++)
    {
      const JsonItem *item = &metadata->items[i];

      if (item->kind != JSON_STRING || is_passed_over (item->key))
        continue;
      if (strcmp (item->key, "stack_trace") == 0)
        out->stack_trace = item->text;
      else if (strcmp (item->key, "nn_module_stack") == 0)
        read_modules (scope->arena, item->text, out);
      else
        keep (extra, item);
    }
  if (extra->len > 0)
    {
      AdjValue *dict = adj_arena_new0 (scope->arena, AdjValue, 1);

      *dict = (AdjValue){ .kind = ADJ_VALUE_DICT,
                          .n = extra->len,
                          .items = adj_arena_memdup (scope->arena, extra->data,
                                                     extra->len * sizeof (AdjValue)) };
      out->extra = dict;
    }
}
