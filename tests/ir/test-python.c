/* SPDX-License-Identifier: MIT */

/* Graph text in the styles of people and code formatters, with Python's semantics. */

#include <gio/gio.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

static AdjGraph *
parse (const char *text, AdjDiags *diags)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, diags, &error);

  g_assert_no_error (error);
  return graph;
}

static AdjGraph *
parse_body (const char *body, AdjDiags *diags)
{
  g_autofree char *text =
      g_strconcat ("class m(torch.nn.Module):\n    def forward(self, x, y):\n", body, NULL);

  return parse (text, diags);
}

/* Prints the statements of the body, one per line, unindented. */
static char *
print_body (const AdjGraph *graph)
{
  g_autofree char *text =
      adj_graph_print (graph, ADJ_PRINT_NO_COMMENTS | ADJ_PRINT_NO_METADATA, NULL);
  g_auto (GStrv) rows = g_strsplit (text, "\n", -1);
  GString *body = g_string_new (NULL);

  for (guint i = 2; rows[i] != NULL; i++)
    if (*g_strstrip (rows[i]) != '\0')
      g_string_append_printf (body, "%s\n", rows[i]);
  return g_string_free (body, FALSE);
}

/* A body and the expected print, without warnings. */
static const struct
{
  const char *name, *body, *expected;
} rows[] = {
  { "call-in-return", "        return aten.mul(y, 2.0)\n",
    "mul = torch.ops.aten.mul(y, 2.0);  y = None\nreturn mul\n" },
  { "calls-nest", "        a = torch.relu(torch.add(x, torch.sin(y), alpha=2))\n        return a\n",
    "sin = torch.sin(y);  y = None\nadd = torch.add(x, sin, alpha = 2);  x = sin = None\n"
    "a = torch.relu(add);  add = None\nreturn a\n" },
  { "precedence", "        return -x ** 2 + 3 * (x - y) @ y\n",
    "pow_1 = x ** 2\nneg = -pow_1;  pow_1 = None\nsub = x - y;  x = None\nmul = 3 * sub;  sub = "
    "None\n"
    "matmul = mul @ y;  mul = y = None\nadd = neg + matmul;  neg = matmul = None\nreturn add\n" },
  { "methods-chain", "        return x.view(x.shape[0] // 2, -1).relu()[0, :, None]\n",
    "getattr_1 = x.shape\ngetitem = getattr_1[0];  getattr_1 = None\n"
    "floordiv = getitem // 2;  getitem = None\nview = x.view(floordiv, -1);  x = floordiv = None\n"
    "relu = view.relu();  view = None\n"
    "getitem_1 = relu[(0, slice(None, None, None), None)];  relu = None\nreturn getitem_1\n" },
  { "lines-of-a-formatter",
    "        a = torch.cat(\n            [\n                x,  # the first\n                y,\n"
    "            ],\n            dim=1,\n        )\n        x = (\n            y\n        ) = "
    "None\n"
    "        b = a + \\\n            1; a = None\n        return (\n            b,\n        )\n",
    "a = torch.cat([x, y], dim = 1);  x = y = None\nb = a + 1;  a = None\nreturn (b,)\n" },
  { "in-place-on-lines",
    "        x += y\n        iadd = x\n        x[0] = 1\n        setitem = x\n"
    "        return (iadd, setitem)\n",
    "x += y;  iadd = x;  y = None\nx[0] = 1;  setitem = x;  x = None\nreturn (iadd, setitem)\n" },
  { "names",
    "        a = b = torch.relu(x)\n        c, (d, e) = torch.split(a, 1), (b, y)\n"
    "        (f,) = c\n        a = None\n        del b\n        return f, d, e, a\n",
    "a = torch.relu(x);  x = None\nsplit = torch.split(a, 1)\nf = split[0];  split = None\n"
    "return (f, a, y, None)\n" },
  { "of-self",
    "        a = self.w\n        b = root._frozen_param0\n        c = self.layers[0](a)\n"
    "        d = getattr(self, '0.weight') + self.foo['bar']\n        return (b, c, d)\n",
    "a = self.w\nb = self._frozen_param0\nc = getattr(self.layers, \"0\")(a);  a = None\n"
    "_0_weight = getattr(self, \"0\").weight\nfoo_bar = self.foo.bar\n"
    "d = _0_weight + foo_bar;  _0_weight = foo_bar = None\nreturn (b, c, d)\n" },
  { "literals",
    "        a = torch.full([0x10, 1_000], float('-inf'), device=torch.device('cuda', 1))\n"
    "        b = torch.einsum('ij,' r'jk' \"\"\"->ik\"\"\", x, y)\n        return (a, b)\n",
    "a = torch.full([16, 1000], -inf, device = device(type='cuda', index=1))\n"
    "b = torch.einsum('ij,jk->ik', x, y);  x = y = None\nreturn (a, b)\n" },
  { "what-computes-nothing",
    "        \"\"\"A docstring, (with [brackets.\"\"\"\n        import math\n        pass\n"
    "        assert x.dim() == 2, f\"not {x}\"\n        z: Float[Tensor, \"a b\"]\n"
    "        a: Float[Tensor, \"a b\"] = torch.relu(x)\n        return a\n",
    "a = torch.relu(x);  x = None\nreturn a\n" },
};

static void
test_row (gconstpointer data)
{
  guint row = GPOINTER_TO_UINT (data);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph = parse_body (rows[row].body, diags);
  g_autofree char *printed = print_body (graph);

  g_assert_cmpstr (printed, ==, rows[row].expected);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
}

/* A statement that is not understood is reported, kept, and becomes the value of each name it
 * assigns. */
static const struct
{
  const char *name, *body, *expected;
} unread[] = {
  { "return", "        return lambda: x\n", "raw = return lambda: x;  x = None\nreturn raw\n" },
  { "block",
    "        a = torch.relu(x)\n        if y:\n            a = torch.sin(x)\n"
    "        return a\n",
    "a = torch.relu(x);  a = None\nif y: raw = torch.sin(x);  y = x = None\nreturn raw\n" },
  { "splat", "        a = torch.cat(*x)\n        return a\n",
    "a = torch.cat(*x);  x = None\nreturn a\n" },
  { "unpacking", "        a, *b = torch.split(x, 1)\n        return b\n",
    "raw, *raw = torch.split(x, 1);  x = None\nreturn raw\n" },
};

static void
test_unread (gconstpointer data)
{
  guint row = GPOINTER_TO_UINT (data);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph = parse_body (unread[row].body, diags);
  g_autofree char *printed = print_body (graph);

  g_assert_cmpstr (printed, ==, unread[row].expected);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
}

/* Texts formatted by Debian's code formatters parse to the same graphs. */
static void
test_reformatted (void)
{
  static const char *const folders[] = { "", "dialects" };
  g_autofree char *golden = g_test_build_filename (G_TEST_DIST, "ir", "golden", NULL);
  g_autofree char *folder = g_build_filename (golden, "reformatted", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *text = NULL;

      if (!g_str_has_suffix (name, ".txt"))
        continue;
      text = adj_test_read_file (path, NULL);
      for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
        {
          g_autofree char *origin =
              g_build_filename (golden, folders[i], strchr (name, '-') + 1, NULL);
          g_autofree char *before = NULL;
          g_autoptr (AdjDiags) diags = adj_diags_new ();
          g_autoptr (AdjGraph) a = NULL;
          g_autoptr (AdjGraph) b = NULL;
          g_autofree char *printed = NULL;
          g_autofree char *expected = NULL;

          if (!g_file_test (origin, G_FILE_TEST_EXISTS))
            continue;
          before = adj_test_read_file (origin, NULL);
          a = parse (before, NULL);
          b = parse (text, diags);
          expected = adj_graph_print (a, ADJ_PRINT_DEFAULT, NULL);
          printed = adj_graph_print (b, ADJ_PRINT_DEFAULT, NULL);
          g_assert_cmpstr (printed, ==, expected);
          g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
          n++;
        }
    }
  g_assert_cmpuint (n, >=, 38);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/ir/python/", rows[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_row);
    }
  for (guint i = 0; i < G_N_ELEMENTS (unread); i++)
    {
      g_autofree char *path = g_strconcat ("/ir/python/unread/", unread[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_unread);
    }
  g_test_add_func ("/ir/python/reformatted", test_reformatted);
  return g_test_run ();
}
