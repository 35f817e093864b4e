/* SPDX-License-Identifier: MIT */

/* Values in graph text: Python's repr(), names of nodes, and text that cannot be read. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "ir/adj-opaque.h"
#include "ir/parse-private.h"

/* Arguments add a level or two of their own. */
#define MAX_DEPTH (ADJ_MAX_DEPTH - 3)
/* -- Containers ---- */

static gboolean
read_item (AdjReader *reader, GArray *items)
{
  AdjValue item = ADJ_NONE;

  if (!adj_reader_read (reader, &item))
    return FALSE;

  g_array_append_val (items, item);

  return TRUE;
}

gboolean
adj_reader_read_items (AdjReader *reader, GArray *items, const char *close)
{
  while (!adj_reader_take (reader, close))
    {
      if (!read_item (reader, items))
        return FALSE;
      if (!adj_reader_take (reader, ",") && !adj_reader_at (reader, close))
        return FALSE;
    }

  return TRUE;
}

static gboolean
read_list (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  adj_reader_advance (reader);
  if (!adj_reader_read_items (reader, items, "]"))
    return FALSE;

  *out = adj_value_array_end (items, ADJ_VALUE_LIST);

  return TRUE;
}

/* ( ), (a,), (a, b), (1+2j), and (a), which is a. */
static gboolean
read_tuple (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  AdjReader start;
  gboolean has_comma;

  adj_reader_advance (reader);
  start = *reader;
  if (adj_reader_read_complex (reader, out))
    return TRUE;
  *reader = start;

  if (adj_reader_take (reader, ")"))
    {
      *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
      return TRUE;
    }

  if (!read_item (reader, items))
    return FALSE;
  has_comma = adj_reader_take (reader, ",");
  if (!has_comma && adj_reader_take (reader, ")"))
    {
      *out = adj_value_steal (&g_array_index (items, AdjValue, 0));
      return TRUE;
    }
  if (!has_comma || !adj_reader_read_items (reader, items, ")"))
    return FALSE;

  *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);

  return TRUE;
}

static gboolean
read_dict (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  adj_reader_advance (reader);
  while (!adj_reader_take (reader, "}"))
    {
      if (!read_item (reader, items) || !adj_reader_take (reader, ":") ||
          !read_item (reader, items))
        return FALSE;
      if (!adj_reader_take (reader, ",") && !adj_reader_at (reader, "}"))
        return FALSE;
    }

  *out = adj_value_array_end (items, ADJ_VALUE_DICT);

  return TRUE;
}

/* -- Values that look like calls; the opening bracket is taken ---- */

static gboolean
read_slice (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  AdjValue none = ADJ_NONE;

  if (!adj_reader_read_items (reader, items, ")") || items->len < 1 || items->len > 3)
    return FALSE;
  if (items->len == 1)
    g_array_insert_val (items, 0, none);
  if (items->len == 2)
    g_array_append_val (items, none);

  *out = adj_value_array_end (items, ADJ_VALUE_SLICE);

  return TRUE;
}

static gboolean
read_range (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  AdjValue zero = ADJ_INT (0), one = ADJ_INT (1);

  if (!adj_reader_read_items (reader, items, ")") || items->len < 1 || items->len > 3)
    return FALSE;
  if (items->len == 1)
    g_array_insert_val (items, 0, zero);
  if (items->len == 2)
    g_array_append_val (items, one);

  *out = adj_value_array_end (items, ADJ_VALUE_RANGE);

  return TRUE;
}

/* torch.Size([2, 3]): a tuple */
static gboolean
read_size (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) sizes = ADJ_NONE;

  if (!adj_reader_read (reader, &sizes) ||
      (sizes.kind != ADJ_VALUE_LIST && sizes.kind != ADJ_VALUE_TUPLE))
    return FALSE;
  adj_reader_take (reader, ",");
  if (!adj_reader_take (reader, ")"))
    return FALSE;

  sizes.kind = ADJ_VALUE_TUPLE;
  *out = adj_value_steal (&sizes);

  return TRUE;
}

/* float('-inf') */
static gboolean
read_float (AdjReader *reader, AdjValue *out)
{
  static const struct
  {
    const char *text;
    double number;
  } names[] = { { "inf", INFINITY },      { "-inf", -INFINITY }, { "nan", NAN },
                { "infinity", INFINITY }, { "+inf", INFINITY },  { "-infinity", -INFINITY } };
  g_auto (AdjValue) text = ADJ_NONE;

  if (!adj_reader_read (reader, &text) || text.kind != ADJ_VALUE_STRING ||
      !adj_reader_take (reader, ")"))
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (names[i].text, text.text) == 0)
      {
        *out = ADJ_FLOAT (names[i].number);
        return TRUE;
      }

  return FALSE;
}

/* complex(0.0, -1.0), as FX writes what repr() does not say: zeros with a sign, infinity */
static gboolean
read_complex_call (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) real = ADJ_NONE;
  g_auto (AdjValue) imaginary = ADJ_NONE;

  if (!adj_reader_read_signed (reader, &real) || !adj_reader_take (reader, ",") ||
      !adj_reader_read_signed (reader, &imaginary) || !adj_reader_take (reader, ")") ||
      real.kind != ADJ_VALUE_FLOAT || imaginary.kind != ADJ_VALUE_FLOAT)
    return FALSE;
  *out = adj_value_new_items (ADJ_VALUE_COMPLEX, (AdjValue[2]){ real, imaginary }, 2);
  return TRUE;
}

/* device(type='cuda', index=0), device('cuda:0') */
static gboolean
read_device (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) type = ADJ_NONE;
  g_auto (AdjValue) index = ADJ_NONE;
  AdjDevice device;

  if (adj_reader_at_name (reader, "type"))
    {
      adj_reader_advance (reader);
      if (!adj_reader_take (reader, "="))
        return FALSE;
    }
  if (!adj_reader_read (reader, &type) || type.kind != ADJ_VALUE_STRING ||
      !adj_device_parse (type.text, type.n, &device))
    return FALSE;

  if (adj_reader_take (reader, ",") && !adj_reader_at (reader, ")"))
    {
      if (adj_reader_at_name (reader, "index"))
        {
          adj_reader_advance (reader);
          if (!adj_reader_take (reader, "="))
            return FALSE;
        }
      if (!adj_reader_read (reader, &index) || index.kind != ADJ_VALUE_INT || index.integer < 0 ||
          index.integer > G_MAXINT8)
        return FALSE;
      device.index = index.integer;
      adj_reader_take (reader, ",");
    }

  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };

  return adj_reader_take (reader, ")");
}

static gboolean
set_meta_field (AdjReader *reader, const char *key, const AdjValue *value, AdjTensorMeta *meta)
{
  if (g_str_equal (key, "alias") && value->kind == ADJ_VALUE_INT)
    meta->storage = CLAMP (value->integer, -1, G_MAXINT32);
  else if (g_str_equal (key, "requires_grad") && value->kind == ADJ_VALUE_BOOL)
    meta->requires_grad = value->boolean;
  else if (g_str_equal (key, "layout") && value->kind == ADJ_VALUE_STRING)
    meta->layout = MIN (adj_layout_from_name (value->text), ADJ_N_LAYOUTS - 1);
  else if (g_str_equal (key, "offset") && value->kind == ADJ_VALUE_STRING)
    return adj_size_parse (reader->symbols, value->text, value->n, &meta->shape.offset, NULL);
  else
    return FALSE;

  return TRUE;
}

/* meta('f32[2][1]cpu', alias=3): our spelling of a tensor's description */
static gboolean
read_meta (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) text = ADJ_NONE;
  AdjTensorMeta meta;

  if (!adj_reader_read (reader, &text) || text.kind != ADJ_VALUE_STRING ||
      !adj_tensor_meta_parse (text.text, text.n, reader->symbols, &meta, NULL))
    return FALSE;

  while (adj_reader_take (reader, ","))
    {
      g_autofree char *key = adj_token_dup (&reader->token);
      g_auto (AdjValue) value = ADJ_NONE;

      adj_reader_advance (reader);
      if (!adj_reader_take (reader, "=") || !adj_reader_read (reader, &value) ||
          !set_meta_field (reader, key, &value, &meta))
        return FALSE;
    }
  if (!adj_reader_take (reader, ")"))
    return FALSE;

  *out = (AdjValue){ .kind = ADJ_VALUE_META, .meta = g_memdup2 (&meta, sizeof meta) };

  return TRUE;
}

/* Sym('2*s0'): our spelling of a symbolic scalar */
static gboolean
read_sym (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) text = ADJ_NONE;

  if (!reader->symbols || !adj_reader_read (reader, &text) || text.kind != ADJ_VALUE_STRING ||
      !adj_reader_take (reader, ")"))
    return FALSE;

  out->kind = ADJ_VALUE_SIZE;

  return adj_size_parse (reader->symbols, text.text, text.n, &out->size, NULL);
}

/* Object('_TorchScriptTesting::_TensorQueue'): an object, of which text has the class. */
static gboolean
read_object (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) text = ADJ_NONE;

  if (!adj_reader_read (reader, &text) || text.kind != ADJ_VALUE_STRING ||
      !adj_reader_take (reader, ")"))
    return FALSE;
  *out = ADJ_OPAQUE (adj_opaque_new_of_type (text.text));

  return TRUE;
}

/* -- Names ---- */

typedef gboolean (*ReadFunc) (AdjReader *reader, AdjValue *out);

static const struct
{
  const char *name;
  ReadFunc read;
} calls[] = {
  { "slice", read_slice },          { "range", read_range }, { "device", read_device },
  { "torch.device", read_device },  { "meta", read_meta },   { "Sym", read_sym },
  { "torch.Size", read_size },      { "float", read_float }, { "Object", read_object },
  { "complex", read_complex_call },
};

static const struct
{
  const char *name;
  AdjValue value;
} constants[] = {
  { "None", { .kind = ADJ_VALUE_NONE } },
  { "True", { .kind = ADJ_VALUE_BOOL, .boolean = TRUE } },
  { "False", { .kind = ADJ_VALUE_BOOL, .boolean = FALSE } },
  { "Ellipsis", { .kind = ADJ_VALUE_ELLIPSIS } },
  { "inf", { .kind = ADJ_VALUE_FLOAT, .number = INFINITY } },
  { "nan", { .kind = ADJ_VALUE_FLOAT, .number = NAN } },
  { "math.inf", { .kind = ADJ_VALUE_FLOAT, .number = INFINITY } },
  { "math.nan", { .kind = ADJ_VALUE_FLOAT, .number = NAN } },
  { "math.pi", { .kind = ADJ_VALUE_FLOAT, .number = G_PI } },
  { "torch.inf", { .kind = ADJ_VALUE_FLOAT, .number = INFINITY } },
  { "torch.nan", { .kind = ADJ_VALUE_FLOAT, .number = NAN } },
  { "torch.pi", { .kind = ADJ_VALUE_FLOAT, .number = G_PI } },
};

static gboolean
read_constant (const char *name, AdjValue *out)
{
  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    if (g_str_equal (constants[i].name, name))
      {
        *out = constants[i].value;
        return TRUE;
      }

  return FALSE;
}

/* torch.float32, torch.strided, torch.preserve_format, torch.ops.aten.add.Tensor */
static void
read_torch_name (const char *path, AdjValue *out)
{
  const char *name = path + strlen ("torch.");
  AdjDType dtype = adj_dtype_from_torch_name (name);
  AdjLayout layout = adj_layout_from_name (name);
  AdjMemoryFormat format = adj_memory_format_from_name (name);

  if (dtype != ADJ_DTYPE_NONE)
    *out = ADJ_DTYPE (dtype);
  else if (layout != ADJ_N_LAYOUTS)
    *out = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = layout };
  else if (format != ADJ_N_MEMORY_FORMATS)
    *out = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format };
  else
    {
      *out = adj_value_new_string (path);
      out->kind = ADJ_VALUE_OP;
    }
}

gboolean
adj_value_from_path (const char *path, AdjValue *out)
{
  if (read_constant (path, out))
    return TRUE;
  if (!g_str_has_prefix (path, "torch."))
    return FALSE;

  read_torch_name (path, out);

  return TRUE;
}

gboolean
adj_reader_read_value_call (AdjReader *reader, const char *name, AdjValue *out, gboolean *ok)
{
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (g_str_equal (calls[i].name, name))
      {
        adj_reader_advance (reader);
        *ok = calls[i].read (reader, out);
        return TRUE;
      }

  return FALSE;
}

static char *
read_path (AdjReader *reader)
{
  GString *path = g_string_new (NULL);

  g_string_append_len (path, reader->token.text, reader->token.length);
  adj_reader_advance (reader);
  while (adj_reader_at (reader, "."))
    {
      adj_reader_advance (reader);
      g_string_append_c (path, '.');
      if (reader->token.kind != ADJ_TOKEN_NAME)
        break;
      g_string_append_len (path, reader->token.text, reader->token.length);
      adj_reader_advance (reader);
    }

  return g_string_free (path, FALSE);
}

static gboolean
read_name (AdjReader *reader, AdjValue *out)
{
  g_autofree char *path = read_path (reader);

  gboolean ok;

  if (adj_reader_at (reader, "("))
    return adj_reader_read_value_call (reader, path, out, &ok) && ok;
  if (reader->resolve && reader->resolve (path, out, reader->data))
    return TRUE;

  return adj_value_from_path (path, out);
}

/* -- Any value ---- */

gboolean
adj_reader_read_operand (AdjReader *reader, AdjValue *out)
{
  gboolean ok = FALSE;
  AdjValue value = ADJ_NONE;

  if (reader->depth >= MAX_DEPTH)
    return FALSE;

  reader->depth++;
  if (adj_reader_at (reader, "["))
    ok = read_list (reader, &value);
  else if (adj_reader_at (reader, "("))
    ok = read_tuple (reader, &value);
  else if (adj_reader_at (reader, "{"))
    ok = read_dict (reader, &value);
  else if (reader->token.kind == ADJ_TOKEN_STRING)
    ok = adj_reader_read_string (reader, &value);
  else if (reader->token.kind == ADJ_TOKEN_NAME)
    ok = read_name (reader, &value);
  else
    ok = adj_reader_read_signed (reader, &value);
  reader->depth--;

  if (ok)
    *out = value;
  else
    adj_value_clear (&value);

  return ok;
}
