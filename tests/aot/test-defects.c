/* SPDX-License-Identifier: MIT */

/* The table of checks, row by row: graphs as PyTorch makes them with the defect get the finding,
 * the same graphs put right get none, and what Adjoint makes of a program of that kind, at every
 * budget, gets none and cannot be told from the program.  A row without a case fails. */

#include <string.h>

#include "adjoint.h"
#include "aot/case.h"
#include "aot/compile.h"
#include "aot/observed.h"

/* Graphs of one region, "inputs: statements; ... return" of aten; %NULL: there is none. */
typedef struct
{
  const char *dynamo, *joint, *forward, *backward;
  const char *metadata;
  gint n_outputs; /* of forward */
} Region;

typedef struct
{
  const char *check;
  Region wrong, right;
  struct
  {
    const char *inputs, *make, *names, *function; /* as in Case */
  } program;                                      /* of the kind that is compiled wrongly */
  gboolean is_no_program;                         /* refused eagerly */
} Row;

#define P1 "primals_1: \"f32[4][1]cpu\""
#define P2 "primals_2: \"f32[4][1]cpu\""
#define T1 "tangents_1: \"f32[4][1]cpu\""

#define WRITES_BOTH                                                                                \
  P1 ", " P2 "|clone = clone.default(primals_1)|mul = mul.Tensor(clone, 2)|"                       \
     "mul_1 = mul.Tensor(primals_2, 3)|sum_1 = sum.default(mul)|"                                  \
     "copy_ = copy_.default(primals_2, mul_1)|"
#define WRITTEN                                                                                    \
  "{'input_info': [{'mutates_data': True, 'requires_grad': True, 'keep_input_mutations': True}, "  \
  "{'mutates_data': True, 'is_leaf': True, 'keep_input_mutations': True}], "                       \
  "'output_info': [{'output_type': 'non_alias', 'requires_grad': True}, "                          \
  "{'output_type': 'is_input', 'base_idx': 1}]}"

#define TWO_BASES                                                                                  \
  P1 ", " P2 "|mul = mul.Tensor(primals_1, 2)|u = mul.Tensor(primals_2, 2)|"                       \
     "view = view.default(u, [-1])|v = mul.Tensor(primals_2, 3)|view_1 = view.default(v, [-1])|"   \
     "return (mul, view, view, view_1, view_1, u, v)"
#define BASES(second)                                                                              \
  "{'input_info': [{'mutates_data': True, 'requires_grad': True}, {'requires_grad': True}], "      \
  "'output_info': [{'output_type': 'alias_of_intermediate_save_as_output', 'base_idx': 0}, "       \
  "{'output_type': 'alias_of_intermediate', 'base_idx': 0}, "                                      \
  "{'output_type': 'alias_of_intermediate_save_as_output', 'base_idx': " second "}, "              \
  "{'output_type': 'alias_of_intermediate', 'base_idx': " second "}]}"

#define EXPANDED                                                                                   \
  "a: \"f32[1, 4][4, 1]cpu\", b: \"f32[3, 4][4, 1]cpu\"|"                                          \
  "e: \"f32[3, 4][0, 1]cpu\" = expand.default(a, [3, 4])|"

#define TWO_SAMPLES                                                                                \
  P1 ", " T1                                                                                       \
     "|randn_like = randn_like.default(primals_1)|mul = mul.Tensor(primals_1, randn_like)|"        \
     "randn_like_1 = randn_like.default(primals_1)|add = add.Tensor(mul, randn_like_1)|"           \
     "mul_1 = mul.Tensor(tangents_1, randn_like)|return (add, mul_1)"
#define SAMPLE                                                                                     \
  P1 "|randn_like = randn_like.default(primals_1)|mul = mul.Tensor(primals_1, randn_like)|"
#define TIMES_SAMPLE                                                                               \
  "randn_like: \"f32[4][1]cpu\", " T1 "|mul_1 = mul.Tensor(tangents_1, randn_like)|return "        \
  "(mul_1,)"

#define COUNTS P1 "|add = add.Tensor(primals_1, 1)|copy_ = copy_.default(primals_1, add)|"

#define SQUARE "primals_1: \"f32[4, 4][4, 1]cpu\""
#define SQUARE_TANGENT "tangents_1: \"f32[4, 4][4, 1]cpu\""

#define MUST_SAVE "  # adj: {recompute: MUST_SAVE, ac: 1}"

static const Row rows[] = {
  { .check = "overwritten-output",
    .wrong = { .forward = WRITES_BOTH "return (mul, copy_, mul_1)",
               .metadata = WRITTEN,
               .n_outputs = 3 },
    .right = { .forward = WRITES_BOTH "return (mul, sum_1, copy_)",
               .metadata = WRITTEN,
               .n_outputs = 3 },
    .program = { .inputs = "a [4] rg, b [4]",
                 .function = "mul_(a,2); mul_(b,3); s=sum(a); return s,b" } },
  { .check = "wrong-base",
    .wrong = { .forward = TWO_BASES, .metadata = BASES ("0"), .n_outputs = 7 },
    .right = { .forward = TWO_BASES, .metadata = BASES ("1"), .n_outputs = 7 },
    .program = { .inputs = "a [4] rg, c [4] rg",
                 .make = "return a,a,c",
                 .names = "a, b, c",
                 .function = "mul_(a,2); u=mul(c,2); v=mul(c,3); w=view(u,[-1]); x=view(u,[-1]); "
                             "y=view(v,[-1]); z=view(v,[-1]); return w,x,y,z" } },
  { .check = "expanded-write",
    .wrong = { .dynamo = EXPANDED "y: \"f32[3, 4][0, 1]cpu\" = add_.Tensor(e, b)|return (y,)" },
    .right = { .dynamo = EXPANDED "y: \"f32[3, 4][4, 1]cpu\" = add.Tensor(e, b)|return (y,)" },
    .program = { .inputs = "a [1,4], b [3,4]",
                 .function = "e=expand(a,[3,4]); y=add_(e,b); return y" },
    .is_no_program = TRUE },
  { .check = "merged-random",
    .wrong = { .joint = TWO_SAMPLES,
               .forward = SAMPLE "add = add.Tensor(mul, randn_like)|return (add, randn_like)",
               .backward = TIMES_SAMPLE,
               .n_outputs = 1 },
    .right = { .joint = TWO_SAMPLES,
               .forward = SAMPLE "randn_like_1 = randn_like.default(primals_1)|"
                                 "add = add.Tensor(mul, randn_like_1)|return (add, randn_like)",
               .backward = TIMES_SAMPLE,
               .n_outputs = 1 },
    .program = { .inputs = "x [64] rg",
                 .function = "r=randn_like(x); m=mul(x,r); q=randn_like(x); y=add(m,q); "
                             "return y" } },
  { .check = "recomputed-random",
    .wrong = { .forward = SAMPLE "return (mul, primals_1)",
               .backward = P1 ", " T1 "|randn_like = randn_like.default(primals_1)|"
                              "mul_1 = mul.Tensor(tangents_1, randn_like)|return (mul_1,)",
               .n_outputs = 1 },
    .right = { .forward = SAMPLE "return (mul, randn_like)",
               .backward = TIMES_SAMPLE,
               .n_outputs = 1 },
    .program = { .inputs = "x [64] rg",
                 .function = "s=sin(x); d=native_dropout(s,0.5,True); y=mul(d[0],d[0]); "
                             "z=sin(y); return z" } },
  { .check = "repeated-write",
    .wrong = { .forward = COUNTS "return (add, primals_1)",
               .backward = P1 ", " T1 "|add = add.Tensor(primals_1, 1)|"
                              "copy_ = copy_.default(primals_1, add)|return (tangents_1,)",
               .n_outputs = 1 },
    .right = { .forward = COUNTS "return (add,)",
               .backward = T1 "|return (tangents_1,)",
               .n_outputs = 1 },
    .program = { .inputs = "x [4] rg, r [4]",
                 .function = "n=mul(r,0.9); y=mul(x,n); copy_(r,n); return y" } },
  { .check = "saved-reference",
    .wrong = { .forward = COUNTS "return (add, primals_1)",
               .backward = P1 ", " T1 "|mul = mul.Tensor(tangents_1, primals_1)|return (mul,)",
               .n_outputs = 1 },
    .right = { .forward = P1 "|clone = clone.default(primals_1)|add = add.Tensor(primals_1, 1)|"
                             "copy_ = copy_.default(primals_1, add)|return (add, clone)",
               .backward = "clone: \"f32[4][1]cpu\", " T1 "|mul = mul.Tensor(tangents_1, clone)|"
                           "return (mul,)",
               .n_outputs = 1 },
    .program = { .inputs = "x [4] rg, r [4]",
                 .function = "s=sin(r); y=mul(x,s); add_(r,1); return y" } },
  { .check = "saved-twice",
    .wrong = { .forward = SQUARE "|sin = sin.default(primals_1)|t = t.default(sin)|"
                                 "return (sin, primals_1, t)",
               .backward = SQUARE ", t: \"f32[4, 4][1, 4]cpu\", " SQUARE_TANGENT
                                  "|sin = sin.default(primals_1)|mul = mul.Tensor(tangents_1, sin)|"
                                  "mm = mm.default(mul, t)|return (mm,)",
               .n_outputs = 1 },
    .right = { .forward = SQUARE "|sin = sin.default(primals_1)|clone = clone.default(sin)|"
                                 "return (clone, sin)",
               .backward = "sin: \"f32[4, 4][4, 1]cpu\", " SQUARE_TANGENT "|t = t.default(sin)|"
                           "mul = mul.Tensor(tangents_1, sin)|mm = mm.default(mul, t)|return (mm,)",
               .n_outputs = 1 },
    .program = { .inputs = "x [4,4] rg",
                 .function = "s=sin(x); t=t(s); m=mm(s,t); y=mul(m,s); return y" } },
  { .check = "unsaved",
    .wrong = { .forward = P1 "|sin = sin.default(primals_1)" MUST_SAVE "|cos = cos.default(sin)|"
                             "return (cos, primals_1)",
               .backward = P1 ", " T1 "|sin = sin.default(primals_1)" MUST_SAVE
                              "|mul = mul.Tensor(tangents_1, sin)|return (mul,)",
               .n_outputs = 1 },
    .right = { .forward = P1 "|sin = sin.default(primals_1)" MUST_SAVE "|cos = cos.default(sin)|"
                             "return (cos, sin)",
               .backward = "sin: \"f32[4][1]cpu\", " T1 "|mul = mul.Tensor(tangents_1, sin)|"
                           "return (mul,)",
               .n_outputs = 1 },
    /* without tags, which only a region of checkpointing gives: its lesson is `selective` */
    .program = { .inputs = "x [4] rg", .function = "s=sin(x); c=cos(s); y=mul(c,s); return y" } },
};

/* -- what is found in graphs that were loaded -- */

static AdjGraph *
parse (const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new ("def forward(self, ");
  g_auto (GStrv) lines = g_strsplit (words, "|", -1);
  AdjGraph *graph;

  g_string_append_printf (text, "%s):\n", lines[0]);
  for (guint i = 1; lines[i] != NULL; i++)
    {
      char *equals = strstr (lines[i], " = ");

      if (equals == NULL)
        g_string_append_printf (text, "    %s\n", lines[i]);
      else
        g_string_append_printf (text, "    %.*s = torch.ops.aten.%s\n", (int) (equals - lines[i]),
                                lines[i], equals + 3);
    }
  graph = adj_graph_parse (text->str, -1, NULL, &error);
  g_assert_no_error (error);
  return graph;
}

static void
add_graph (AdjBundleBuilder *builder, GPtrArray *ids, const char *role, AdjGraph *graph)
{
  AdjBundleGraph entry = { .id = role, .title = role, .role = role, .rank = -1, .graph = graph };
  g_autoptr (GError) error = NULL;

  adj_bundle_builder_add_graph (builder, &entry, &error);
  g_assert_no_error (error);
  g_ptr_array_add (ids, (gpointer) role);
}

static AdjFindings *
check_region (AdjBundleBuilder *builder, GPtrArray *ids, gint n_outputs, const AdjValue *metadata)
{
  AdjRegion region = {
    .id = "0", .rank = -1, .n_graphs = ids->len, .num_fwd_outputs = n_outputs, .metadata = metadata
  };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;

  adj_bundle_builder_add_region (builder, &region, (const char *const *) ids->pdata, &error);
  g_assert_no_error (error);
  bundle = adj_bundle_builder_end (builder, NULL);
  return adj_bundle_check (bundle, NULL, NULL);
}

static AdjFindings *
find_in (const Region *region)
{
  const struct
  {
    const char *role, *text;
  } graphs[] = { { "dynamo", region->dynamo },
                 { "joint", region->joint },
                 { "forward", region->forward },
                 { "backward", region->backward } };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  g_auto (AdjValue) metadata = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  if (region->metadata != NULL)
    adj_value_parse (region->metadata, -1, NULL, NULL, &metadata, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    if (graphs[i].text != NULL)
      {
        g_autoptr (AdjGraph) graph = parse (graphs[i].text);

        add_graph (builder, ids, graphs[i].role, graph);
      }
  return check_region (builder, ids, region->n_outputs > 0 ? region->n_outputs : -1,
                       region->metadata != NULL ? &metadata : NULL);
}

static void
report (const AdjFindings *findings)
{
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    g_test_message ("%s: %s", adj_findings_get (findings, i)->check->name,
                    adj_findings_get (findings, i)->message);
}

static void
is_found (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjFindings) wrong = find_in (&row->wrong);
  g_autoptr (AdjFindings) right = find_in (&row->right);
  guint n = 0;

  report (wrong);
  for (guint i = 0; i < adj_findings_get_n (wrong); i++)
    n += g_str_equal (adj_findings_get (wrong, i)->check->name, row->check);
  g_assert_cmpuint (n, ==, 1);
  report (right);
  g_assert_cmpuint (adj_findings_get_n (right), ==, 0);
}

/* -- what Adjoint makes of the program -- */

static AdjAotGraph *
trace (const Case *program, GError **error)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_auto (Observed) examples = { .cx = NULL };
  const AdjAotOptions options = { .keep_input_mutations = TRUE };

  case_observe (program, &examples);
  return adj_aot_trace (function, examples.inputs, examples.n_inputs, &options, NULL, error);
}

static void
check_none (const AdjAotGraph *aot, const AdjPartition *partition)
{
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  g_autoptr (AdjFindings) findings = NULL;

  add_graph (builder, ids, "joint", adj_aot_graph_get_graph (aot));
  add_graph (builder, ids, "forward", partition->forward);
  add_graph (builder, ids, "backward", partition->backward);
  findings = check_region (builder, ids, (gint) partition->num_fwd_outputs, NULL);
  report (findings);
  g_assert_cmpuint (adj_findings_get_n (findings), ==, 0);
}

static void
check_calls (const Case *program, AdjFunction *compiled, const char *partitioner, double budget)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) ours = { .cx = NULL };
  g_autoptr (GString) why = g_string_new (NULL);

  case_observe (program, &eager);
  observed_call (&eager, function, -1);
  g_assert_no_error (eager.error);
  case_observe (program, &ours);
  observed_call (&ours, compiled, -1);
  g_assert_no_error (ours.error);
  if (!observed_same (&eager, &ours, why))
    g_error ("%s at %g: %s", partitioner, budget, why->str);
}

static void
is_refused (const Case *program)
{
  g_autoptr (AdjFunction) function = case_function_new (program);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = trace (program, &error);
  g_auto (Observed) eager = { .cx = NULL };

  case_observe (program, &eager);
  observed_call (&eager, function, -1);
  g_assert_nonnull (eager.error);
  g_assert_null (aot);
  g_test_message ("eagerly: %s; compiled: %s", eager.error->message, error->message);
}

static void
ours_is_eager (gconstpointer data)
{
  const Row *row = data;
  const Case program = { .inputs = (char *) row->program.inputs,
                         .make = (char *) row->program.make,
                         .names = (char *) row->program.names,
                         .function = (char *) row->program.function };
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;

  if (row->is_no_program)
    {
      is_refused (&program);
      return;
    }
  aot = trace (&program, &error);
  g_assert_no_error (error);
  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b <= 4; b++)
      {
        const char *name = adj_partitioners_get (p)->name;
        g_autoptr (AdjPartition) partition = NULL;
        g_autoptr (AdjFunction) compiled = compile_at_budget (aot, name, b / 4.0, &partition);

        check_none (aot, partition);
        check_calls (&program, compiled, name, b / 4.0);
      }
}

static void
every_check_has_a_case (void)
{
  g_assert_cmpuint (adj_checks_get_n (), ==, G_N_ELEMENTS (rows));
  for (guint i = 0; i < adj_checks_get_n (); i++)
    {
      const char *name = adj_checks_get (i)->name;
      guint n = 0;

      for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
        n += g_str_equal (rows[k].check, name);
      if (n != 1)
        g_error ("check '%s' has %u cases", name, n);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aot/defects/every-check-has-a-case", every_check_has_a_case);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *found = g_strdup_printf ("/aot/defects/%s/is-found", rows[i].check);
      g_autofree char *ours = g_strdup_printf ("/aot/defects/%s/ours-is-eager", rows[i].check);

      g_test_add_data_func (found, &rows[i], is_found);
      g_test_add_data_func (ours, &rows[i], ours_is_eager);
    }
  return g_test_run ();
}
