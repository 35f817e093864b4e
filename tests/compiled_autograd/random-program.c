/* SPDX-License-Identifier: MIT */
/* Random programs with backwards, grown from a seed and run in any mode. */

#include "compiled_autograd/random-program.h"

#include <string.h>

#include "compiled_autograd/random-private.h"
#include "ops/adj-op-table.h"

#define N_STEPS 3

void
random_run_init (RandomRun *run)
{
  run->text = g_string_new (NULL);
  run->log = g_string_new (NULL);
  run->result = g_string_new (NULL);
}

void
random_run_clear (RandomRun *run)
{
  g_string_free (run->text, TRUE);
  g_string_free (run->log, TRUE);
  g_string_free (run->result, TRUE);
}

/* -- choosing -- */

gint
random_pick (Machine *m, gint begin, gint end)
{
  return begin < end ? g_rand_int_range (m->rand, begin, end) : begin;
}

gboolean
random_chance (Machine *m, guint percent)
{
  return random_pick (m, 0, 100) < (gint) percent;
}

/* Prefers late variables, which depend on earlier ones. */
Var *
random_pick_var (Machine *m)
{
  gint n = (gint) m->vars->len;
  gint index = MAX (random_pick (m, 0, n), random_pick (m, 0, n));

  return &g_array_index (m->vars, Var, index);
}

Var *
random_pick_var_with_grad (Machine *m)
{
  for (guint i = 0; i < 12; i++)
    {
      Var *var = random_pick_var (m);

      if (adj_tensor_get_requires_grad (var->tensor))
        return var;
    }
  for (guint i = 0; i < m->vars->len; i++)
    {
      Var *var = &g_array_index (m->vars, Var, i);

      if (adj_tensor_get_requires_grad (var->tensor))
        return var;
    }
  return NULL;
}

guint
random_index (const Machine *m, const Var *var)
{
  for (guint i = 0; i < m->vars->len; i++)
    if (g_array_index (m->vars, Var, i).tensor == var->tensor)
      return i;
  return G_MAXUINT;
}

/* -- saying what happened -- */

void
random_print_tensor (GString *out, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = tensor != NULL ? adj_tensor_snapshot (tensor) : NULL;
  const AdjTensorMeta *meta = tensor != NULL ? adj_tensor_get_meta (tensor) : NULL;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_MD5);

  if (data == NULL)
    {
      g_string_append (out, " none");
      return;
    }
  for (gint64 i = 0; i < adj_shape_numel (&meta->shape, NULL).word; i++)
    {
      double value = adj_tensor_data_get_double (data, i);

      g_checksum_update (sum, (gconstpointer) &value, sizeof value);
    }
  g_string_append_printf (out, " %s", adj_dtype_info (meta->dtype)->code);
  adj_shape_print_list (NULL, meta->shape.size, meta->shape.rank, out);
  g_string_append_printf (out, ":%.8s", g_checksum_get_string (sum));
}

gboolean
random_note_error (Machine *m, const char *what)
{
  g_autoptr (GError) error = NULL;

  if (!adj_context_take_error (m->cx, &error))
    return FALSE;
  g_string_append_printf (m->run->result, "%s: %s\n", what, error->message);
  return TRUE;
}

/* -- calling -- */

static void
print_argument (Machine *m, const AdjValue *value)
{
  GString *out = m->run->text;

  if (value->kind == ADJ_VALUE_TENSOR)
    {
      guint index = random_index (m, &(Var){ .tensor = value->tensor });

      if (index < G_MAXUINT)
        g_string_append_printf (out, " v%u", index);
      else
        g_string_append (out, " it");
    }
  else if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      print_argument (m, &value->items[i]);
  else if (value->kind == ADJ_VALUE_INT)
    g_string_append_printf (out, " %d", (gint) value->integer);
  else if (value->kind == ADJ_VALUE_FLOAT)
    g_string_append_printf (out, " %g", value->number);
}

gboolean
random_call (Machine *m, const char *name, const AdjValue *args, guint n, AdjValue *result)
{
  g_autofree char *target =
      g_strdup_printf ("torch.ops.aten.%s%s", name, strchr (name, '.') != NULL ? "" : ".default");
  const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args };
  const AdjOp *op = adj_op_find (target);

  g_assert_nonnull (op);
  g_string_append_printf (m->run->text, "  %s", name);
  for (guint i = 0; i < n; i++)
    print_argument (m, &args[i]);
  g_string_append_c (m->run->text, '\n');
  if (adj_call (m->cx, op, &tuple, NULL, result))
    return TRUE;
  random_note_error (m, name);
  return FALSE;
}

/* Returns the tag of a dimension that @salt changed. */
static guint
new_tag (guint tag, guint salt)
{
  return (tag + 1) * 31 + 100 + salt;
}

void
random_add (Machine *m, AdjTensor *tensor, const Var *source, guint salt)
{
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;
  Var var = { tensor, shape->rank, { { 0, 0 } } };

  if (shape->rank > RANDOM_MAX_RANK)
    return;
  for (guint i = 0; i < shape->rank; i++)
    {
      gint64 size = shape->size[i].word;

      var.dims[i] = (Dim){ new_tag ((guint) size, salt), size };
      if (shape->rank == source->rank && size == source->dims[i].size && salt != 2 && salt != 4)
        var.dims[i] = source->dims[i];
    }
  g_array_append_val (m->vars, var);
}

void
random_add_dims (Machine *m, AdjTensor *tensor, const Dim *dims, guint rank)
{
  Var var = { tensor, rank, { { 0, 0 } } };

  for (guint i = 0; i < rank; i++)
    var.dims[i] = dims[i];
  g_array_append_val (m->vars, var);
}

/* -- leaves -- */

static AdjTensor *
make_values (Machine *m, const Var *var, AdjDType dtype, guint salt)
{
  gint64 sizes[RANDOM_MAX_RANK], n = 1;
  g_autofree double *values = NULL;
  g_autofree float *singles = NULL;
  g_autofree guint16 *halves = NULL;

  for (guint i = 0; i < var->rank; i++)
    n *= sizes[i] = var->dims[i].size;
  values = g_new0 (double, n + 1);
  singles = g_new0 (float, n + 1);
  halves = g_new0 (guint16, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      guint32 bits;
      gint64 k = (i * 7 + salt * 5 + m->step * 3) % 11 - 5;

      values[i] = (m->flags & RANDOM_EXACT) != 0 ? (double) (k / 3) : (double) k / 7;
      singles[i] = (float) values[i];
      memcpy (&bits, &singles[i], sizeof bits);
      halves[i] = (guint16) (bits >> 16);
    }
  return adj_from_array (m->cx, dtype, sizes, var->rank,
                         dtype == ADJ_DTYPE_F64   ? (gconstpointer) values
                         : dtype == ADJ_DTYPE_F32 ? (gconstpointer) singles
                                                  : (gconstpointer) halves);
}

static AdjDType
pick_dtype (Machine *m)
{
  gint which = random_pick (m, 0, 12);

  if ((m->flags & RANDOM_EXACT) != 0)
    return ADJ_DTYPE_F64;
  return which < 2 ? ADJ_DTYPE_F64 : which < 3 ? ADJ_DTYPE_BF16 : ADJ_DTYPE_F32;
}

/* Returns equal values with the first and last dimensions swapped in memory. */
static AdjTensor *
turn (Machine *m, AdjTensor *tensor)
{
  if (adj_tensor_get_rank (tensor) < 2)
    return tensor;
  tensor = CALL (m->cx, "transpose.int", T (tensor), ADJ_INT (0), ADJ_INT (-1));
  tensor = CALL (m->cx, "clone", T (tensor));
  return CALL (m->cx, "transpose.int", T (tensor), ADJ_INT (0), ADJ_INT (-1));
}

static gboolean
same_sizes (const Var *a, const Var *b)
{
  gboolean same = a->rank == b->rank;

  for (guint i = 0; same && i < a->rank; i++)
    same = a->dims[i].size == b->dims[i].size;
  return same;
}

static void
make_leaf (Machine *m, guint index)
{
  Leaf *leaf = &m->leaves[index];
  Var var = { NULL, (guint) random_pick (m, 0, 4) % 4, { { 0, 0 } } };
  AdjDType dtype = pick_dtype (m);
  const gboolean requires_grad = index == 0 || random_chance (m, 80);
  const gboolean stays = random_chance (m, 60), forgets = random_chance (m, 50);
  const guint turned = (guint) random_pick (m, 0, 8); /* bit mask of steps */

  var.rank = var.rank == 0 ? 2 : var.rank;
  if (random_chance (m, 8))
    var.rank = 0;
  for (guint i = 0; i < var.rank; i++)
    {
      guint tag = (guint) random_pick (m, 0, RANDOM_N_DIMS + random_chance (m, 20));

      var.dims[i] = (Dim){ tag, m->sizes[tag] };
    }
  if (leaf->tensor == NULL || !stays || !same_sizes (&leaf->var, &var))
    {
      g_clear_pointer (&leaf->tensor, adj_tensor_unref);
      var.tensor = make_values (m, &var, dtype, index);
      if ((turned >> m->step & 1) != 0)
        var.tensor = turn (m, var.tensor);
      leaf->tensor = adj_keep (var.tensor);
      adj_tensor_set_requires_grad (m->cx, leaf->tensor, requires_grad);
      leaf->var = var;
    }
  else if (forgets && requires_grad)
    adj_tensor_set_grad (m->cx, leaf->tensor, NULL);
  leaf->var.tensor = leaf->tensor;
  g_string_append_printf (m->run->text, "  v%u: ", index);
  adj_tensor_meta_print (adj_tensor_get_meta (leaf->tensor), NULL, m->run->text);
  g_string_append (m->run->text, adj_tensor_get_requires_grad (leaf->tensor) ? " rg\n" : "\n");
  g_array_append_val (m->vars, leaf->var);
}

/* -- backward -- */

static AdjTensor *
sum_of (Machine *m, const Var *var)
{
  AdjValue result;

  return RANDOM_CALL (m, "sum", &result, T (var->tensor)) ? result.tensor : NULL;
}

/* (nullable) */
static AdjTensor *
make_loss (Machine *m)
{
  const guint n = (guint) random_pick (m, 1, 4);
  AdjTensor *loss = NULL;

  for (guint i = 0; i < n; i++)
    {
      const Var *var = i == 0 ? random_pick_var_with_grad (m) : random_pick_var (m);
      AdjTensor *sum = var != NULL ? sum_of (m, var) : NULL;
      AdjValue result = T (sum);

      if (sum == NULL ||
          (loss != NULL && !RANDOM_CALL (m, "add.Tensor", &result, T (loss), T (sum))))
        return NULL;
      loss = result.tensor;
    }
  return loss;
}

static void
run_plain (Machine *m)
{
  AdjTensor *loss = make_loss (m);
  const gboolean twice = random_chance (m, 25);

  if (loss == NULL)
    return;
  for (guint i = 0; i < 1U + twice; i++)
    {
      g_string_append (m->run->text, "  backward\n");
      adj_backward (m->cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, NULL, 0,
                    twice && i == 0 ? ADJ_BACKWARD_RETAIN_GRAPH : 0);
      random_note_error (m, "backward");
    }
}

static void
run_with_roots (Machine *m)
{
  AdjTensor *roots[2], *grads[2];
  const guint n = (guint) random_pick (m, 1, 3);
  const gboolean turned = random_chance (m, 40);

  for (guint i = 0; i < n; i++)
    {
      const Var *var = random_pick_var_with_grad (m);

      if (var == NULL)
        return;
      roots[i] = var->tensor;
      grads[i] = make_values (m, var, adj_tensor_get_meta (var->tensor)->dtype, 9 + i);
      if (turned && m->step == 1)
        grads[i] = turn (m, grads[i]);
      g_ptr_array_add (m->outputs, grads[i]);
      g_string_append_printf (m->run->text, "  root v%u\n", random_index (m, var));
    }
  adj_backward (m->cx, &(AdjGradRoots){ .tensors = roots, .grads = grads, .n = n }, NULL, 0, 0);
  random_note_error (m, "backward");
}

/* Calls backward with given inputs, or adj_grad(). */
static void
run_with_inputs (Machine *m)
{
  AdjTensor *inputs[2], *grads[2];
  const gboolean accumulates = random_chance (m, 50);
  guint n = (guint) random_pick (m, 1, 3);
  AdjTensor *loss = make_loss (m);
  AdjBackwardFlags flags = random_chance (m, 25) ? ADJ_BACKWARD_RETAIN_GRAPH : 0;

  for (guint i = 0; i < n && loss != NULL; i++)
    {
      const Var *var = random_pick_var_with_grad (m);

      inputs[i] = var->tensor;
      /* A captured gradient of a tensor that other nodes need is seen after its hooks, so such a
       * tensor is asked for alone. */
      if (!accumulates && adj_tensor_get_grad_node (var->tensor) != NULL)
        n = i + 1, inputs[0] = inputs[i], n = 1;
      g_string_append_printf (m->run->text, "  input v%u\n", random_index (m, var));
      if (accumulates)
        g_ptr_array_add (m->outputs, var->tensor);
    }
  if (loss == NULL)
    return;
  if (accumulates)
    adj_backward (m->cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, inputs, n, flags);
  else if (adj_grad (m->cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, inputs, n,
                     flags | ADJ_BACKWARD_ALLOW_UNUSED, grads))
    for (guint i = 0; i < n; i++)
      random_print_tensor (m->run->result, grads[i]);
  random_note_error (m, "backward");
}

static void
describe (Machine *m)
{
  GString *out = m->run->result;

  g_string_append_printf (out, "step %u\n", m->step);
  for (guint i = 0; i < m->n_leaves; i++)
    {
      AdjTensor *grad = adj_tensor_get_grad (m->leaves[i].tensor);

      random_print_tensor (out, grad);
      if (grad != NULL)
        adj_tensor_meta_print (adj_tensor_get_meta (grad), NULL, m->run->log);
    }
  g_string_append (out, "\noutputs");
  for (guint i = 0; i < m->outputs->len; i++)
    {
      AdjTensor *tensor = g_ptr_array_index (m->outputs, i);

      random_print_tensor (out, tensor);
      random_print_tensor (out, adj_tensor_get_grad (tensor));
    }
  g_string_append (m->run->log, "kept");
  for (guint i = 0; i < m->kept->len; i++)
    random_print_tensor (m->run->log, g_ptr_array_index (m->kept, i));
  g_string_append_c (m->run->log, '\n');
  g_string_append_c (out, '\n');
}

/* -- steps -- */

static gint64
pick_size (GRand *rand)
{
  gint k = g_rand_int_range (rand, 0, 20);

  return k == 0 ? 0 : k == 1 ? 1 : g_rand_int_range (rand, 2, 6);
}

static void
change_sizes (Machine *m, GRand *rand)
{
  for (guint i = 0; i < RANDOM_N_DIMS; i++)
    if (m->step == 0 || g_rand_int_range (rand, 0, 100) < 40)
      m->sizes[i] = pick_size (rand);
  m->sizes[DIM_ONE] = 1;
}

static void
run_step (Machine *m)
{
  guint n;

  g_string_append_printf (m->run->text, "step %u\n", m->step);
  m->n_leaves = (guint) random_pick (m, 1, RANDOM_MAX_LEAVES + 1);
  for (guint i = 0; i < m->n_leaves; i++)
    make_leaf (m, i);
  n = (guint) random_pick (m, 2, (m->flags & RANDOM_EXACT) != 0 ? 10 : 18);
  for (guint i = 0; i < n; i++)
    {
      gint which = random_pick (m, 0, 20);

      if (which < 12)
        random_add_operation (m);
      else if (which < 15)
        random_add_function (m);
      else
        random_add_hook (m);
    }
  random_end_packing (m);
  switch (random_pick (m, 0, 5))
    {
    case 0:
      run_with_roots (m);
      break;
    case 1:
      run_with_inputs (m);
      break;
    default:
      run_plain (m);
      break;
    }
  describe (m);
}

void
random_run (RandomRun *run, guint32 seed, RandomFlags flags, AdjCompiledAutograd *compiler)
{
  g_autoptr (GRand) sizes = g_rand_new_with_seed (seed ^ 0x5bd1e995);
  Machine m = { .cx = tape_new (), .flags = flags, .run = run };

  m.vars = g_array_new (FALSE, FALSE, sizeof (Var));
  m.notes = g_ptr_array_new_with_free_func (random_note_free);
  m.kept = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  m.outputs = g_ptr_array_new ();
  if (compiler != NULL)
    g_assert_true (adj_compiled_autograd_enable (compiler, m.cx));
  for (m.step = 0; m.step < N_STEPS; m.step++)
    {
      m.rand = g_rand_new_with_seed (seed);
      change_sizes (&m, sizes);
      adj_scope_begin (m.cx);
      run_step (&m);
      adj_scope_end (m.cx);
      g_array_set_size (m.vars, 0);
      g_ptr_array_set_size (m.outputs, 0);
      g_rand_free (m.rand);
    }
  if (compiler != NULL)
    adj_compiled_autograd_restore (m.cx);
  for (guint i = 0; i < RANDOM_MAX_LEAVES; i++)
    g_clear_pointer (&m.leaves[i].tensor, adj_tensor_unref);
  g_ptr_array_unref (m.kept);
  g_ptr_array_unref (m.outputs);
  g_array_unref (m.vars);
  adj_context_free (m.cx);
  g_ptr_array_unref (m.notes);
}
