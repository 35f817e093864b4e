/* SPDX-License-Identifier: MIT */
/* Second derivatives of layer norms. */

#include "call/adj-op-internal.h"
#include "rules/gradients-private.h"

/* The backward of a layer norm gives gx, gw and gb of G, the gradient of its result.  With x as M
 * rows of N numbers, c = x − μ, r = 1 / σ and h = G w, sums being over a row, cotangents u, v, t of
 * the three give:
 *
 *   x: c r³ (Σu Σh / N − Σuh + 3 r² Σhc Σuc / N) / N + r³ Σuc (Σh / N − h) / N
 *      + r³ Σhc (Σu / N − u) / N + G v r − r ΣGv / N − c r³ ΣGvc / N
 *   w: the sum over all rows of G B (1)     G: B (w) + v c r + t
 *
 * where B (w) = w r (N u − Σu − c r² Σuc) / N.  The steps are those of PyTorch's formula. */

typedef struct
{
  AdjRuleCall *call;
  AdjValue n; /* N */
  AdjTensor *c;
  AdjTensor *r, *r2, *r3; /* 1 / σ and its powers */
  AdjTensor *cr3;
} Rows;

static AdjTensor *
row_sum (const Rows *rows, AdjTensor *z)
{
  const AdjValue dims = { .kind = ADJ_VALUE_LIST, .n = 1, .items = (AdjValue[]){ ADJ_INT (1) } };

  return z == NULL ? NULL
                   : ADJ_APPLY (rows->call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (z), dims,
                                ADJ_BOOL (TRUE));
}

static AdjTensor *
by (const Rows *rows, AdjOpId op, AdjTensor *z, AdjValue number)
{
  return z == NULL ? NULL : ADJ_APPLY (rows->call->cx, op, ADJ_TENSOR (z), number);
}

static AdjTensor *
over_n (const Rows *rows, AdjTensor *z)
{
  return by (rows, ADJ_OP_div_Scalar, z, rows->n);
}

static AdjTensor *
over_minus_n (const Rows *rows, AdjTensor *z)
{
  return rows->n.kind == ADJ_VALUE_INT ? by (rows, ADJ_OP_div_Scalar, z, ADJ_INT (-rows->n.integer))
                                       : rule_neg (rows->call, over_n (rows, z));
}

static AdjTensor *
three_over_n (const Rows *rows, AdjTensor *z)
{
  return rows->n.kind == ADJ_VALUE_INT
             ? by (rows, ADJ_OP_mul_Scalar, z, ADJ_FLOAT (3.0 / (double) rows->n.integer))
             : over_n (rows, by (rows, ADJ_OP_mul_Scalar, z, ADJ_INT (3)));
}

/* The gradient of x from that of gx. */
static AdjTensor *
of_x_by_x (const Rows *rows, AdjTensor *u, AdjTensor *h)
{
  AdjRuleCall *call = rows->call;
  AdjTensor *s_hc = row_sum (rows, rule_times (call, h, rows->c)), *s_h = row_sum (rows, h);
  AdjTensor *s_u = row_sum (rows, u), *s_uc = row_sum (rows, rule_times (call, u, rows->c));
  AdjTensor *all, *part;

  all = over_n (rows, rule_times (call, s_u, s_h));
  all = rule_sub (call, all, row_sum (rows, rule_times (call, u, h)));
  part = rule_times (call, rule_times (call, rows->r2, s_hc), s_uc);
  all = rule_add (call, all, three_over_n (rows, part));
  all = over_n (rows, rule_times (call, rows->cr3, all));
  part = rule_sub (call, over_n (rows, s_h), h);
  part = rule_times (call, over_n (rows, rule_times (call, s_uc, rows->r3)), part);
  all = rule_add (call, all, part);
  part = rule_sub (call, over_n (rows, s_u), u);
  part = rule_times (call, over_n (rows, rule_times (call, s_hc, rows->r3)), part);
  return rule_add (call, all, part);
}

/* The gradient of x from that of gw. */
static AdjTensor *
of_x_by_weight (const Rows *rows, AdjTensor *v, AdjTensor *g)
{
  AdjRuleCall *call = rows->call;
  AdjTensor *all = rule_times (call, rule_times (call, g, v), rows->r), *part;

  part = rule_times (call, rows->r, row_sum (rows, rule_times (call, g, v)));
  part = over_minus_n (rows, part);
  all = rule_add (call, all, part);
  part = rule_times (call, rule_times (call, g, v), rows->c);
  part = over_minus_n (rows, rule_times (call, rows->cr3, row_sum (rows, part)));
  return rule_add (call, all, part);
}

/* What the backward makes of u as the gradient of its result, with @weight. */
static AdjTensor *
backward_of (const Rows *rows, AdjTensor *u, AdjTensor *weight)
{
  AdjRuleCall *call = rows->call;
  AdjTensor *factor = over_n (rows, rule_times (call, weight, rows->r)), *all, *part;

  all = rule_sub (call, by (rows, ADJ_OP_mul_Scalar, u, rows->n), row_sum (rows, u));
  part = row_sum (rows, rule_times (call, u, rows->c));
  part = rule_times (call, rule_times (call, rows->c, rows->r2), part);
  return rule_times (call, factor, rule_sub (call, all, part));
}

static AdjTensor *
of_weight (const Rows *rows, AdjTensor *u, AdjTensor *g)
{
  const AdjValue dims = { .kind = ADJ_VALUE_LIST, .n = 1, .items = (AdjValue[]){ ADJ_INT (0) } };
  AdjValue none = { .kind = ADJ_VALUE_LIST };
  AdjTensor *one = rule_new (rows->call, ADJ_OP_ones, g, none);

  g = rule_times (rows->call, g, one != NULL ? backward_of (rows, u, one) : NULL);
  return g != NULL ? ADJ_APPLY (rows->call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g), dims)
                   : NULL;
}

/* Arguments: the gradients of gx, gw, gb, then grad_out, input, weight, mean, rstd, and the
 * normalised shape. */
gboolean
rule_layer_norm_second (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *u = rule_tensor_of (&args[0]), *v = rule_tensor_of (&args[1]),
            *t = rule_tensor_of (&args[2]), *g, *w, *weight = rule_tensor_of (&args[5]);
  const AdjShape *shape = rule_shape_of (args[4].tensor);
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize sizes[] = { ADJ_SIZE (1), ADJ_SIZE (1) }, row[] = { ADJ_SIZE (1), ADJ_SIZE (1) };
  AdjValue matrix, stats, line, whole = rule_list_of_sizes (call, shape), flat;
  AdjTensor *of_g = NULL, *of_x = NULL, *of_w = NULL;
  Rows rows = { .call = call };

  for (guint i = 0; i < shape->rank; i++)
    {
      AdjSize *size = &sizes[i + args[8].n >= shape->rank ? 1 : 0];

      *size = adj_size_mul (symbols, *size, shape->size[i]);
    }
  row[1] = sizes[1];
  matrix = adj_rule_list_sizes (call->arena, sizes, 2);
  line = adj_rule_list_sizes (call->arena, row, 2);
  row[0] = sizes[0];
  row[1] = ADJ_SIZE (1);
  stats = adj_rule_list_sizes (call->arena, row, 2);
  rows.n = adj_value_from_size (sizes[1]);

  rows.c = rule_shaped (call, args[4].tensor, &matrix);
  g = rule_shaped (call, args[3].tensor, &matrix);
  w = rule_shaped (call, args[6].tensor, &stats);
  rows.r = rule_shaped (call, args[7].tensor, &stats);
  rows.c = rule_sub (call, rows.c, w);
  w = weight != NULL ? rule_shaped (call, weight, &line)
                     : rule_new (call, ADJ_OP_ones, args[4].tensor,
                                 adj_rule_list_sizes (call->arena, (AdjSize[]){ ADJ_SIZE (1) }, 1));
  v = rule_shaped (call, v, &line);
  t = rule_shaped (call, t, &line);
  u = rule_shaped (call, u, &matrix);
  rows.r2 = by (&rows, ADJ_OP_pow_Tensor_Scalar, rows.r, ADJ_INT (2));
  rows.r3 = by (&rows, ADJ_OP_pow_Tensor_Scalar, rows.r, ADJ_INT (3));
  rows.cr3 = rule_times (call, rows.c, rows.r3);
  if (u != NULL)
    of_x = of_x_by_x (&rows, u, rule_times (call, g, w));
  if (v != NULL)
    of_x = rule_sum_given (call, of_x, of_x_by_weight (&rows, v, g));
  of_x = rule_shaped (call, of_x, &whole);
  if (u != NULL && weight != NULL)
    {
      flat = rule_list_of_sizes (call, rule_shape_of (weight));
      of_w = rule_shaped (call, of_weight (&rows, u, g), &flat);
    }
  if (u != NULL)
    of_g = backward_of (&rows, u, w);
  of_g = rule_sum_given (call, of_g, rule_times (call, rule_times (call, v, rows.c), rows.r));
  of_g = rule_sum_given (call, of_g, t);
  if (of_g != NULL)
    of_g = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (of_g), matrix);
  return rule_give_list (call, (AdjTensor *[]){ rule_shaped (call, of_g, &whole), of_x, of_w }, 3,
                         out);
}
