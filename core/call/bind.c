/* SPDX-License-Identifier: MIT */
/* Binds positional and keyword arguments to a schema: defaults filled in, types checked. */

#include <string.h>

#include "call/adj-schema-internal.h"
#include "ir/adj-opaque.h"

static gboolean fail (const AdjSchema *schema, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

static gboolean
fail (const AdjSchema *schema, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE, "%.*s: %s", (int) strcspn (schema->text, "("),
               schema->text, message);
  return FALSE;
}

/* -- kinds -- */

#define KIND(k) (1u << ADJ_VALUE_##k)
#define NUMBERS (KIND (BOOL) | KIND (INT) | KIND (FLOAT) | KIND (SIZE))

/* What an argument of each type may be.  Enumerations may come as PyTorch's numbers. */
static const guint32 accepted[ADJ_N_TYPE_KINDS] = {
  [ADJ_TYPE_KIND_TENSOR] = KIND (TENSOR) | NUMBERS | KIND (COMPLEX),
  [ADJ_TYPE_KIND_SCALAR] = NUMBERS | KIND (COMPLEX),
  [ADJ_TYPE_KIND_INT] = KIND (INT) | KIND (SIZE) | KIND (BOOL),
  [ADJ_TYPE_KIND_SYMINT] = KIND (INT) | KIND (SIZE) | KIND (BOOL),
  [ADJ_TYPE_KIND_FLOAT] = NUMBERS,
  [ADJ_TYPE_KIND_BOOL] = KIND (BOOL) | KIND (INT),
  [ADJ_TYPE_KIND_STR] = KIND (STRING),
  [ADJ_TYPE_KIND_SCALAR_TYPE] = KIND (DTYPE) | KIND (INT),
  [ADJ_TYPE_KIND_LAYOUT] = KIND (LAYOUT) | KIND (INT),
  [ADJ_TYPE_KIND_DEVICE] = KIND (DEVICE),
  [ADJ_TYPE_KIND_MEMORY_FORMAT] = KIND (MEMORY_FORMAT) | KIND (INT),
  [ADJ_TYPE_KIND_GENERATOR] = KIND (OPAQUE_OBJECT) | KIND (NONE),
  [ADJ_TYPE_KIND_ANY] = G_MAXUINT32,
};

G_STATIC_ASSERT (ADJ_N_VALUE_KINDS <= 32);

/* -- classes of objects -- */

#define SCRIPTED "__torch__.torch.classes."

gboolean
adj_type_is_class (const AdjType *type)
{
  return type->kind == ADJ_TYPE_KIND_ANY && type->name != NULL &&
         strchr (type->name, '.') != NULL && strpbrk (type->name, "([") == NULL;
}

/* Whether @name, "ns::Queue" or "module.Scale", is the class that @text names. */
static gboolean
is_named (const char *name, const char *text)
{
  for (; *name != '\0' && *text != '\0'; name++, text++)
    {
      name += name[0] == ':' && name[1] == ':' && *text == '.';
      if (*name != *text && (*name != ':' || *text != '.'))
        return FALSE;
    }
  return *name == '\0' && (*text == '\0' || g_str_equal (text, "?"));
}

gboolean
adj_type_is_class_named (const AdjType *type, const char *name)
{
  gsize prefix = g_str_has_prefix (type->name, SCRIPTED) ? strlen (SCRIPTED) : 0;

  return is_named (name, type->name + prefix);
}

gboolean
adj_schema_takes_scripted (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (adj_type_is_class (&schema->arguments[i].type) &&
        g_str_has_prefix (schema->arguments[i].type.name, SCRIPTED))
      return TRUE;
  return FALSE;
}

/* A class is also that of a fake object, and of one whose content is not here. */
static gboolean
accepts_object (const AdjType *type, const AdjValue *value)
{
  const char *name =
      value->kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_opaque_get_type (value->object) : NULL;

  if (value->kind == ADJ_VALUE_NONE)
    return g_str_has_suffix (type->name, "?");
  return name != NULL && adj_type_is_class_named (type, name);
}

static gboolean
accepts_element (const AdjType *type, const AdjValue *value)
{
  /* A tensor may be undefined; which operators take that is for the call to say. */
  if (value->kind == ADJ_VALUE_NONE)
    return type->element_optional || (accepted[type->kind] & KIND (NONE)) != 0 ||
           (type->kind == ADJ_TYPE_KIND_TENSOR && !type->is_list);
  if (type->is_list && type->kind == ADJ_TYPE_KIND_TENSOR)
    return value->kind == ADJ_VALUE_TENSOR;
  /* The lowest integers are no sizes: they would read as symbols. */
  if (type->kind == ADJ_TYPE_KIND_INT || type->kind == ADJ_TYPE_KIND_SYMINT)
    if (value->kind == ADJ_VALUE_INT && !adj_size_is_int (ADJ_SIZE (value->integer)))
      return FALSE;
  return (accepted[type->kind] & (1u << value->kind)) != 0;
}

gboolean
adj_type_accepts (const AdjType *type, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_NONE && type->optional)
    return TRUE;
  if (adj_type_is_class (type))
    return accepts_object (type, value);
  if (!type->is_list || type->kind == ADJ_TYPE_KIND_ANY)
    return accepts_element (type, value);
  if (value->kind != ADJ_VALUE_LIST && value->kind != ADJ_VALUE_TUPLE)
    return type->list_size > 0 && accepts_element (type, value);
  for (guint i = 0; i < value->n; i++)
    if (!accepts_element (type, &value->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean
check (const AdjSchema *schema, guint index, const AdjValue *value, GError **error)
{
  const AdjArgument *argument = &schema->arguments[index];
  g_autoptr (GString) wanted = NULL;

  if (adj_type_accepts (&argument->type, value))
    return TRUE;

  wanted = g_string_new (NULL);
  g_string_printf (wanted, "argument '%s' must be ", argument->name);
  adj_type_print (&argument->type, wanted);
  g_string_append_printf (wanted, ", not %s", adj_value_kind_name (value->kind));
  if (value->kind == ADJ_VALUE_OPAQUE_OBJECT && adj_opaque_get_type (value->object) != NULL)
    g_string_append_printf (wanted, " of the class %s", adj_opaque_get_type (value->object));
  if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    for (guint i = 0; i < value->n; i++)
      if (!argument->type.is_list || !accepts_element (&argument->type, &value->items[i]))
        {
          g_string_append_printf (wanted, " of %s", adj_value_kind_name (value->items[i].kind));
          break;
        }
  return fail (schema, error, "%s", wanted->str);
}

/* -- binding -- */

static gboolean
bind_keywords (const AdjSchema *schema,
               const AdjValue *kwargs,
               AdjValue *bound,
               gboolean *given,
               GError **error)
{
  for (guint i = 0; i + 1 < kwargs->n; i += 2)
    {
      const AdjValue *key = &kwargs->items[i];
      guint k = 0;

      if (key->kind != ADJ_VALUE_STRING)
        return fail (schema, error, "a keyword is %s", adj_value_kind_name (key->kind));
      while (k < schema->n_arguments && strcmp (schema->arguments[k].name, key->text) != 0)
        k++;
      if (k == schema->n_arguments)
        return fail (schema, error, "there is no argument '%s'", key->text);
      if (given[k])
        return fail (schema, error, "argument '%s' is given twice", key->text);
      given[k] = TRUE;
      bound[k] = kwargs->items[i + 1];
    }
  return TRUE;
}

gboolean
adj_schema_bind (const AdjSchema *schema,
                 const AdjValue *args,
                 const AdjValue *kwargs,
                 AdjValue *bound,
                 GError **error)
{
  gboolean given[ADJ_MAX_ARGUMENTS] = { FALSE };
  guint n_args = args != NULL && args->kind != ADJ_VALUE_NONE ? args->n : 0;

  if (n_args > schema->n_positional)
    return fail (schema, error, "takes %u positional arguments, not %u", schema->n_positional,
                 n_args);
  for (guint i = 0; i < n_args; i++)
    {
      given[i] = TRUE;
      bound[i] = args->items[i];
    }
  if (kwargs != NULL && kwargs->kind == ADJ_VALUE_DICT &&
      !bind_keywords (schema, kwargs, bound, given, error))
    return FALSE;

  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const AdjArgument *argument = &schema->arguments[i];

      if (given[i] && !check (schema, i, &bound[i], error))
        return FALSE;
      if (!given[i] && !argument->has_default)
        return fail (schema, error, "argument '%s' is missing", argument->name);
      if (!given[i])
        bound[i] = argument->default_value;
    }
  return TRUE;
}
