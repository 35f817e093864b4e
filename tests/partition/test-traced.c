/* SPDX-License-Identifier: MIT */
/* The examples of partition/SPEC.md §8 that are functions: joint graphs traced by PyTorch 2.6
 * and its decisions on them (data/make-goldens.py), with further known values. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "decisions.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  const char *name;            /* of the case */
  const char *saved;           /* by min-cut */
  const char *recomputed;      /* in joint order */
  guint n_forward, n_backward; /* number of outputs and inputs of the pair; 0: not given */
  const char *order;           /* (nullable): first nodes of backward */
  guint traffic;               /* in numbers of four bytes moved by fused kernels; 0: not given */
} Row;

static const Row rows[] = {
  { "G6", "sym_size_int sym_size_int_1 sym_size_int_2", "add", 4, 4, NULL, 0 },
  { "G7", "t t_1 t_2 t_3 sym_size_int sym_size_int_1 sym_size_int_2", "add", 12, 9, NULL, 0 },
  { "G18-back-to-back", "primals_1 cos_1", "cos mm mm_1 mm_2 cos_2 mm_3 mm_4 mm_5", 3, 3,
    "cos_2 mm_3 mm_4 mm_5 ", 0 },
  { "G18-sin-between", "primals_1 primals_2 sin sin_1", "mm sigmoid mm_1 sigmoid_1", 0, 0,
    "mm_1 sigmoid_1 ", 0 },
  { "G24", "primals_1", "mm mm_1 sin", 3, 3, "add_1 cos_1 mul mm mm_1 sin ", 0 },
  { "G28-cos3", "primals_1", "cos cos_1", 0, 0, NULL, 50 },
  { "G28-add4", "add_2", "cos", 0, 0, NULL, 90 },
  { "G28-tanh", "mm tanh_1 t", "tanh", 0, 0, NULL, 1300 },
  { "G28-adds", "t t_1 t_2", "", 0, 0, NULL, 2600 },
  { "G28-cat", "primals_1", "tanh", 0, 0, NULL, 70 },
  { "G28-view", "primals_1 view", "", 0, 0, NULL, 900 },
  { "G28-blocks", "primals_1 mm t t_2", "mul_1 add", 0, 0, NULL, 3900 },
  { "G10-traffic", "lt", "", 0, 0, NULL, 450 },
  { "G11-traffic", "primals_1 primals_2", "mul", 0, 0, NULL, 220 },
};

static char *
read_cases (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "goldens.txt", NULL);
  g_autoptr (GError) error = NULL;
  char *text;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static AdjGraph *
read_joint (char **lines, guint *at)
{
  g_autoptr (GString) module = g_string_new (NULL);
  AdjGraph *joint;

  for (; !g_str_has_prefix (lines[*at], "#@ "); (*at)++)
    g_string_append_printf (module, "%s\n", lines[*at]);
  joint = adj_test_parse_graph (module->str);
  return joint;
}

static void
check_row (const Row *row, AdjGraph *joint, GHashTable *keys)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;
  g_autofree char *recomputed = NULL;

  options.compat = TRUE;
  options.num_fwd_outputs = atoi (decisions_get (keys, "fwd"));
  partition = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (partition);
  recomputed = partition_print_decided (partition, ADJ_DECISION_RECOMPUTED);
  g_assert_cmpstr (saved, ==, row->saved);
  g_assert_cmpstr (recomputed, ==, row->recomputed);
  if (row->n_forward > 0)
    {
      g_assert_cmpuint (partition->num_fwd_outputs + partition->n_saved, ==, row->n_forward);
      g_assert_cmpuint (adj_graph_get_n_inputs (partition->backward), ==, row->n_backward);
    }
  if (row->order != NULL)
    g_assert_true (g_str_has_prefix (decisions_get (keys, "order"), row->order));
  g_test_message ("%s: fused kernels move %" G_GUINT64_FORMAT " bytes", row->name,
                  partition->cost.fused_traffic);
  if (row->traffic > 0)
    g_assert_cmpuint (partition->cost.fused_traffic, ==, 4 * row->traffic);
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autofree char *text = read_cases ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0';)
    {
      g_autoptr (AdjGraph) joint = read_joint (lines, &i);

      while (g_str_has_prefix (lines[i], "#@ "))
        {
          g_autoptr (GHashTable) keys = decisions_read (lines, &i);

          if (!g_str_equal (decisions_get (keys, "name"), row->name))
            continue;
          decisions_check (n++, joint, keys);
          if (g_str_equal (decisions_get (keys, "partitioner"), "min-cut"))
            check_row (row, joint, keys);
        }
    }
  g_assert_cmpuint (n, ==, 2);
}

/* G3 if nothing may be repeated: its operators are not known to be cheap. */
static void
test_unknown_operators (void)
{
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[3][1]cpu\", tangents_1: \"f32[3][1]cpu\"):\n"
      "    mul: \"f32[3][1]cpu\" = torch.ops.mine.mul.default(primals_1, primals_1)\n"
      "    mul_1: \"f32[3][1]cpu\" = torch.ops.mine.mul.default(mul, primals_1)\n"
      "    mul_2: \"f32[3][1]cpu\" = torch.ops.mine.mul.default(tangents_1, mul)\n"
      "    mul_3: \"f32[3][1]cpu\" = torch.ops.mine.mul.default(tangents_1, primals_1)\n"
      "    mul_4: \"f32[3][1]cpu\" = torch.ops.mine.mul.default(mul_3, primals_1)\n"
      "    add: \"f32[3][1]cpu\" = torch.ops.mine.add.default(mul_2, mul_4)\n"
      "    add_1: \"f32[3][1]cpu\" = torch.ops.mine.add.default(add, mul_4)\n"
      "    return [mul_1, add_1]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;

  options.num_fwd_outputs = 1;
  partition = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (partition);
  g_assert_cmpstr (saved, ==, "primals_1 mul");
  g_assert_cmpint (partition->cut_value, ==, 26);
  g_assert_cmpuint (adj_graph_get_n_inputs (partition->backward), ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/golden/%s", rows[i].name);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  g_test_add_func ("/partition/golden/G3-nothing-cheap", test_unknown_operators);
  return g_test_run ();
}
