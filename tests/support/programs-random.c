/* SPDX-License-Identifier: MIT */
/* Random programs, grown statement by statement; a statement is kept if it runs. */

#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/programs-private.h"

typedef struct
{
  GRand *rand;
  AdjContext *cx;
  Program *program;
  ProgramFlags flags;
  AdjTensor *vars[PROGRAM_MAX_VARS];
  AdjTensor *inputs[PROGRAM_MAX_INPUTS]; /* (owned) */
  guint n_products;
} Growing;

/* Arguments of a call, one letter each; a lower-case letter is a single value. */
typedef struct
{
  const char *name;
  const char *args;
  guint weight;
} Template;

/* t tensor, d dimension, i index in the preceding dimension, n number, e end position in that
 * dimension, b bool; L [t, t], F [-1], P permutation, E expanded sizes, V two sizes, A sizes,
 * strides and offset, D [d], S sizes of a smaller tensor */
static const Template templates[] = {
  { "add.Tensor", "tt", 4 },
  { "sub.Tensor", "tt", 2 },
  { "mul.Tensor", "tt", 2 },
  { "mul.Tensor", "tn", 3 },
  { "add.Tensor", "tn", 3 },
  { "neg.default", "t", 2 },
  { "relu.default", "t", 2 },
  { "maximum.default", "tt", 1 },
  { "clone.default", "t", 4 },
  { "sum.dim_IntList", "tD", 2 },
  { "sum.default", "t", 1 },
  { "cat.default", "Ld", 2 },
  { "flip.default", "tD", 1 },
  /* views */
  { "select.int", "tdi", 8 },
  { "slice.Tensor", "tdie", 6 },
  { "slice.Tensor", "tdiNs", 2 },
  { "t.default", "t", 5 },
  { "transpose.int", "tdd", 4 },
  { "permute.default", "tP", 3 },
  { "unsqueeze.default", "td", 4 },
  { "squeeze.dim", "td", 3 },
  { "squeeze.default", "t", 2 },
  { "expand.default", "tE", 2 },
  { "diagonal.default", "t", 3 },
  { "view.default", "tF", 5 },
  { "view.default", "tV", 3 },
  { "_unsafe_view.default", "tF", 1 },
  { "as_strided.default", "tA", 2 },
  { "split.Tensor", "tsd", 4 },
  { "unbind.int", "td", 4 },
  { "alias.default", "t", 2 },
  { "detach.default", "t", 3 },
  { "unfold.default", "tdss", 2 },
  /* writes */
  { "add_.Tensor", "tt", 6 },
  { "add_.Tensor", "tn", 8 },
  { "mul_.Tensor", "tn", 8 },
  { "mul_.Tensor", "tt", 2 },
  { "sub_.Tensor", "tt", 3 },
  { "copy_.default", "tt", 6 },
  { "fill_.Scalar", "tn", 4 },
  { "neg_.default", "t", 4 },
  { "relu_.default", "t", 2 },
  { "add.out", "ttO", 3 },
  { "neg.out", "tO", 2 },
  { "_foreach_add_.Scalar", "Ln", 2 },
  { "_foreach_mul_.Scalar", "Ln", 1 },
  /* changes of geometry */
  { "t_.default", "t", 3 },
  { "transpose_.default", "tdd", 2 },
  { "unsqueeze_.default", "td", 2 },
  { "squeeze_.dim", "td", 2 },
  { "resize_.default", "tS", 1 },
};

static gint
pick (Growing *g, gint begin, gint end)
{
  return begin < end ? g_rand_int_range (g->rand, begin, end) : begin;
}

static const AdjShape *
shape_of (Growing *g, guint var)
{
  return &adj_tensor_get_meta (g->vars[var])->shape;
}

/* -- arguments -- */

static AdjValue
pick_var (Growing *g)
{
  /* Prefers late variables, which depend on earlier ones. */
  gint n = (gint) g->program->n_vars;
  gint var = MAX (pick (g, 0, n), pick (g, 0, n));

  return ADJ_NODE ((AdjNodeId){ (guint) var });
}

static AdjValue
make_list (const gint64 *numbers, guint n)
{
  AdjValue items[ADJ_MAX_RANK];

  for (guint i = 0; i < n; i++)
    items[i] = ADJ_INT (numbers[i]);
  return adj_value_new_items (ADJ_VALUE_LIST, items, n);
}

static AdjValue
make_permutation (Growing *g, const AdjShape *shape)
{
  gint64 dims[ADJ_MAX_RANK];

  for (guint i = 0; i < shape->rank; i++)
    {
      guint k = (guint) pick (g, 0, (gint) i + 1);

      dims[i] = dims[k];
      dims[k] = i;
    }
  return make_list (dims, shape->rank);
}

static AdjValue
make_expanded (Growing *g, const AdjShape *shape)
{
  gint64 sizes[ADJ_MAX_RANK + 1];
  guint more = (guint) pick (g, 0, 2);

  sizes[0] = 2;
  for (guint i = 0; i < shape->rank; i++)
    sizes[i + more] = shape->size[i].word == 1 ? 3 : -1;
  return make_list (sizes, shape->rank + more);
}

static AdjValue
make_smaller (const AdjShape *shape)
{
  gint64 sizes[ADJ_MAX_RANK];

  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = shape->size[i].word - (i == 0 && shape->size[i].word > 1);
  return make_list (sizes, shape->rank);
}

/* Appends sizes, strides and offset of a subset of the elements of @shape, which must be
 * contiguous. */
static guint
put_strided (Growing *g, const AdjShape *shape, AdjValue *args)
{
  gint64 n = adj_shape_numel (shape, NULL).word;
  gint64 stride = pick (g, 1, 3);
  gint64 offset = pick (g, 0, 2);
  gint64 size = MAX ((n - offset) / stride, 0);

  offset += shape->offset.word;
  args[0] = make_list (&size, 1);
  args[1] = make_list (&stride, 1);
  args[2] = ADJ_INT (offset);
  return 3;
}

/* Appends the arguments for @letter to @args, which holds the preceding ones; returns their
 * number. */
static guint
put_args (Growing *g, char letter, AdjValue *args, guint n)
{
  const AdjShape *shape =
      n > 0 && args[0].kind == ADJ_VALUE_NODE ? shape_of (g, args[0].node.index) : shape_of (g, 0);
  const gint64 numbers[] = { -2, -1, 2, 3 };
  gint64 dim = pick (g, -(gint) shape->rank, (gint) shape->rank);
  gint64 two[] = { -1, pick (g, 1, 4) };
  AdjValue pair[2];

  if (letter == 't')
    args[n] = pick_var (g);
  else if (letter == 'd')
    args[n] = ADJ_INT (dim);
  else if (letter == 'i')
    args[n] = ADJ_INT (pick (g, -1, 2));
  else if (letter == 'e')
    args[n] = ADJ_INT (pick (g, 1, 4));
  else if (letter == 's')
    args[n] = ADJ_INT (pick (g, 1, 3));
  else if (letter == 'N')
    args[n] = ADJ_NONE;
  else if (letter == 'n')
    args[n] = ADJ_INT (numbers[pick (g, 0, 4)]);
  else if (letter == 'F')
    args[n] = make_list (two, 1);
  else if (letter == 'V')
    args[n] = make_list (two, 2);
  else if (letter == 'D')
    args[n] = make_list (&dim, shape->rank > 0);
  else if (letter == 'P')
    args[n] = make_permutation (g, shape);
  else if (letter == 'E')
    args[n] = make_expanded (g, shape);
  else if (letter == 'S')
    args[n] = make_smaller (shape);
  else if (letter == 'A')
    return put_strided (g, shape, &args[n]);
  else
    {
      pair[0] = pick_var (g);
      pair[1] = pick_var (g);
      args[n] = adj_value_new_items (ADJ_VALUE_LIST, pair, 2);
    }
  return 1;
}

/* -- statements -- */

static const Template *
pick_template (Growing *g)
{
  guint total = 0;
  guint at;

  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    total += templates[i].weight;
  at = (guint) pick (g, 0, (gint) total);
  for (guint i = 0;; i++)
    {
      if (at < templates[i].weight)
        return &templates[i];
      at -= templates[i].weight;
    }
}

static void
make_call (Growing *g, Statement *statement)
{
  const Template *template = pick_template (g);
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s", template->name);
  AdjValue args[8], out[2];
  guint n = 0;

  statement->op = adj_op_find (target);
  if (statement->op == NULL)
    g_error ("there is no %s", target);
  for (const char *letter = template->args; *letter != '\0'; letter++)
    if (*letter != 'O')
      n += put_args (g, *letter, args, n);
  if (strchr (template->args, 'O') != NULL)
    {
      out[0] = adj_value_new_string ("out");
      out[1] = pick_var (g);
      statement->kwargs = adj_value_new_items (ADJ_VALUE_DICT, out, 2);
    }
  statement->args = adj_value_new_items (ADJ_VALUE_TUPLE, args, n);
  if (pick (g, 0, 12) == 0)
    {
      statement->guard = (gint) pick_var (g).node.index;
      statement->guard_size = pick (g, 1, 7);
    }
}

/* Products of products would exceed small integers. */
static gboolean
is_product (const Statement *statement)
{
  return g_str_has_prefix (adj_op_get_schema (statement->op)->name, "mul") &&
         statement->args.n > 1 && statement->args.items[1].kind == ADJ_VALUE_NODE;
}

/* Of several results one or two become variables. */
static guint
pick_n_results (Growing *g, const Statement *statement)
{
  const AdjSchema *schema = adj_op_get_schema (statement->op);

  if (schema->n_returns == 0)
    return 0;
  return schema->returns[0].type.is_list ? (guint) pick (g, 1, 3) : 1;
}

static gboolean
is_large (Growing *g, const Statement *statement)
{
  return statement->n_out > 0 && (shape_of (g, statement->out)->rank > 6 ||
                                  adj_shape_numel (shape_of (g, statement->out), NULL).word > 1000);
}

static gboolean
try_call (Growing *g)
{
  Program *program = g->program;
  Statement statement = { .kind = STATEMENT_CALL, .guard = -1, .out = program->n_vars };
  g_autoptr (GError) error = NULL;

  make_call (g, &statement);
  statement.n_out = pick_n_results (g, &statement);
  if (program->n_vars + statement.n_out > PROGRAM_MAX_VARS ||
      (is_product (&statement) && g->n_products >= 2) ||
      !statement_run (&statement, g->cx, g->vars) || is_large (g, &statement))
    {
      adj_context_take_error (g->cx, &error);
      statement_clear (&statement);
      return FALSE;
    }
  g->n_products += is_product (&statement);
  program->n_vars += statement.n_out;
  g_array_append_val (program->statements, statement);
  return TRUE;
}

static void
add_statement (Growing *g)
{
  Statement statement = { .guard = -1 };

  const gboolean hooks = (g->flags & PROGRAM_HOOKS) != 0;
  const gboolean modes = (g->flags & PROGRAM_GRAD_MODE) != 0;

  if ((hooks || modes) && pick (g, 0, 12) == 0)
    {
      statement.kind = modes && (!hooks || pick (g, 0, 2)) ? STATEMENT_GRAD_MODE : STATEMENT_HOOK;
      statement.on = !adj_context_get_grad_enabled (g->cx);
      statement.var = pick_var (g).node.index;
      if (statement_run (&statement, g->cx, g->vars))
        g_array_append_val (g->program->statements, statement);
      else
        adj_context_take_error (g->cx, NULL);
      return;
    }
  for (guint i = 0; i < 40 && !try_call (g); i++)
    ;
}

/* -- inputs and outputs -- */

static void
add_input (Growing *g)
{
  static const struct
  {
    guint rank;
    gint64 sizes[3];
  } shapes[] = {
    { 2, { 2, 3 } }, { 2, { 3, 2 } },    { 2, { 2, 2 } }, { 1, { 3 } },
    { 1, { 4 } },    { 3, { 2, 1, 3 } }, { 2, { 1, 3 } }, { 0, { 0 } },
  };
  Program *program = g->program;
  Input *input = &program->inputs[program->n_inputs];
  guint shape = (guint) pick (g, 0, G_N_ELEMENTS (shapes));

  input->meta = (AdjTensorMeta){
    .dtype = pick (g, 0, 5) == 0 ? ADJ_DTYPE_F32 : ADJ_DTYPE_F64,
    .device = ADJ_CPU,
    .has_strides = TRUE,
    .storage = -1,
  };
  adj_shape_init_ints (&input->meta.shape, shapes[shape].rank, shapes[shape].sizes);
  input->requires_grad = (g->flags & PROGRAM_GRADIENTS) != 0 && pick (g, 0, 4) > 0;
  input->is_leaf = pick (g, 0, 2) == 0;
  if ((g->flags & PROGRAM_ALIASED_INPUTS) != 0 && program->n_inputs > 0 && pick (g, 0, 2) == 0)
    {
      input->of = (guint) pick (g, 0, (gint) program->n_inputs);
      input->kind = (InputKind) pick (g, INPUT_SAME, INPUT_FLAT + 1);
      if (program->inputs[input->of].meta.shape.rank == 0 ||
          program->inputs[input->of].kind != INPUT_FRESH)
        input->kind = INPUT_SAME;
      input->requires_grad = FALSE;
    }
  program->n_inputs++;
}

static void
pick_outputs (Growing *g)
{
  Program *program = g->program;

  program->n_outputs = (guint) pick (g, 1, (gint) G_N_ELEMENTS (program->outputs) + 1);
  for (guint i = 0; i < program->n_outputs; i++)
    program->outputs[i] = pick_var (g).node.index;
}

Program *
program_new (guint32 seed, ProgramFlags flags)
{
  Growing g = { .rand = g_rand_new_with_seed (seed), .cx = adj_context_new (), .flags = flags };
  Program *program = g_new0 (Program, 1);
  guint n;

  adj_context_push_mode (g.cx, adj_autograd_mode_new ());
  program->seed = seed;
  program->statements = g_array_new (FALSE, TRUE, sizeof (Statement));
  g_array_set_clear_func (program->statements, (GDestroyNotify) statement_clear);
  g.program = program;
  n = (guint) pick (&g, 1, PROGRAM_MAX_INPUTS + 1);
  for (guint i = 0; i < n; i++)
    add_input (&g);
  program_make_inputs (program, g.cx, g.inputs, NULL);
  memcpy (g.vars, g.inputs, sizeof g.inputs);
  program->n_vars = n;
  n = (guint) pick (&g, 3, 15);
  for (guint i = 0; i < n; i++)
    add_statement (&g);
  pick_outputs (&g);
  for (guint i = 0; i < program->n_inputs; i++)
    adj_tensor_unref (g.inputs[i]);
  adj_context_free (g.cx);
  g_rand_free (g.rand);
  return program;
}
