/* SPDX-License-Identifier: MIT */

/* Values as Python's repr() writes them. */

#include <math.h>
#include <string.h>

#include "base/adj-lexer.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-text.h"
#include "ir/text-private.h"

typedef struct
{
  const AdjGraph *graph; /* (nullable) */
  GString *out;
} Printer;

static void print_value (const Printer *p, const AdjValue *value);

static void
print_items (const Printer *p, const AdjValue *value)
{
  for (guint i = 0; i < value->n; i++)
    {
      if (i > 0)
        g_string_append (p->out, ", ");
      print_value (p, &value->items[i]);
    }
}

static void
print_list (const Printer *p, const AdjValue *value)
{
  g_string_append_c (p->out, '[');
  print_items (p, value);
  g_string_append_c (p->out, ']');
}

static void
print_tuple (const Printer *p, const AdjValue *value)
{
  g_string_append_c (p->out, '(');
  print_items (p, value);
  g_string_append (p->out, value->n == 1 ? ",)" : ")");
}

static void
print_dict (const Printer *p, const AdjValue *value)
{
  g_string_append_c (p->out, '{');
  for (guint i = 0; i + 1 < value->n; i += 2)
    {
      if (i > 0)
        g_string_append (p->out, ", ");
      print_value (p, &value->items[i]);
      g_string_append (p->out, ": ");
      print_value (p, &value->items[i + 1]);
    }
  g_string_append_c (p->out, '}');
}

static void
print_slice (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, "slice(");
  print_items (p, value);
  g_string_append_c (p->out, ')');
}

static void
print_range (const Printer *p, const AdjValue *value)
{
  AdjValue shown = *value;

  /* repr() leaves a step of 1 out. */
  if (shown.n == 3 && shown.items[2].kind == ADJ_VALUE_INT && shown.items[2].integer == 1)
    shown.n = 2;
  g_string_append (p->out, "range(");
  print_items (p, &shown);
  g_string_append_c (p->out, ')');
}

/* A part of a complex number: whole numbers have no ".0" there. */
static void
print_part (GString *out, double number)
{
  gsize start = out->len;

  adj_print_float (out, number);
  if (out->len - start > 2 && strcmp (out->str + out->len - 2, ".0") == 0)
    g_string_truncate (out, out->len - 2);
}

static void
print_complex (const Printer *p, const AdjValue *value)
{
  double real = value->items[0].number;
  double imaginary = value->items[1].number;

  if (!isfinite (imaginary)) /* "infj" would be a name */
    {
      g_string_append (p->out, "complex(");
      adj_print_float (p->out, real);
      g_string_append (p->out, ", ");
      adj_print_float (p->out, imaginary);
      g_string_append_c (p->out, ')');
      return;
    }
  if (real == 0 && !signbit (real))
    {
      print_part (p->out, imaginary);
      g_string_append_c (p->out, 'j');
      return;
    }

  g_string_append_c (p->out, '(');
  print_part (p->out, real);
  if (!signbit (imaginary))
    g_string_append_c (p->out, '+');
  print_part (p->out, imaginary);
  g_string_append (p->out, "j)");
}

static void
print_bytes (const Printer *p, const AdjValue *value)
{
  gboolean has_single = memchr (value->text, '\'', value->n) != NULL;
  char quote = has_single && !memchr (value->text, '"', value->n) ? '"' : '\'';

  g_string_append_printf (p->out, "b%c", quote);
  for (guint i = 0; i < value->n; i++)
    {
      guchar c = value->text[i];

      if (c == '\n')
        g_string_append (p->out, "\\n");
      else if (c == '\r')
        g_string_append (p->out, "\\r");
      else if (c == '\t')
        g_string_append (p->out, "\\t");
      else if (c == '\\' || c == (guchar) quote)
        g_string_append_printf (p->out, "\\%c", c);
      else if (g_ascii_isprint (c))
        g_string_append_c (p->out, c);
      else
        g_string_append_printf (p->out, "\\x%02x", c);
    }
  g_string_append_c (p->out, quote);
}

static void
print_device (const Printer *p, const AdjValue *value)
{
  AdjDevice type = { value->device.type, -1 };

  g_string_append (p->out, "device(type='");
  adj_device_print (type, p->out);
  g_string_append_c (p->out, '\'');
  if (value->device.index >= 0)
    g_string_append_printf (p->out, ", index=%d", value->device.index);
  g_string_append_c (p->out, ')');
}

static void
print_tensor (GString *out, const AdjTensorMeta *meta)
{
  g_string_append (out, "torch.Tensor(size=");
  adj_shape_print_list (NULL, meta->shape.size, meta->shape.rank, out);
  g_string_append_printf (out, ", dtype=%s)", adj_dtype_info (meta->dtype)->torch_name);
}

/* A symbolic size prints as "?" without a graph, which has its symbols. */
static void
print_expression (const Printer *p, AdjSize size)
{
  if (p->graph || adj_size_is_int (size))
    adj_size_print (p->graph ? adj_graph_get_symbols (p->graph) : NULL, size, p->out);
  else
    g_string_append_c (p->out, '?');
}

static gboolean
is_printable (const Printer *p, const AdjTensorMeta *meta)
{
  for (guint i = 0; i < meta->shape.rank; i++)
    if (!adj_size_is_int (meta->shape.size[i]) || !adj_size_is_int (meta->shape.stride[i]))
      return p->graph != NULL;

  return TRUE;
}

/* Our spelling in metadata; PyTorch never prints these. */
static void
print_meta (const Printer *p, const AdjValue *value)
{
  const AdjTensorMeta *meta = value->meta;
  AdjSymbols *symbols = p->graph ? adj_graph_get_symbols (p->graph) : NULL;

  g_string_append (p->out, "meta('");
  if (is_printable (p, meta))
    adj_tensor_meta_print (meta, symbols, p->out);
  g_string_append_c (p->out, '\'');
  if (meta->storage >= 0)
    g_string_append_printf (p->out, ", alias=%d", meta->storage);
  if (!adj_size_same (meta->shape.offset, ADJ_SIZE (0)))
    {
      g_string_append (p->out, ", offset='");
      print_expression (p, meta->shape.offset);
      g_string_append_c (p->out, '\'');
    }
  if (meta->requires_grad)
    g_string_append (p->out, ", requires_grad=True");
  if (meta->layout != ADJ_LAYOUT_STRIDED)
    g_string_append_printf (p->out, ", layout='%s'", adj_layout_name (meta->layout));
  g_string_append_c (p->out, ')');
}

static void
print_size (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, "Sym('");
  print_expression (p, value->size);
  g_string_append (p->out, "')");
}

static void
print_node (const Printer *p, const AdjValue *value)
{
  if (p->graph && value->node.index < adj_graph_get_n_nodes (p->graph))
    g_string_append (p->out, adj_graph_get_node (p->graph, value->node.index)->name);
  else
    g_string_append_c (p->out, '?');
}

static void
print_op (const Printer *p, const AdjValue *value)
{
  g_autofree char *printed = adj_target_get_printed (value->text);

  g_string_append (p->out, printed);
}

static void
print_none (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, "None");
}

static void
print_bool (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, value->boolean ? "True" : "False");
}

static void
print_int (const Printer *p, const AdjValue *value)
{
  g_string_append_printf (p->out, "%" G_GINT64_FORMAT, value->integer);
}

static void
print_float (const Printer *p, const AdjValue *value)
{
  adj_print_float (p->out, value->number);
}

static void
print_string (const Printer *p, const AdjValue *value)
{
  adj_print_string (p->out, value->text);
}

static void
print_ellipsis (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, "Ellipsis");
}

static void
print_dtype (const Printer *p, const AdjValue *value)
{
  if (value->dtype < ADJ_N_DTYPES)
    g_string_append_printf (p->out, "torch.%s", adj_dtype_info (value->dtype)->torch_name);
  else
    g_string_append (p->out, "None");
}

static void
print_layout (const Printer *p, const AdjValue *value)
{
  g_string_append_printf (p->out, "torch.%s", adj_layout_name (value->layout));
}

static void
print_format (const Printer *p, const AdjValue *value)
{
  g_string_append_printf (p->out, "torch.%s", adj_memory_format_name (value->format));
}

static void
print_runtime_tensor (const Printer *p, const AdjValue *value)
{
  print_tensor (p->out, adj_tensor_get_meta (value->tensor));
}

static void
print_data (const Printer *p, const AdjValue *value)
{
  print_tensor (p->out, adj_tensor_data_get_meta (value->data));
}

static void
print_object (const Printer *p, const AdjValue *value)
{
  const AdjOpaqueClass *klass = value->object->klass;
  const char *type = adj_opaque_get_type (value->object);
  g_autofree char *written = klass->write != NULL ? klass->write (value->object) : NULL;

  if (written != NULL)
    {
      g_string_append (p->out, written);
      return;
    }
  if (type == NULL)
    {
      g_string_append (p->out, "<opaque object>");
      return;
    }
  g_string_append (p->out, "Object(");
  adj_print_string (p->out, type);
  g_string_append_c (p->out, ')');
}

static void
print_token (const Printer *p, const AdjValue *value)
{
  g_string_append (p->out, "<effect token>");
}

static void
print_graph (const Printer *p, const AdjValue *value)
{
  adj_print_path (p->out, "self", adj_graph_get_name (value->graph));
}

static void
print_raw (const Printer *p, const AdjValue *value)
{
  g_string_append_len (p->out, value->text, value->n);
}

static void (*const printers[ADJ_N_VALUE_KINDS]) (const Printer *, const AdjValue *) = {
  [ADJ_VALUE_NONE] = print_none,
  [ADJ_VALUE_BOOL] = print_bool,
  [ADJ_VALUE_INT] = print_int,
  [ADJ_VALUE_FLOAT] = print_float,
  [ADJ_VALUE_COMPLEX] = print_complex,
  [ADJ_VALUE_SIZE] = print_size,
  [ADJ_VALUE_STRING] = print_string,
  [ADJ_VALUE_BYTES] = print_bytes,
  [ADJ_VALUE_ELLIPSIS] = print_ellipsis,
  [ADJ_VALUE_DTYPE] = print_dtype,
  [ADJ_VALUE_DEVICE] = print_device,
  [ADJ_VALUE_LAYOUT] = print_layout,
  [ADJ_VALUE_MEMORY_FORMAT] = print_format,
  [ADJ_VALUE_TENSOR] = print_runtime_tensor,
  [ADJ_VALUE_DATA] = print_data,
  [ADJ_VALUE_META] = print_meta,
  [ADJ_VALUE_LIST] = print_list,
  [ADJ_VALUE_TUPLE] = print_tuple,
  [ADJ_VALUE_DICT] = print_dict,
  [ADJ_VALUE_SLICE] = print_slice,
  [ADJ_VALUE_RANGE] = print_range,
  [ADJ_VALUE_OP] = print_op,
  [ADJ_VALUE_OPAQUE_OBJECT] = print_object,
  [ADJ_VALUE_TOKEN] = print_token,
  [ADJ_VALUE_GRAPH] = print_graph,
  [ADJ_VALUE_NODE] = print_node,
  [ADJ_VALUE_RAW] = print_raw,
};

static void
print_value (const Printer *p, const AdjValue *value)
{
  printers[value->kind](p, value);
}

void
adj_value_print (const AdjValue *value, const AdjGraph *graph, GString *out)
{
  Printer p = { graph, out };

  print_value (&p, value);
}
