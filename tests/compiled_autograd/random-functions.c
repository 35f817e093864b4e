/* SPDX-License-Identifier: MIT */
/* Non-operator calls of random programs: custom functions, modules with hooks, checkpoints, and
 * hooks of saved tensors. */

#include "autograd/adj-checkpoint.h"
#include "autograd/adj-custom.h"
#include "autograd/adj-module-hooks.h"
#include "compiled_autograd/random-private.h"
#include "ops/adj-op-table.h"

#define OP(cx, name, ...) CALL ((cx), (name), __VA_ARGS__)

/* -- custom functions; their gradients need not be the right ones -- */

static gboolean
square_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  out[0] = OP (adj_custom_call_get_context (call), "mul.Tensor", T (in[0]), T (in[0]));
  adj_custom_call_save (call, (AdjTensor *const[]){ in[0], NULL, out[0] }, 3);
  return TRUE;
}

static gboolean
square_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);
  AdjTensor *x = adj_custom_call_get_saved (call, 0);
  AdjTensor *y = adj_custom_call_get_saved (call, 2);

  if (x == NULL || y == NULL)
    return FALSE;
  out[0] = OP (cx, "mul.Tensor", T (grads[0]), T (OP (cx, "add.Tensor", T (x), T (y))));
  return TRUE;
}

static gboolean
pair_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  out[0] = OP (cx, "mul.Tensor", T (in[0]), T (in[1]));
  out[1] = OP (cx, "sub.Tensor", T (in[0]), T (in[1]));
  adj_custom_call_save (call, in, 2);
  return TRUE;
}

static gboolean
plain_pair_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  adj_custom_call_set_materialize_grads (call, FALSE);
  return pair_forward (call, in, n_in, out, n);
}

static gboolean
pair_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  for (guint i = 0; i < 2; i++)
    {
      AdjTensor *saved = adj_custom_call_get_saved (call, 1 - i);

      if (saved == NULL)
        return FALSE;
      if (grads[0] != NULL)
        out[i] = OP (cx, "mul.Tensor", T (grads[0]), T (saved));
      if (grads[1] != NULL)
        out[i] = out[i] != NULL ? OP (cx, "add.Tensor", T (out[i]), T (grads[1])) : grads[1];
    }
  return TRUE;
}

static gboolean
first_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  out[0] = OP (adj_custom_call_get_context (call), "mul.Scalar", T (grads[0]), ADJ_INT (3));
  return TRUE;
}

static gboolean
silent_backward (
    AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  return TRUE;
}

/* Returns a gradient larger than the input, which the engine reduces by summing. */
static gboolean
wide_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  for (guint i = 0; i < 2; i++)
    out[i] = OP (cx, "stack", LIST (T (grads[0]), T (grads[1])));
  return TRUE;
}

/* Writes its first input. */
static gboolean
dirty_forward (AdjCustomCall *call, AdjTensor *const *in, guint n_in, AdjTensor **out, guint n)
{
  AdjContext *cx = adj_custom_call_get_context (call);

  out[0] = OP (cx, "mul_.Tensor", T (in[0]), T (in[1]));
  adj_custom_call_mark_dirty (call, in[0]);
  adj_custom_call_save (call, &in[1], 1);
  return TRUE;
}

static gboolean
dirty_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  AdjTensor *saved = adj_custom_call_get_saved (call, 0);

  if (saved == NULL)
    return FALSE;
  out[0] = OP (adj_custom_call_get_context (call), "mul.Tensor", T (grads[0]), T (saved));
  out[1] = grads[0];
  return TRUE;
}

static const AdjCustomClass wide = { "Wide", pair_forward, wide_backward, FALSE };
static const AdjCustomClass dirty = { "Dirty", dirty_forward, dirty_backward, FALSE };
static const AdjCustomClass square = { "Square", square_forward, square_backward, FALSE };
static const AdjCustomClass pair = { "Pair", pair_forward, pair_backward, FALSE };
static const AdjCustomClass plain_pair = { "PlainPair", plain_pair_forward, pair_backward, TRUE };
static const AdjCustomClass first = { "First", pair_forward, first_backward, FALSE };
static const AdjCustomClass silent = { "Silent", pair_forward, silent_backward, FALSE };

static gboolean
connected_backward (AdjContext *cx,
                    AdjTensor *const *grads,
                    guint n_grads,
                    AdjTensor **out,
                    guint n_inputs,
                    gpointer data)
{
  out[0] = grads[0] != NULL ? OP (cx, "mul.Scalar", T (grads[0]), ADJ_INT (2)) : NULL;
  return TRUE;
}

/* Returns another variable of the same sizes and dtype, or @var itself. */
static AdjTensor *
pick_like (Machine *m, const Var *var)
{
  for (guint i = 0; i < 8; i++)
    {
      const Var *other = random_pick_var (m);
      gboolean same = other->rank == var->rank && adj_tensor_get_meta (other->tensor)->dtype ==
                                                      adj_tensor_get_meta (var->tensor)->dtype;

      for (guint k = 0; same && k < var->rank; k++)
        same = var->dims[k].tag == other->dims[k].tag;
      if (same)
        return other->tensor;
    }
  return var->tensor;
}

static void
add_custom (Machine *m)
{
  static const AdjCustomClass *const classes[] = { &square, &pair,   &plain_pair,
                                                   &first,  &silent, &wide };
  const AdjCustomClass *klass = classes[random_pick (m, 0, G_N_ELEMENTS (classes))];
  const Var var = *random_pick_var (m);
  const guint n = klass == &square ? 1 : 2;
  AdjTensor *in[2] = { var.tensor, pick_like (m, &var) }, *out[2];

  g_string_append_printf (m->run->text, "  %s (v%u, ..)\n", klass->name, random_index (m, &var));
  if (!adj_custom_apply (m->cx, klass, NULL, NULL, in, n, out, n))
    {
      random_note_error (m, klass->name);
      return;
    }
  for (guint i = 0; i < n; i++)
    random_add (m, out[i], &var, 0);
}

/* Writes a copy, or a view of a copy. */
static void
add_dirty (Machine *m)
{
  const Var var = *random_pick_var (m);
  const gboolean views = random_chance (m, 50) && var.rank > 0;
  AdjTensor *in[2] = { NULL, pick_like (m, &var) }, *out;
  AdjValue copy, view;

  if (!RANDOM_CALL (m, "clone", &copy, T (var.tensor)))
    return;
  view = copy;
  if (views && !RANDOM_CALL (m, "transpose.int", &view, copy, ADJ_INT (0), ADJ_INT (0)))
    return;
  in[0] = view.tensor;
  g_string_append_printf (m->run->text, "  Dirty (it, v%u)\n",
                          random_index (m, &(Var){ .tensor = in[1] }));
  if (!adj_custom_apply (m->cx, &dirty, NULL, NULL, in, 2, &out, 1))
    {
      random_note_error (m, "Dirty");
      return;
    }
  random_add (m, out, &var, 0);
  if (views)
    random_add (m, copy.tensor, &var, 0);
}

static void
add_connected (Machine *m)
{
  static const AdjCustomGrad grad = { .name = "Connected", .backward = connected_backward };
  const Var var = *random_pick_var (m);
  AdjTensor *in = var.tensor, *out;

  adj_context_set_grad_enabled (m->cx, FALSE);
  out = OP (m->cx, "clone", T (in));
  adj_context_set_grad_enabled (m->cx, TRUE);
  g_string_append_printf (m->run->text, "  Connected (v%u)\n", random_index (m, &var));
  if (adj_autograd_connect (m->cx, &grad, &in, 1, &out, 1))
    random_add (m, out, &var, 0);
  else
    random_note_error (m, "Connected");
}

/* -- functions that are checkpointed, or have hooks -- */

typedef struct
{
  AdjFunction parent;
  AdjTensor *weight; /* (owned) */
} Body;

/* Returns %FALSE also if recomputation stops early. */
static gboolean
apply (AdjContext *cx, const char *name, const AdjValue *a, const AdjValue *b, AdjValue *out)
{
  AdjValue items[2] = { *a, *b };

  return adj_call (cx, adj_op_find (name),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items }, NULL, out);
}

/* (x * w)², and the same + w */
static gboolean
body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Body *body = (const Body *) function;
  AdjValue items[2];

  if (!apply (cx, "torch.ops.aten.mul.Tensor", &args[0], &T (body->weight), &items[0]) ||
      !apply (cx, "torch.ops.aten.mul.Tensor", &items[0], &items[0], &items[0]) ||
      !apply (cx, "torch.ops.aten.add.Tensor", &items[0], &T (body->weight), &items[1]))
    return FALSE;
  *result = adj_value_copy (&(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items });
  return !adj_context_has_error (cx);
}

static void
body_finalize (AdjFunction *function)
{
  adj_tensor_unref (((Body *) function)->weight);
}

static const AdjFunctionClass body_class = { "body", body_call, body_finalize };

static AdjFunction *
body_new (AdjTensor *weight)
{
  AdjFunction *function = adj_function_new (&body_class, sizeof (Body));

  ((Body *) function)->weight = adj_keep (weight);
  return function;
}

static void
add_results (Machine *m, const Var *var, gboolean done, AdjValue *result)
{
  for (guint i = 0; done && i < result->n; i++)
    random_add (m, adj_scope_add (m->cx, adj_keep (result->items[i].tensor)), var, 0);
  if (done)
    adj_value_clear (result);
  else
    random_note_error (m, "function");
}

static void
add_checkpoint (Machine *m)
{
  const Var var = *random_pick_var (m);
  g_autoptr (AdjFunction) body = body_new (pick_like (m, &var));
  AdjValue result;

  g_string_append_printf (m->run->text, "  checkpoint (v%u)\n", random_index (m, &var));
  add_results (m, &var, adj_checkpoint (m->cx, body, &T (var.tensor), 1, NULL, &result), &result);
}

static void
log_grads (GString *log, const char *name, AdjTensor *const *grads, guint n)
{
  g_string_append (log, name);
  for (guint i = 0; i < n; i++)
    random_print_tensor (log, grads[i]);
}

static void
before_module (AdjContext *cx, AdjTensor **grads, guint n, gpointer data)
{
  Machine *m = data;

  log_grads (m->run->log, "module pre", grads, n);
  g_string_append_c (m->run->log, '\n');
  if (n > 0 && grads[0] != NULL)
    grads[0] = OP (cx, "mul.Scalar", T (grads[0]), ADJ_INT (2));
}

static void
after_module (AdjContext *cx,
              AdjTensor **grads,
              guint n,
              AdjTensor *const *results,
              guint n_results,
              gpointer data)
{
  Machine *m = data;

  log_grads (m->run->log, "module", grads, n);
  log_grads (m->run->log, " of", results, n_results);
  g_string_append_c (m->run->log, '\n');
  if (n > 0 && grads[0] != NULL)
    grads[0] = OP (cx, "neg", T (grads[0]));
}

static void
add_module (Machine *m)
{
  const Var var = *random_pick_var (m);
  g_autoptr (AdjFunction) body = body_new (pick_like (m, &var));
  g_autoptr (AdjModuleHooks) hooks = adj_module_hooks_new ();
  g_autoptr (AdjHook) pre =
      random_chance (m, 60) ? adj_module_hooks_add_pre (hooks, before_module, m) : NULL;
  g_autoptr (AdjHook) post = adj_module_hooks_add (hooks, after_module, m);
  AdjValue result;

  g_string_append_printf (m->run->text, "  module (v%u)\n", random_index (m, &var));
  add_results (m, &var, adj_module_hooks_call (hooks, m->cx, body, &T (var.tensor), 1, &result),
               &result);
}

/* -- hooks on what is saved -- */

static gpointer
pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  AdjTensor *copy = adj_tensor_get_rank (tensor) > 0 ? OP (cx, "clone", T (tensor)) : tensor;

  return adj_keep (copy);
}

static AdjTensor *
unpack (AdjContext *cx, gpointer packed, gpointer data)
{
  return OP (cx, "alias", T (packed));
}

static void
free_packed (gpointer packed)
{
  adj_tensor_unref (packed);
}

void
random_end_packing (Machine *m)
{
  if (m->packs)
    adj_autograd_pop_saved_hooks (m->cx);
  m->packs = FALSE;
}

static void
toggle_packing (Machine *m)
{
  static const AdjSavedHooks hooks = { .pack = pack, .unpack = unpack, .free_packed = free_packed };
  const gboolean on = !m->packs;

  g_string_append_printf (m->run->text, "  packing %s\n", on ? "on" : "off");
  random_end_packing (m);
  if (on)
    m->packs = adj_autograd_push_saved_hooks (m->cx, &hooks);
}

static const struct
{
  void (*add) (Machine *m);
  guint weight;
} functions[] = {
  { add_custom, 6 },     { add_dirty, 2 },  { add_connected, 1 },
  { add_checkpoint, 1 }, { add_module, 2 }, { toggle_packing, 1 },
};

void
random_add_function (Machine *m)
{
  guint total = 0, at;

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    total += functions[i].weight;
  at = (guint) random_pick (m, 0, (gint) total);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      if (at < functions[i].weight)
        {
          functions[i].add (m);
          return;
        }
      at -= functions[i].weight;
    }
}
