/* SPDX-License-Identifier: MIT */
/* Findings on graphs that PyTorch 2.6 gets wrong. */

#include <string.h>

#include "adjoint.h"
#include "passes/adj-check-internal.h"
#include "support/graphs.h"

/* Graphs and metadata that PyTorch 2.6 makes of the named programs (aot_function with
 * keep_inference_input_mutations, default partition), and the same without the defect. */

/* Makes a DICT of "key=value" words; values are True, False, numbers or words. */
static AdjValue
make_info (const char *words)
{
  g_auto (GStrv) parts = g_strsplit (words, " ", -1);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  for (guint i = 0; parts[i] != NULL && *parts[i] != '\0'; i++)
    {
      char *equals = strchr (parts[i], '=');
      AdjValue key, value;

      *equals = '\0';
      key = adj_value_new_string (parts[i]);
      if (g_str_equal (equals + 1, "True"))
        value = ADJ_BOOL (TRUE);
      else if (g_ascii_isdigit (equals[1]))
        value = ADJ_INT (g_ascii_strtoll (equals + 1, NULL, 10));
      else
        value = adj_value_new_string (equals + 1);
      g_array_append_val (items, key);
      g_array_append_val (items, value);
    }
  return adj_value_new_items (ADJ_VALUE_DICT, (AdjValue *) (gpointer) items->data, items->len);
}

static AdjValue
make_list (const char *const *infos)
{
  AdjValue items[8];
  guint n = 0;

  for (; infos[n] != NULL; n++)
    items[n] = make_info (infos[n]);
  return adj_value_new_items (ADJ_VALUE_LIST, items, n);
}

static AdjValue
make_metadata (const char *const *inputs, const char *const *outputs)
{
  AdjValue items[] = { adj_value_new_string ("input_info"), make_list (inputs),
                       adj_value_new_string ("output_info"), make_list (outputs) };

  return adj_value_new_items (ADJ_VALUE_DICT, items, G_N_ELEMENTS (items));
}

static guint
count (const AdjCheck *check, const AdjCheckedRegion *region, char **message)
{
  g_autoptr (AdjFindings) findings = adj_findings_new ();
  guint n;

  check->run (check, region, findings);
  n = adj_findings_get_n (findings);
  if (n > 0)
    *message = g_strdup (adj_findings_get (findings, 0)->message);
  return n;
}

/* a.mul_(2); b.mul_(3); return a.sum(), b */
static void
test_overwritten_output (void)
{
  static const char *const text =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[4][1]cpu\", primals_2: \"f32[4][1]cpu\"):\n"
      "        clone = torch.ops.aten.clone.default(primals_1)\n"
      "        mul = torch.ops.aten.mul.Tensor(clone, 2)\n"
      "        mul_1 = torch.ops.aten.mul.Tensor(primals_2, 3)\n"
      "        sum_1 = torch.ops.aten.sum.default(mul)\n"
      "        copy_ = torch.ops.aten.copy_.default(primals_2, mul_1)\n"
      "        return (%s)\n";
  static const char *const inputs[] = {
    "mutates_data=True requires_grad=True keep_input_mutations=True",
    "mutates_data=True is_leaf=True keep_input_mutations=True", NULL
  };
  static const char *const outputs[] = { "output_type=non_alias requires_grad=True",
                                         "output_type=is_input base_idx=1", NULL };
  g_auto (AdjValue) metadata = make_metadata (inputs, outputs);
  g_autofree char *wrong = g_strdup_printf (text, "mul, copy_, mul_1");
  g_autofree char *right = g_strdup_printf (text, "mul, sum_1, copy_");
  g_autoptr (AdjGraph) wrong_graph = adj_test_parse_graph (wrong);
  g_autoptr (AdjGraph) right_graph = adj_test_parse_graph (right);
  AdjCheckedRegion region = { .forward = wrong_graph, .num_fwd_outputs = 3, .metadata = &metadata };
  g_autofree char *message = NULL;

  g_assert_cmpuint (count (&adj_check_overwritten_output, &region, &message), ==, 1);
  g_assert_cmpstr (
      message, ==,
      "'copy_' is returned as output 1, which is something else; it belongs to output 2");
  region.forward = right_graph;
  g_assert_cmpuint (count (&adj_check_overwritten_output, &region, &message), ==, 0);
  region.forward = wrong_graph;
  region.metadata = NULL;
  g_assert_cmpuint (count (&adj_check_overwritten_output, &region, &message), ==, 0);
}

/* f(a, a, c): a.mul_(2); u = c * 2; v = c * 3; return u.view(-1), u.view(-1), v.view(-1),
 * v.view(-1).  The map of arguments is 0, 0, 1, so that base 1 becomes 0. */
static void
test_wrong_base (void)
{
  static const char *const inputs[] = { "mutates_data=True requires_grad=True",
                                        "requires_grad=True", NULL };
  static const char *const wrong[] = {
    "output_type=alias_of_intermediate_save_as_output base_idx=0",
    "output_type=alias_of_intermediate base_idx=0",
    "output_type=alias_of_intermediate_save_as_output base_idx=0",
    "output_type=alias_of_intermediate base_idx=0", NULL
  };
  static const char *const right[] = {
    "output_type=alias_of_intermediate_save_as_output base_idx=0",
    "output_type=alias_of_intermediate base_idx=0",
    "output_type=alias_of_intermediate_save_as_output base_idx=1",
    "output_type=alias_of_intermediate base_idx=1", NULL
  };
  g_auto (AdjValue) wrong_metadata = make_metadata (inputs, wrong);
  g_auto (AdjValue) right_metadata = make_metadata (inputs, right);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[4][1]cpu\", primals_2: \"f32[4][1]cpu\"):\n"
      "        mul = torch.ops.aten.mul.Tensor(primals_1, 2)\n"
      "        u = torch.ops.aten.mul.Tensor(primals_2, 2)\n"
      "        view = torch.ops.aten.view.default(u, [-1])\n"
      "        v = torch.ops.aten.mul.Tensor(primals_2, 3)\n"
      "        view_1 = torch.ops.aten.view.default(v, [-1])\n"
      "        return (mul, view, view, view_1, view_1, u, v)\n");
  AdjCheckedRegion region = { .forward = graph, .num_fwd_outputs = 7, .metadata = &wrong_metadata };
  g_autofree char *message = NULL;

  g_assert_cmpuint (count (&adj_check_wrong_base, &region, &message), ==, 1);
  g_assert_cmpstr (message, ==,
                   "output 2 is rebuilt from base 0, which is the base of other outputs");
  region.metadata = &right_metadata;
  g_assert_cmpuint (count (&adj_check_wrong_base, &region, &message), ==, 0);
}

static void
check_written (const char *body, const char *expected)
{
  g_autofree char *text =
      g_strconcat ("class GraphModule(torch.nn.Module):\n"
                   "    def forward(self, a: \"f32[1, 4][4, 1]cpu\", b: \"f32[3, 4][4, 1]cpu\"):\n"
                   "        e: \"f32[3, 4][0, 1]cpu\" = a.expand(3, 4)\n",
                   body, "        return (y,)\n", NULL);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjCheckedRegion region = { .dynamo = graph, .num_fwd_outputs = -1 };
  g_autofree char *message = NULL;

  g_assert_cmpuint (count (&adj_check_expanded_write, &region, &message), ==, expected != NULL);
  g_assert_cmpstr (message, ==, expected);
}

static void
test_expanded_write (void)
{
  static const char *const message =
      "'y' writes 'e', whose elements along dimension 0 are the same memory";

  check_written ("        y: \"f32[3, 4][0, 1]cpu\" = e.add_(b)\n", message);
  check_written ("        y: \"f32[3, 4][0, 1]cpu\" = torch.ops.aten.add_.Tensor(e, b)\n", message);
  check_written ("        y: \"f32[3, 4][4, 1]cpu\" = e.add(b)\n", NULL);
  check_written ("        y: \"f32[3, 4][4, 1]cpu\" = b.add_(e)\n", NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/checks/overwritten-output", test_overwritten_output);
  g_test_add_func ("/passes/checks/wrong-base", test_wrong_base);
  g_test_add_func ("/passes/checks/expanded-write", test_expanded_write);
  return g_test_run ();
}
