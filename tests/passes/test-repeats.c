/* SPDX-License-Identifier: MIT */
/* Detection of equal calls, against a search among all earlier calls of random programs. */

#include "ir/adj-graph.h"
#include "passes/adj-repeats.h"
#include "support/graphs.h"

#define N_SEEDS 200
#define N_CALLS 40
#define N_INPUTS 2

/* A call as the program was generated, independent of the parsed text. */
typedef struct
{
  enum
  {
    SIN,
    ADD,
    ADD_IN_PLACE,
    N_KINDS,
  } kind;
  guint node;  /* node that it reads first */
  gint second; /* second node; -1: @constant */
  guint constant;
} Call;

static const char *const constants[] = { "1", "1.0", "-1", "2" };

static gboolean
may_merge (const AdjGraph *graph, guint index, gpointer data)
{
  return adj_graph_get_node (graph, index)->opcode == ADJ_OPCODE_CALL_FUNCTION && index % 7 != 0;
}

/* Chooses among few values, so that calls repeat. */
static void
make_call (GRand *rand, guint index, Call *call)
{
  guint kind = (guint) g_rand_int_range (rand, 0, 10);

  *call = (Call){
    .kind = kind == 0  ? ADD_IN_PLACE
            : kind < 4 ? SIN
                       : ADD,
    .node = (guint) g_rand_int_range (rand, 0, (gint32) MIN (index, N_INPUTS + 4)),
    .second = g_rand_int_range (rand, -1, N_INPUTS),
    .constant = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (constants)),
  };
}

static void
print_call (const Call *call, guint index, GString *text)
{
  static const char *const targets[N_KINDS] = { "sin.default", "add.Tensor", "add_.Tensor" };

  g_string_append_printf (text, "    n%u = torch.ops.aten.%s(n%u", index, targets[call->kind],
                          call->node);
  if (call->kind != SIN && call->second >= 0)
    g_string_append_printf (text, ", n%d", call->second);
  else if (call->kind != SIN)
    g_string_append_printf (text, ", %s", constants[call->constant]);
  g_string_append (text, ")\n");
}

static AdjGraph *
make_program (GRand *rand, Call *calls)
{
  g_autoptr (GString) text = g_string_new ("def forward(self, n0, n1):\n");

  for (guint i = N_INPUTS; i < N_CALLS; i++)
    {
      make_call (rand, i, &calls[i]);
      print_call (&calls[i], i, text);
    }
  g_string_append_printf (text, "    return (n%u,)\n", N_CALLS - 1);
  return adj_test_parse_graph (text->str);
}

static gboolean
is_same (const Call *a, const Call *b, const guint32 *first)
{
  if (a->kind != b->kind || first[a->node] != first[b->node])
    return FALSE;
  if (a->kind == SIN)
    return TRUE;
  return (a->second < 0) == (b->second < 0) &&
         (a->second < 0 ? a->constant == b->constant : first[a->second] == first[b->second]);
}

static gboolean
is_written_between (const Call *calls, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (calls[i].kind == ADD_IN_PLACE)
      return TRUE;
  return FALSE;
}

static void
check (const AdjGraph *graph, const Call *calls, const guint32 *found, gboolean across_writes)
{
  guint32 first[N_CALLS];

  for (guint32 i = 0; i < N_CALLS; i++)
    {
      first[i] = i;
      for (guint32 k = N_INPUTS; k < i && first[i] == i && may_merge (graph, i, NULL); k++)
        if (may_merge (graph, k, NULL) && is_same (&calls[i], &calls[k], first) &&
            (across_writes || !is_written_between (calls, k, i)))
          first[i] = k;
      g_assert_cmpuint (found[i], ==, first[i]);
    }
}

static void
random_programs (void)
{
  guint n_repeats = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Call calls[N_CALLS];
      g_autoptr (AdjGraph) graph = make_program (rand, calls);
      g_autofree guint32 *repeats = adj_graph_find_repeats (graph, may_merge, NULL);
      g_autofree guint32 *same = adj_graph_find_same_calls (graph, may_merge, NULL);

      check (graph, calls, repeats, FALSE);
      check (graph, calls, same, TRUE);
      for (guint i = 0; i < N_CALLS; i++)
        n_repeats += repeats[i] != i;
    }
  g_assert_cmpuint (n_repeats, >, N_SEEDS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/repeats/random-programs", random_programs);
  return g_test_run ();
}
