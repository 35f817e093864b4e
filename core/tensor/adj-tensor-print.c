/* SPDX-License-Identifier: MIT */

/* Values as torch prints them: one format for all numbers of a tensor, chosen by their range;
 * long dimensions show only their first and last items. */

#include <math.h>
#include <string.h>

#include "tensor/adj-element.h"
#include "tensor/adj-late-bytes-internal.h"
#include "tensor/adj-tensor-data.h"

#define EDGE_ITEMS 3
#define LINE_WIDTH 80

/* How the numbers of a tensor, or their real or imaginary parts, are written. */
typedef struct
{
  gboolean integral; /* floats without a fraction print as "2." */
  gboolean scientific;
  guint width;
} NumberFormat;

typedef struct
{
  GBytes *bytes;
  const AdjTensorMeta *meta;
  gint64 edge; /* items shown at either end of a long dimension; -1: all are shown */
  NumberFormat real;
  NumberFormat imaginary; /* used by complex types */
  GString *out;
} Printer;

typedef void (*ItemFunc) (Printer *p, AdjElement element, gpointer data);

static AdjElement
element_at (const Printer *p, gint64 offset)
{
  const guint8 *start = g_bytes_get_data (p->bytes, NULL);

  return adj_element_load (p->meta->dtype,
                           start + (gsize) offset * adj_dtype_info (p->meta->dtype)->n_bytes);
}

static gboolean
leaves_out (const Printer *p, guint dim)
{
  return p->edge >= 0 && p->meta->shape.size[dim].word > 2 * p->edge;
}

/* The index after @i of those that are shown. */
static gint64
next_shown (const Printer *p, guint dim, gint64 i)
{
  if (leaves_out (p, dim) && i + 1 == p->edge)
    return p->meta->shape.size[dim].word - p->edge;
  return i + 1;
}

static void
each_shown (Printer *p, guint dim, gint64 offset, ItemFunc func, gpointer data)
{
  const AdjShape *shape = &p->meta->shape;

  if (dim == shape->rank)
    {
      func (p, element_at (p, offset), data);
      return;
    }
  for (gint64 i = 0; i < shape->size[dim].word; i = next_shown (p, dim, i))
    each_shown (p, dim + 1, offset + i * shape->stride[dim].word, func, data);
}

/* -- Numbers ------------------------------------------------------------------------------- */

static gboolean
is_complex (const Printer *p)
{
  return adj_dtype_info (p->meta->dtype)->category == ADJ_CATEGORY_COMPLEX;
}

static void
print_float (const NumberFormat *format, double value, GString *out)
{
  char text[512];

  if (isnan (value))
    g_string_append (out, "nan");
  else if (isinf (value))
    g_string_append (out, value < 0 ? "-inf" : "inf");
  else if (format->scientific)
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.4e", value));
  else if (format->integral)
    g_string_append_printf (out, "%s.", g_ascii_formatd (text, sizeof text, "%.0f", value));
  else
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.4f", value));
}

static void
print_real (const Printer *p, AdjElement element, GString *out)
{
  if (p->meta->dtype == ADJ_DTYPE_BOOL)
    g_string_append (out, element.integer != 0 ? "True" : "False");
  else if (p->meta->dtype == ADJ_DTYPE_U64)
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, (guint64) element.integer);
  else if (element.is_integer)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, element.integer);
  else
    print_float (&p->real, element.real, out);
}

static void
print_element (const Printer *p, AdjElement element, guint width)
{
  g_autoptr (GString) text = g_string_new (NULL);

  print_real (p, element, text);
  for (gsize n = text->len; n < width; n++)
    g_string_append_c (p->out, ' ');
  g_string_append (p->out, text->str);
  if (!is_complex (p))
    return;

  g_string_truncate (text, 0);
  print_float (&p->imaginary, element.imaginary, text);
  g_string_append_printf (p->out, "%s%sj", text->str[0] == '-' ? "" : "+", text->str);
}

/* The nonzero finite numbers, whose range decides the format. */
typedef struct
{
  NumberFormat *format;
  gboolean imaginary;
  double least;
  double most;
} Survey;

static gboolean
is_surveyed (double value)
{
  return isfinite (value) && value != 0.0;
}

static void
survey_item (Printer *p, AdjElement element, gpointer data)
{
  Survey *survey = data;
  double value = survey->imaginary ? element.imaginary : element.real;

  if (element.is_integer || !is_surveyed (value))
    return;
  survey->format->integral = survey->format->integral && ceil (value) == value;
  survey->least = survey->most > 0 ? MIN (survey->least, fabs (value)) : fabs (value);
  survey->most = MAX (survey->most, fabs (value));
}

static void
measure_item (Printer *p, AdjElement element, gpointer data)
{
  Survey *survey = data;
  double value = survey->imaginary ? element.imaginary : element.real;
  g_autoptr (GString) text = NULL;

  if (!element.is_integer && !is_surveyed (value))
    return;
  text = g_string_new (NULL);
  if (survey->imaginary)
    print_float (survey->format, value, text);
  else
    print_real (p, element, text);
  survey->format->width = MAX (survey->format->width, (guint) text->len);
}

static void
choose_format (Printer *p, NumberFormat *format, gboolean imaginary)
{
  Survey survey = { .format = format, .imaginary = imaginary };

  *format = (NumberFormat){ .integral = TRUE, .width = 1 };
  each_shown (p, 0, p->meta->shape.offset.word, survey_item, &survey);
  format->scientific =
      survey.most > 0 && (survey.most / survey.least > 1000. || survey.most > 1e8 ||
                          (!format->integral && survey.least < 1e-4));
  each_shown (p, 0, p->meta->shape.offset.word, measure_item, &survey);
}

/* -- Brackets ------------------------------------------------------------------------------ */

static void
break_line (Printer *p, guint n, guint indent)
{
  for (guint i = 0; i < n; i++)
    g_string_append_c (p->out, '\n');
  for (guint i = 0; i < indent; i++)
    g_string_append_c (p->out, ' ');
}

static void
print_row (Printer *p, guint dim, gint64 offset, guint indent)
{
  const AdjShape *shape = &p->meta->shape;
  guint n_item = p->real.width + 2 + (is_complex (p) ? p->imaginary.width + 1 : 0);
  guint per_line = MAX (1, (LINE_WIDTH - MIN (indent, LINE_WIDTH)) / n_item);
  guint n = 0;

  for (gint64 i = 0, next; i < shape->size[dim].word; i = next)
    {
      if (n > 0)
        g_string_append_c (p->out, ',');
      if (n > 0 && n % per_line == 0)
        break_line (p, 1, indent);
      else if (n > 0)
        g_string_append_c (p->out, ' ');

      print_element (p, element_at (p, offset + i * shape->stride[dim].word), p->real.width);
      n++;
      next = next_shown (p, dim, i);
      if (next > i + 1)
        {
          g_string_append (p->out, n % per_line == 0 ? "," : ", ");
          if (n % per_line == 0)
            break_line (p, 1, indent);
          g_string_append (p->out, " ...");
          n++;
        }
    }
}

static void
print_nested (Printer *p, guint dim, gint64 offset, guint indent)
{
  const AdjShape *shape = &p->meta->shape;

  if (dim == shape->rank)
    {
      print_element (p, element_at (p, offset), 0);
      return;
    }

  g_string_append_c (p->out, '[');
  if (dim + 1 == shape->rank)
    print_row (p, dim, offset, indent + 1);
  else
    for (gint64 i = 0, next; i < shape->size[dim].word; i = next)
      {
        print_nested (p, dim + 1, offset + i * shape->stride[dim].word, indent + 1);
        next = next_shown (p, dim, i);
        if (next >= shape->size[dim].word)
          break;
        g_string_append_c (p->out, ',');
        break_line (p, shape->rank - dim - 1, indent + 1);
        if (next > i + 1)
          {
            g_string_append (p->out, "...,");
            break_line (p, shape->rank - dim - 1, indent + 1);
          }
      }
  g_string_append_c (p->out, ']');
}

/* The most items per side and dimension of which not more than @max_items are shown. */
static gint64
choose_edge (const AdjTensorData *data, guint max_items)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (data)->shape;
  gint64 edge = EDGE_ITEMS;

  if (adj_tensor_data_get_numel (data) <= max_items)
    return -1;
  for (; edge > 1; edge--)
    {
      gint64 n = 1;

      for (guint d = 0; d < shape->rank && n <= max_items; d++)
        n *= MIN (shape->size[d].word, 2 * edge);
      if (n <= max_items)
        break;
    }
  return edge;
}

static gboolean
is_default_dtype (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_F32 || dtype == ADJ_DTYPE_I64 || dtype == ADJ_DTYPE_BOOL ||
         dtype == ADJ_DTYPE_C64;
}

char *
adj_tensor_data_print (const AdjTensorData *data, guint max_items)
{
  static const char prefix[] = "tensor(";
  const AdjTensorMeta *meta;
  g_autoptr (GBytes) bytes = NULL;
  gboolean empty;
  Printer p;

  g_return_val_if_fail (data != NULL, NULL);

  meta = adj_tensor_data_get_meta (data);
  empty = adj_tensor_data_get_numel (data) == 0;
  bytes = adj_tensor_data_read_bytes (data, NULL);
  p = (Printer){ .bytes = bytes, .meta = meta, .edge = choose_edge (data, max_items) };
  p.out = g_string_new (prefix);

  if (empty)
    g_string_append (p.out, "[]");
  else
    {
      choose_format (&p, &p.real, FALSE);
      if (is_complex (&p))
        choose_format (&p, &p.imaginary, TRUE);
      print_nested (&p, 0, meta->shape.offset.word, (guint) strlen (prefix));
    }

  if (empty && meta->shape.rank != 1)
    {
      g_string_append (p.out, ", size=(");
      for (guint d = 0; d < meta->shape.rank; d++)
        g_string_append_printf (p.out, "%s%" G_GINT64_FORMAT, d > 0 ? ", " : "",
                                meta->shape.size[d].word);
      g_string_append_c (p.out, ')');
    }
  if (!is_default_dtype (meta->dtype) || (empty && meta->dtype != ADJ_DTYPE_F32))
    g_string_append_printf (p.out, ", dtype=torch.%s", adj_dtype_info (meta->dtype)->torch_name);
  g_string_append_c (p.out, ')');
  return g_string_free (p.out, FALSE);
}
