/* SPDX-License-Identifier: MIT */

/* A custom operator defined by text: the kernel, shapes and gradient follow from it.  It is
 * called, differentiated, and found when a graph is read. */

#include <adjoint-extend.h>
#include <stdio.h>
#include <string.h>
#include <wrappers/adj-wrappers.h>

static const AdjOp record = {
  .schema = "mine::softsign(Tensor self) -> Tensor",
  .help = "self / (1 + |self|)",
  .expr = "self / (1 + abs(self))",
  .grad = "self: div.Tensor(g, square(add.Scalar(abs(self), 1)))",
  .promote = ADJ_PROMOTE_FLOAT,
  .band = ADJ_BAND_ROUNDED,
};
static const char text[] = "def forward(self, x):\n"
                           "    softsign = torch.ops.mine.softsign.default(x);  x = None\n"
                           "    return softsign\n";
static AdjOp *softsign;

static const AdjOp *
find (const char *target)
{
  return strcmp (target, "torch.ops.mine.softsign.default") == 0 ? softsign : adj_op_find (target);
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjOp) op = softsign = adj_op_new (&record, &error);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjGraph) graph = op != NULL ? adj_graph_parse (text, -1, find, NULL, &error) : NULL;
  AdjTensor *x = adj_full (cx, (gint64[]){ 3 }, 1, ADJ_FLOAT (3)), *sum;
  AdjValue arg = ADJ_TENSOR (x), y;
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &arg };
  g_auto (AdjValue) ran = ADJ_NONE;

  if (graph == NULL)
    return fprintf (stderr, "%s\n", error->message), 1;
  adj_tensor_set_requires_grad (cx, x, TRUE);
  if (adj_call (cx, op, &args, NULL, &y) && (sum = adj_sum (cx, y.tensor)) != NULL &&
      adj_tensor_backward (cx, sum))
    printf ("called: %.4f, its gradient: %.4f\n", adj_item (cx, sum),
            adj_item (cx, adj_sum (cx, adj_tensor_get_grad (x))));
  if (adj_interpret (cx, graph, &arg, 1, NULL, &ran))
    printf ("in a graph: %.4f\n", adj_item (cx, adj_sum (cx, ran.tensor)));
  if (!adj_context_take_error (cx, &error))
    return 0;
  return fprintf (stderr, "%s\n", error->message), 1;
}
