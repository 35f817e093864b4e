/* SPDX-License-Identifier: MIT */
/* Reads the operator cases that make-oracle.py recorded with PyTorch. */

#include "support/oracle.h"

#include <gio/gio.h>
#include <string.h>

#include "ops/adj-op-table.h"
#include "support/adj-test.h"

static const char *
next (OracleReader *r)
{
  const char *token = strtok_r (NULL, " ", &r->text);

  g_assert_nonnull (token);
  return token;
}

static gint64
next_int (OracleReader *r)
{
  return g_ascii_strtoll (next (r), NULL, 10);
}

static GBytes *
next_bytes (OracleReader *r)
{
  const char *hex = next (r);
  gsize n = strcmp (hex, "-") == 0 ? 0 : strlen (hex) / 2;
  guint8 *bytes = g_malloc (MAX (n, 1));

  for (gsize i = 0; i < n; i++)
    bytes[i] =
        (guint8) (g_ascii_xdigit_value (hex[2 * i]) * 16 + g_ascii_xdigit_value (hex[2 * i + 1]));
  return g_bytes_new_take (bytes, n);
}

GBytes *
oracle_read_tensor (OracleReader *r, AdjTensorMeta *meta)
{
  *meta = (AdjTensorMeta){
    .dtype = adj_dtype_from_code (next (r), -1),
    .device = ADJ_CPU,
    .has_strides = TRUE,
    .storage = -1,
  };
  meta->shape.rank = (guint) next_int (r);
  for (guint i = 0; i < meta->shape.rank; i++)
    meta->shape.size[i] = ADJ_SIZE (next_int (r));
  for (guint i = 0; i < meta->shape.rank; i++)
    meta->shape.stride[i] = ADJ_SIZE (next_int (r));
  meta->shape.offset = ADJ_SIZE (next_int (r));
  return next_bytes (r);
}

static AdjValue
read_value (OracleReader *r)
{
  const char *kind = next (r);

  switch (kind[0])
    {
    case 'b':
      return ADJ_BOOL (next_int (r));
    case 'i':
      return ADJ_INT (next_int (r));
    case 'f':
      return ADJ_FLOAT (g_ascii_strtod (next (r), NULL));
    case 'z':
      {
        double real = g_ascii_strtod (next (r), NULL);
        const AdjValue parts[] = { ADJ_FLOAT (real), ADJ_FLOAT (g_ascii_strtod (next (r), NULL)) };

        return adj_value_new_items (ADJ_VALUE_COMPLEX, parts, 2);
      }
    case 's':
      return adj_value_new_string (next (r));
    case 'd':
      return ADJ_DTYPE (adj_dtype_from_code (next (r), -1));
    case 'c':
      return (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = ADJ_CPU };
    case 'm':
      return (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT,
                         .format = adj_memory_format_from_name (next (r)) };
    case 'l':
      {
        guint n = (guint) next_int (r);
        g_autofree AdjValue *items = g_new0 (AdjValue, MAX (n, 1));

        for (guint i = 0; i < n; i++)
          items[i] = read_value (r);
        return adj_value_new_items (ADJ_VALUE_LIST, items, n);
      }
    case 't':
      {
        AdjTensorMeta meta;
        g_autoptr (GBytes) bytes = oracle_read_tensor (r, &meta);
        g_autoptr (AdjStorage) storage = adj_storage_new_shared (bytes, ADJ_CPU);

        return ADJ_TENSOR (adj_tensor_new (&meta, storage));
      }
    default:
      return ADJ_NONE;
    }
}

/* -- reading cases -- */

static void
clear_case (OracleCase *c)
{
  for (guint i = 0; i < c->n_args; i++)
    adj_value_clear (&c->args[i]);
  for (guint i = 0; i < c->n_kwargs; i++)
    adj_value_clear (&c->kwargs[i]);
  g_clear_pointer (&c->results, g_ptr_array_unref);
  g_clear_pointer (&c->written, g_ptr_array_unref);
  g_clear_pointer (&c->gradients, g_ptr_array_unref);
}

static void
read_line (OracleCase *c, char *line)
{
  OracleReader r = { .text = line };
  const char *kind = strtok_r (line, " ", &r.text);

  if (kind[0] == 'a')
    c->args[c->n_args++] = read_value (&r);
  else if (kind[0] == 'k')
    {
      c->kwargs[c->n_kwargs++] = adj_value_new_string (next (&r));
      c->kwargs[c->n_kwargs++] = read_value (&r);
    }
  else if (kind[0] == 'g')
    c->seed = next_int (&r);
  else if (kind[0] == 'e')
    c->next = next_int (&r);
  else if (kind[0] == 'x')
    c->needs_cuda = TRUE;
  else if (kind[0] == 'v')
    c->points = r.text;
  else if (kind[0] == 'd')
    g_ptr_array_add (c->gradients, r.text);
  else
    g_ptr_array_add (kind[0] == 'w' ? c->written : c->results, r.text);
}

static void
foreach_in_file (const char *path, OracleFunc each, gpointer data)
{
  g_autofree char *text = adj_test_read_packed (path);
  g_autofree char *name = g_path_get_basename (path);
  g_auto (GStrv) lines = g_strsplit_set (text, "\n", -1);

  if (!g_str_equal (lines[0], ORACLE_MADE_BY_NEWEST))
    g_assert_cmpstr (lines[0], ==, ORACLE_MADE_BY);
  for (guint i = 1; lines[i] != NULL && *lines[i] != '\0';)
    {
      OracleCase c = {
        .target = lines[i] + strlen ("case "), .file = name, .line = i + 1, .seed = -1
      };

      g_assert_true (g_str_has_prefix (lines[i], "case "));
      c.op = adj_op_find (c.target);
      if (c.op == NULL)
        g_error ("%s:%u: there is no %s", name, i + 1, c.target);
      c.results = g_ptr_array_new ();
      c.written = g_ptr_array_new ();
      c.gradients = g_ptr_array_new ();
      for (i++; lines[i] != NULL && *lines[i] != '\0' && lines[i][0] != 'c'; i++)
        read_line (&c, lines[i]);
      each (&c, data);
      clear_case (&c);
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

void
oracle_foreach_in_folder (const char *folder, OracleFunc each, gpointer data)
{
  g_autofree char *whole = g_test_build_filename (G_TEST_DIST, folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (whole, 0, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".txt.gz"))
      g_ptr_array_add (paths, g_build_filename (whole, name, NULL));
  g_assert_cmpuint (paths->len, >, 0);
  g_ptr_array_sort (paths, compare_names);
  for (guint i = 0; i < paths->len; i++)
    foreach_in_file (paths->pdata[i], each, data);
}

void
oracle_foreach (OracleFunc each, gpointer data)
{
  oracle_foreach_in_folder ("ops/data/oracle", each, data);
}
