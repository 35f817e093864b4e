/* SPDX-License-Identifier: MIT */
/* Memory traffic of fused kernels: a kernel reads its inputs once for each set of dimensions that
 * it reduces. */

#include "golden.h"
#include "partition-test.h"

/* All programs have 80 numbers as input, and a backward that negates one number. */
#define BACKWARD 2

static const struct
{
  const char *name, *first, *second; /* calls in forward */
  const char *second_name;
  guint traffic; /* of forward, in numbers */
} rows[] = {
  /* clang-format off */
  { "same",   "sum.dim_IntList(cos, [0])", "sum.dim_IntList(cos, [-2])",   "sum_2", 80 + 10 + 10 },
  { "others", "sum.dim_IntList(cos, [0])", "sum.dim_IntList(cos, [1])",    "sum_2", 2 * 80 + 10 + 8 },
  { "more",   "sum.dim_IntList(cos, [0])", "sum.dim_IntList(cos, [0, 1])", "sum_2", 2 * 80 + 10 + 1 },
  { "all",    "sum.default(cos)",          "sum.dim_IntList(cos, [1, 0])", "sum_2", 80 + 1 + 1 },
  { "beside", "sum.dim_IntList(cos, [1])", "add.Tensor(cos, p1)",          "add",   80 + 8 + 80 },
  /* clang-format on */
};

static void
test_row (gconstpointer data)
{
  const guint index = GPOINTER_TO_UINT (data);
  const char *second = rows[index].second_name;
  g_autofree char *program =
      g_strdup_printf ("cos = cos.default(p1); sum_1 = %s; %s = %s; neg = neg.default(t1);"
                       "return [sum_1, %s, neg]",
                       rows[index].first, second, rows[index].second, second);
  g_autoptr (AdjGraph) joint = golden_parse ("p1:8x10 t1:1", program);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;

  options.num_fwd_outputs = 2;
  partition = partition_run ("default", joint, &options);
  g_assert_cmpuint (partition->cost.fused_traffic, ==, 4 * (rows[index].traffic + BACKWARD));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/kernels/%s", rows[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_row);
    }
  return g_test_run ();
}
