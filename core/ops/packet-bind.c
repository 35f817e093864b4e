/* SPDX-License-Identifier: MIT */

/* Binds a Python call to an operator, by rules freer than its schema's. */

#include <string.h>

#include "ops/packet-private.h"

typedef struct
{
  PacketCall *call;
  const AdjSchema *schema;
  gboolean takes_numbers;
  AdjValue *bound; /* by argument */
  gboolean *given;
  const char *why;
} Binding;

static gboolean fail (Binding *b, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (Binding *b, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list list;

  va_start (list, format);
  text = g_strdup_vprintf (format, list);
  va_end (list);
  b->why = adj_arena_strdup (b->call->arena, text);
  return FALSE;
}

/* -- kinds -- */

static gboolean
is_number (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_FLOAT ||
         value->kind == ADJ_VALUE_BOOL || value->kind == ADJ_VALUE_SIZE ||
         value->kind == ADJ_VALUE_COMPLEX;
}

static gboolean
is_size (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_SIZE;
}

/* Python's parser distinguishes bools from integers, and numbers from tensors. */
static gboolean
is_strict (const Binding *b, const AdjType *type, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_NONE)
    return type->optional || type->is_list || type->kind != ADJ_TYPE_KIND_TENSOR;
  if (type->kind == ADJ_TYPE_KIND_TENSOR && is_number (value))
    return b->takes_numbers && !type->is_list;
  if ((type->kind == ADJ_TYPE_KIND_INT || type->kind == ADJ_TYPE_KIND_SYMINT) &&
      value->kind == ADJ_VALUE_BOOL)
    return FALSE;
  return type->kind != ADJ_TYPE_KIND_BOOL || value->kind != ADJ_VALUE_INT;
}

/* Expands a number to a list of fixed length, int[2]. */
static AdjValue
repeat (Binding *b, const AdjValue *value, guint n)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = n };

  list.items = adj_arena_new0 (b->call->arena, AdjValue, n);
  for (guint i = 0; i < n; i++)
    list.items[i] = *value;
  return list;
}

static void
set (Binding *b, guint index, const AdjValue *value)
{
  const AdjType *type = &b->schema->arguments[index].type;
  AdjDevice device;

  b->bound[index] = *value;
  b->given[index] = TRUE;
  if (type->kind == ADJ_TYPE_KIND_DEVICE && value->kind == ADJ_VALUE_STRING &&
      adj_device_parse (value->text, value->n, &device))
    b->bound[index] = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  if (type->kind == ADJ_TYPE_KIND_FLOAT && value->kind == ADJ_VALUE_INT)
    b->bound[index] = ADJ_FLOAT ((double) value->integer);
  if (type->is_list && type->list_size > 0 && is_number (value) && value->kind != ADJ_VALUE_BOOL)
    b->bound[index] = repeat (b, value, (guint) type->list_size);
}

static gboolean
check (Binding *b, guint index)
{
  const AdjArgument *argument = &b->schema->arguments[index];
  g_autoptr (GString) wanted = NULL;

  if (adj_type_accepts (&argument->type, &b->bound[index]) &&
      is_strict (b, &argument->type, &b->bound[index]))
    return TRUE;
  wanted = g_string_new (NULL);
  adj_type_print (&argument->type, wanted);
  return fail (b, "'%s' must be %s, not %s", argument->name, wanted->str,
               adj_value_kind_name (b->bound[index].kind));
}

/* -- positional arguments -- */

static gboolean
is_self (const AdjArgument *argument)
{
  return strcmp (argument->name, "self") == 0 && argument->type.kind == ADJ_TYPE_KIND_TENSOR;
}

/* Whether argument @index takes all remaining arguments: the last one, a list of tensors without
 * arguments before it, or a list of sizes as the only argument besides self. */
static gboolean
gathers (const Binding *b, guint index, const AdjValue *value)
{
  const AdjSchema *schema = b->schema;
  guint first = schema->n_arguments > 0 && is_self (&schema->arguments[0]) ? 1 : 0;
  const AdjType *type = &schema->arguments[index].type;

  if (type->is_list && type->kind == ADJ_TYPE_KIND_TENSOR)
    return index + 1 == schema->n_positional && value->kind == ADJ_VALUE_TENSOR &&
           (index == 0 || !schema->arguments[0].type.is_list);
  return index == first && schema->n_positional == first + 1 && type->is_list &&
         (type->kind == ADJ_TYPE_KIND_INT || type->kind == ADJ_TYPE_KIND_SYMINT) && is_size (value);
}

static gboolean
bind_positional (Binding *b, const AdjValue *args)
{
  guint n = args != NULL && args->kind != ADJ_VALUE_NONE ? args->n : 0;

  for (guint i = 0; i < n; i++)
    {
      if (i >= b->schema->n_positional)
        return fail (b, "it takes %u positional arguments, not %u", b->schema->n_positional, n);
      if (gathers (b, i, &args->items[i]))
        {
          AdjValue list = { .kind = ADJ_VALUE_LIST, .n = n - i, .items = &args->items[i] };

          set (b, i, &list);
          return TRUE;
        }
      set (b, i, &args->items[i]);
    }
  return TRUE;
}

/* -- keywords -- */

static gboolean
goes_by (const AdjArgument *argument, const char *word)
{
  static const struct
  {
    const char *word;
    const char *name;
  } others[] = {
    { "input", "self" }, { "x", "self" },   { "axis", "dim" },   { "keepdims", "keepdim" },
    { "a", "self" },     { "x2", "other" }, { "shape", "size" },
  };

  if (strcmp (argument->name, word) == 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (others[i].word, word) == 0 && strcmp (others[i].name, argument->name) == 0)
      return TRUE;
  return FALSE;
}

/* Keywords whose value has no effect. */
static gboolean
means_nothing (const char *word, const AdjValue *value)
{
  if (strcmp (word, "requires_grad") == 0)
    return value->kind == ADJ_VALUE_BOOL && !value->boolean;
  return value->kind == ADJ_VALUE_NONE &&
         (strcmp (word, "out") == 0 || strcmp (word, "generator") == 0);
}

static gboolean
bind_keyword (Binding *b, const AdjValue *key, const AdjValue *value)
{
  const char *word = key->kind == ADJ_VALUE_STRING ? key->text : "";
  guint i = 0;

  while (i < b->schema->n_arguments && !goes_by (&b->schema->arguments[i], word))
    i++;
  if (i < b->schema->n_arguments && b->given[i])
    return fail (b, "'%s' is given twice", word);
  if (i < b->schema->n_arguments)
    set (b, i, value);
  else if (!means_nothing (word, value))
    return fail (b, "there is no argument '%s'", word);
  return TRUE;
}

/* -- the call -- */

static gint
find (const AdjSchema *schema, const char *name)
{
  for (guint i = schema->n_positional; i < schema->n_arguments; i++)
    if (strcmp (schema->arguments[i].name, name) == 0)
      return (gint) i;
  return -1;
}

static gboolean
is_told (const Binding *b, guint arg)
{
  return b->given[arg] && b->bound[arg].kind != ADJ_VALUE_NONE;
}

/* Sets the device of a new tensor, as Python does. */
static void
place (Binding *b)
{
  gint pinned = find (b->schema, "pin_memory"), device = find (b->schema, "device");

  if (pinned < 0 || device < 0 || b->schema->ns[0] != 'a' || strcmp (b->schema->name, "to") == 0)
    return;
  if (!is_told (b, (guint) pinned))
    set (b, (guint) pinned, &ADJ_BOOL (FALSE));
  if (!is_told (b, (guint) device) && !is_self (&b->schema->arguments[0]))
    set (b, (guint) device, &(AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = ADJ_CPU });
}

/* Stores positional arguments up to the last one given, and keyword-only ones by name. */
static gboolean
lay_out (Binding *b)
{
  const AdjSchema *schema = b->schema;
  PacketCall *call = b->call;
  AdjValue *words = adj_arena_new0 (call->arena, AdjValue, 2 * schema->n_arguments + 1);
  guint n = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const AdjArgument *argument = &schema->arguments[i];

      if (!b->given[i] && !argument->has_default)
        return fail (b, "'%s' is missing", argument->name);
      if (b->given[i] && !check (b, i))
        return FALSE;
      if (!b->given[i])
        b->bound[i] = argument->default_value;
      else if (i < schema->n_positional)
        n = i + 1;
    }
  call->args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = b->bound };
  call->kwargs = (AdjValue){ .kind = ADJ_VALUE_DICT, .items = words };
  for (guint i = schema->n_positional; i < schema->n_arguments; i++)
    if (b->given[i])
      {
        const char *name = schema->arguments[i].name;

        words[call->kwargs.n++] =
            (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (name), .text = name };
        words[call->kwargs.n++] = b->bound[i];
      }
  return TRUE;
}

gboolean
packet_bind (PacketCall *call,
             const AdjSchema *schema,
             gboolean takes_numbers,
             const AdjValue *args,
             const AdjValue *kwargs,
             const char **why)
{
  Binding b = { .call = call, .schema = schema, .takes_numbers = takes_numbers };
  gboolean fits;

  b.bound = adj_arena_new0 (call->arena, AdjValue, schema->n_arguments + 1);
  b.given = adj_arena_new0 (call->arena, gboolean, schema->n_arguments + 1);
  fits = bind_positional (&b, args);
  for (guint i = 0; fits && kwargs != NULL && i + 1 < kwargs->n; i += 2)
    fits = bind_keyword (&b, &kwargs->items[i], &kwargs->items[i + 1]);
  if (fits)
    place (&b);
  fits = fits && lay_out (&b);
  *why = b.why;
  return fits;
}
