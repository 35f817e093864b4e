/* SPDX-License-Identifier: MIT */
/* Eager checkpointing: the rules of autograd/SPEC.md §8.4, measured on PyTorch 2.6. */

#include <string.h>

#include "autograd/adj-checkpoint.h"
#include "call/adj-mode.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/tape.h"
#include "trace/adj-trace.h"

static const double one_two[] = { 1, 2 };

/* -- functions that are checkpointed -- */

typedef struct _Body Body;

typedef AdjTensor *(*BodyFunc) (Body *body, AdjContext *cx, const AdjValue *args);

struct _Body
{
  AdjFunction parent;
  BodyFunc func;
  GString *log; /* (nullable) */
  const char *name;
  guint n_calls;
  Body *inner; /* (nullable) */
};

static gboolean
body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Body *body = (Body *) function;
  AdjTensor *tensor;

  body->n_calls++;
  if (body->log != NULL)
    g_string_append (body->log, body->name);
  tensor = body->func (body, cx, args);
  if (tensor != NULL && !adj_context_has_error (cx))
    *result = ADJ_TENSOR (adj_tensor_ref (tensor));
  return !adj_context_has_error (cx);
}

static Body *
body_new (BodyFunc func)
{
  static const AdjFunctionClass klass = { .name = "body", .call = body_call };
  Body *body = (Body *) adj_function_new (&klass, sizeof (Body));

  body->func = func;
  return body;
}

/* Calls an operator; recomputation may stop early in it. */
static AdjTensor *
apply (AdjContext *cx, const char *name, AdjTensor *a, AdjTensor *b)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s", name);
  AdjValue items[] = { T (a), T (b) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = b != NULL ? 2 : 1, .items = items };
  AdjValue result;

  return a != NULL && adj_call (cx, adj_op_find (target), &args, NULL, &result) ? result.tensor
                                                                                : NULL;
}

static AdjTensor *
checkpoint (AdjContext *cx, Body *body, AdjTensor *x, const AdjCheckpointOptions *options)
{
  AdjValue arg = T (x), result;

  if (!adj_checkpoint (cx, &body->parent, &arg, 1, options, &result))
    return NULL;
  return adj_scope_add (cx, result.tensor);
}

/* exp (sin (x)) */
static AdjTensor *
two_steps (Body *body, AdjContext *cx, const AdjValue *args)
{
  return apply (cx, "exp.default", apply (cx, "sin.default", args[0].tensor, NULL), NULL);
}

static AdjTensor *
sum_of (AdjContext *cx, AdjTensor *tensor)
{
  g_assert_nonnull (tensor);
  return CALL (cx, "sum", T (tensor));
}

static gboolean
try_backward (AdjContext *cx, AdjTensor *root, AdjBackwardFlags flags)
{
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &root, .n = 1 }, NULL, 0, flags);
}

/* -- what it gives -- */

static void
gives_the_same_gradient (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y = tape_leaf (cx, 2, one_two);
  Body *body = body_new (two_steps);

  tape_backward (cx, sum_of (cx, checkpoint (cx, body, x, NULL)), 0);
  g_assert_cmpuint (body->n_calls, ==, 2);
  tape_backward (cx, sum_of (cx, CALL (cx, "exp", T (CALL (cx, "sin", T (y))))), 0);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), i), ==,
                       tape_at (adj_tensor_get_grad (y), i));
  adj_function_unref (&body->parent);
}

/* A second backward recomputes the region again. */
static void
recomputes_for_each_backward (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *loss;
  Body *body = body_new (two_steps);

  loss = sum_of (cx, checkpoint (cx, body, x, NULL));
  tape_backward (cx, loss, ADJ_BACKWARD_RETAIN_GRAPH);
  tape_backward (cx, loss, ADJ_BACKWARD_RETAIN_GRAPH);
  g_assert_cmpuint (body->n_calls, ==, 3);
  adj_function_unref (&body->parent);
}

static void
runs_alone_without_grad (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  Body *body = body_new (two_steps);

  adj_context_set_grad_enabled (cx, FALSE);
  g_assert_false (adj_tensor_get_requires_grad (checkpoint (cx, body, x, NULL)));
  g_assert_cmpuint (body->n_calls, ==, 1);
  adj_function_unref (&body->parent);
}

/* sin saves only x: neg and the following operators need not be recomputed. */
static AdjTensor *
tail (Body *body, AdjContext *cx, const AdjValue *args)
{
  AdjTensor *y = apply (cx, "sin.default", args[0].tensor, NULL);

  if (y == NULL)
    return NULL;
  g_string_append (body->log, "t");
  return apply (cx, "neg.default", y, NULL);
}

static void
stops_early (void)
{
  static const AdjCheckpointOptions to_the_end = { .no_early_stop = TRUE };
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  Body *body = body_new (tail);

  body->log = log;
  body->name = "b";
  tape_backward (cx, sum_of (cx, checkpoint (cx, body, tape_leaf (cx, 2, one_two), NULL)), 0);
  g_assert_cmpstr (log->str, ==, "btb");
  g_string_truncate (log, 0);
  tape_backward (cx, sum_of (cx, checkpoint (cx, body, tape_leaf (cx, 2, one_two), &to_the_end)),
                 0);
  g_assert_cmpstr (log->str, ==, "btbt");
  adj_function_unref (&body->parent);
}

/* -- what it refuses -- */

/* Saves one value more in the first call. */
static AdjTensor *
shrinks (Body *body, AdjContext *cx, const AdjValue *args)
{
  AdjTensor *y = apply (cx, "sin.default", args[0].tensor, NULL);

  return body->n_calls == 1 ? apply (cx, "exp.default", y, NULL) : y;
}

static AdjTensor *
changes_size (Body *body, AdjContext *cx, const AdjValue *args)
{
  AdjTensor *x = args[0].tensor;

  if (body->n_calls > 1)
    x = CALL (cx, "unsqueeze", T (x), ADJ_INT (0));
  return apply (cx, "sin.default", x, NULL);
}

static void
checks_determinism (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  Body *bodies[] = { body_new (shrinks), body_new (changes_size) };

  g_assert_false (try_backward (cx, sum_of (cx, checkpoint (cx, bodies[0], x, NULL)), 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "Number of tensors saved during forward: 2, during recomputation: 1");
  g_assert_false (try_backward (cx, sum_of (cx, checkpoint (cx, bodies[1], x, NULL)), 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE,
                     "tensor at position 0: saved metadata: f64[2][1]cpu, recomputed metadata: "
                     "f64[1, 2]");
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    adj_function_unref (&bodies[i]->parent);
}

static void
unchecked_determinism (void)
{
  static const AdjCheckpointOptions unchecked = { .no_metadata_check = TRUE };
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two);
  Body *body = body_new (changes_size);

  g_assert_true (try_backward (cx, sum_of (cx, checkpoint (cx, body, x, &unchecked)), 0));
  adj_function_unref (&body->parent);
}

/* -- random numbers -- */

static AdjTensor *
noisy (Body *body, AdjContext *cx, const AdjValue *args)
{
  AdjTensor *noise = apply (cx, "rand_like.default", args[0].tensor, NULL);

  return apply (cx, "sin.default", apply (cx, "mul.Tensor", args[0].tensor, noise), NULL);
}

/* x is zero: the gradient of sin (x · noise) is the noise itself. */
static void
draws_the_same_again (void)
{
  static const AdjCheckpointOptions moving = { .keeps_rng_moving = TRUE };
  static const double zeros[8] = { 0 };
  g_autoptr (AdjContext) cx = tape_new ();
  guint n_equal[2] = { 0, 0 };

  for (guint k = 0; k < 2; k++)
    {
      AdjTensor *x = tape_leaf (cx, 8, zeros);
      Body *body = body_new (noisy);
      AdjTensor *y, *noise;

      adj_generator_seed (adj_context_get_generator (cx), 7);
      noise = CALL (cx, "rand_like", T (x));
      adj_generator_seed (adj_context_get_generator (cx), 7);
      y = sum_of (cx, checkpoint (cx, body, x, k == 0 ? NULL : &moving));
      tape_backward (cx, y, 0);
      for (guint i = 0; i < 8; i++)
        n_equal[k] += tape_at (adj_tensor_get_grad (x), i) == tape_at (noise, i);
      adj_function_unref (&body->parent);
    }
  g_assert_cmpuint (n_equal[0], ==, 8);
  g_assert_cmpuint (n_equal[1], <, 8);
}

/* -- nesting -- */

/* sin (inner (x)): sin saves the result of the inner region, so that region is recomputed with
 * it. */
static AdjTensor *
nested (Body *body, AdjContext *cx, const AdjValue *args)
{
  AdjTensor *x = args[0].tensor;

  if (body->inner != NULL)
    x = checkpoint (cx, body->inner, x, NULL);
  return apply (cx, "sin.default", x, NULL);
}

/* One backward runs the body at depth k k times, because each region is recomputed from the
 * outside in. */
static void
nests (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autoptr (GString) log = g_string_new (NULL);
  AdjTensor *leaf = tape_leaf (cx, 2, one_two), *plain = tape_leaf (cx, 2, one_two);
  AdjTensor *x, *y;
  Body *bodies[3];

  for (guint i = 0; i < 3; i++)
    {
      bodies[i] = body_new (nested);
      bodies[i]->log = log;
      bodies[i]->name = i == 0 ? "O" : i == 1 ? "o" : "i";
      if (i > 0)
        bodies[i - 1]->inner = bodies[i];
    }
  y = sum_of (cx, CALL (cx, "sin", T (CALL (cx, "sin", T (CALL (cx, "sin", T (plain)))))));
  x = sum_of (cx, checkpoint (cx, bodies[0], leaf, NULL));
  g_assert_cmpstr (log->str, ==, "Ooi");
  g_string_truncate (log, 0);
  tape_backward (cx, x, 0);
  g_assert_cmpstr (log->str, ==, "Ooioii");
  g_assert_cmpuint (bodies[0]->n_calls, ==, 1 + 1);
  g_assert_cmpuint (bodies[1]->n_calls, ==, 1 + 2);
  g_assert_cmpuint (bodies[2]->n_calls, ==, 1 + 3);
  tape_backward (cx, y, 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (leaf), 1), ==,
                     tape_at (adj_tensor_get_grad (plain), 1));
  for (guint i = 0; i < 3; i++)
    adj_function_unref (&bodies[i]->parent);
}

/* -- selective -- */

typedef struct
{
  AdjMode mode;
  guint n_sin, n_exp;
} Counter;

static gboolean
counter_call (AdjMode *mode, AdjOpCall *call)
{
  Counter *counter = (Counter *) mode;

  counter->n_sin += call->op == adj_op_find ("torch.ops.aten.sin.default");
  counter->n_exp += call->op == adj_op_find ("torch.ops.aten.exp.default");
  return adj_mode_call_below (mode, call);
}

/* Keeps sin, recomputes exp. */
static AdjRecompute
keep_sin (const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data)
{
  return op == adj_op_find ("torch.ops.aten.sin.default") ? ADJ_RECOMPUTE_MUST_SAVE
                                                          : ADJ_RECOMPUTE_PREFER_RECOMPUTE;
}

static void
keeps_what_the_policy_says (void)
{
  static const AdjModeClass klass = { .name = "counter", .call = counter_call };
  static const AdjCheckpointOptions options = { .policy = keep_sin };
  g_autoptr (AdjContext) cx = adj_context_new ();
  Counter *counter = g_new0 (Counter, 1);
  AdjTensor *x, *y, *loss;
  Body *body = body_new (two_steps);

  counter->mode.klass = &klass;
  adj_context_push_mode (cx, &counter->mode);
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  x = tape_leaf (cx, 2, one_two);
  y = tape_leaf (cx, 2, one_two);
  loss = sum_of (cx, checkpoint (cx, body, x, &options));
  tape_backward (cx, loss, ADJ_BACKWARD_RETAIN_GRAPH);
  g_assert_cmpuint (counter->n_sin, ==, 1);
  g_assert_cmpuint (counter->n_exp, ==, 2);
  tape_backward (cx, sum_of (cx, CALL (cx, "exp", T (CALL (cx, "sin", T (y))))), 0);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 1), ==,
                     tape_at (adj_tensor_get_grad (y), 1));
  g_assert_false (try_backward (cx, loss, 0));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "aten::sin: trying to backward an extra time");
  adj_function_unref (&body->parent);
}

/* -- hooks on saved values -- */

typedef struct
{
  guint n_packed, n_unpacked;
} Packs;

static gpointer
count_pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  ((Packs *) data)->n_packed++;
  return adj_tensor_ref (tensor);
}

static AdjTensor *
count_unpack (AdjContext *cx, gpointer packed, gpointer data)
{
  ((Packs *) data)->n_unpacked++;
  return packed;
}

/* E19: x·x packs twice and unpacks twice. */
static void
e19_packs (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  AdjTensor *x = tape_leaf (cx, 2, one_two), *y;
  Packs packs = { 0 };
  const AdjSavedHooks hooks = { count_pack, count_unpack, (GDestroyNotify) adj_tensor_unref, &packs,
                                NULL };

  g_assert_true (adj_autograd_push_saved_hooks (cx, &hooks));
  y = CALL (cx, "mul.Tensor", T (x), T (x));
  adj_autograd_pop_saved_hooks (cx);
  g_assert_cmpuint (packs.n_packed, ==, 2);
  tape_backward (cx, CALL (cx, "sum", T (y)), 0);
  g_assert_cmpuint (packs.n_unpacked, ==, 2);
  g_assert_cmpfloat (tape_at (adj_tensor_get_grad (x), 1), ==, 4);
}

static gpointer
write_pack (AdjContext *cx, AdjTensor *tensor, gpointer data)
{
  CALL (cx, "mul_.Scalar", T (tensor), ADJ_INT (2));
  return adj_tensor_ref (tensor);
}

static void
refuses_pack_that_writes (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const AdjSavedHooks hooks = { write_pack, count_unpack, (GDestroyNotify) adj_tensor_unref, NULL,
                                NULL };
  AdjValue x = T (CALL (cx, "exp", T (tape_leaf (cx, 2, one_two))));

  g_assert_true (adj_autograd_push_saved_hooks (cx, &hooks));
  g_assert_false (tape_try (cx, "sin", 1, &x));
  tape_assert_error (cx, ADJ_ERROR_SHAPE, "pack hook is modifying its input in place");
  adj_autograd_pop_saved_hooks (cx);
}

/* -- tags: nodes that a trace makes of a tagged region -- */

/* Ignores nodes whose number varies: a whole slice appears as nothing, slice or alias, and
 * detach is repeated. */
static gboolean
is_identity (const char *target)
{
  return strstr (target, ".detach.") != NULL || strstr (target, ".alias.") != NULL ||
         strstr (target, ".slice.") != NULL;
}

static void
append_tags (const AdjGraph *graph, GString *out)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->meta.ac_graph_id >= 0 && !is_identity (node->target))
        g_string_append_printf (out, "%s %s\n", node->target,
                                adj_recompute_name (node->meta.recompute));
    }
}

/* The tags of PyTorch's joint graph of gpt2, whose second block is checkpointed. */
static void
tags_as_pytorch (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (AdjFunction) function = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  const AdjBundleGraph *dynamo, *joint;
  const AdjRecordedCall *call;

  g_assert_no_error (error);
  dynamo = adj_bundle_find_graph (bundle, "dynamo", &error);
  g_assert_no_error (error);
  joint = adj_bundle_find_graph (bundle, "joint", &error);
  g_assert_no_error (error);
  call = adj_bundle_find_call (bundle, dynamo, 0);
  function = adj_graph_function_new ((AdjGraph *) dynamo->graph);
  graph = adj_trace (function, call->inputs, call->n_inputs, NULL, &error);
  g_assert_no_error (error);
  append_tags (joint->graph, expected);
  append_tags (graph, got);
  g_assert_cmpuint (expected->len, >, 0);
  g_assert_cmpstr (got->str, ==, expected->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/checkpoint/gives-the-same-gradient", gives_the_same_gradient);
  g_test_add_func ("/autograd/checkpoint/recomputes-for-each-backward",
                   recomputes_for_each_backward);
  g_test_add_func ("/autograd/checkpoint/runs-alone-without-grad", runs_alone_without_grad);
  g_test_add_func ("/autograd/checkpoint/stops-early", stops_early);
  g_test_add_func ("/autograd/checkpoint/checks-determinism", checks_determinism);
  if (!tape_is_captured ()) /* a different size in the recomputation does not match the captured
                               one */
    g_test_add_func ("/autograd/checkpoint/unchecked-determinism", unchecked_determinism);
  g_test_add_func ("/autograd/checkpoint/draws-the-same-again", draws_the_same_again);
  g_test_add_func ("/autograd/checkpoint/nests", nests);
  g_test_add_func ("/autograd/checkpoint/keeps-what-the-policy-says", keeps_what_the_policy_says);
  g_test_add_func ("/compiled-autograd/6.1/E19-packs", e19_packs);
  g_test_add_func ("/autograd/checkpoint/refuses-pack-that-writes", refuses_pack_that_writes);
  g_test_add_func ("/autograd/checkpoint/tags-as-pytorch", tags_as_pytorch);

  return g_test_run ();
}
