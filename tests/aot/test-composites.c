/* SPDX-License-Identifier: MIT */

/* Composite tensors: in eager mode, and traced to a graph over their component tensors. */

#include <string.h>

#include "aot/compile.h"
#include "aot/notation.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "support/two-tensor.h"

#define MAX_INPUTS 4

/* -- inputs: "T rg, [] d" … -- */

static AdjContext *
context_new (void)
{
  AdjContext *cx = adj_context_new ();

  adj_context_push_mode (cx, adj_composite_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  return cx;
}

static AdjTensor *
make_dense (AdjContext *cx, guint seed)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 sizes[] = { 2, 2 };
  AdjTensor *tensor;
  float *values;

  adj_shape_init_ints (&meta.shape, 2, sizes);
  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  values = adj_storage_write (adj_tensor_get_storage (tensor));
  for (guint i = 0; i < 4; i++)
    values[i] = 0.25f + (float) ((i * 7 + seed * 5) % 11) / 8.0f;
  return tensor;
}

/* One letter for each input: d dense, t TwoTensor, n nested; a capital letter: a non-leaf that
 * requires a gradient. */
static AdjTensor *
make_input (AdjContext *cx, char kind, guint seed, AdjTensor **leaf)
{
  AdjTensor *tensor = make_dense (cx, seed);

  *leaf = NULL;
  if (g_ascii_tolower (kind) != 'd')
    tensor = two_tensor_new (cx, tensor, make_dense (cx, seed + 1));
  if (g_ascii_tolower (kind) == 'n')
    tensor = two_tensor_new (
        cx, tensor, two_tensor_new (cx, make_dense (cx, seed + 2), make_dense (cx, seed + 3)));
  if (!g_ascii_isupper (kind))
    return tensor;
  g_assert_true (adj_tensor_set_requires_grad (cx, tensor, TRUE));
  *leaf = tensor;
  return ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (tensor), ADJ_INT (1));
}

/* -- runs -- */

typedef struct
{
  AdjContext *cx;
  guint n;
  AdjTensor *leaves[MAX_INPUTS]; /* (nullable) */
  AdjValue inputs[MAX_INPUTS];   /* borrowed from the scope */
  AdjTensor *grads[MAX_INPUTS];  /* (nullable), borrowed from the scope */
  AdjValue result;
  GError *error;
} Run;

static void
run_clear (Run *run)
{
  adj_value_clear (&run->result);
  g_clear_pointer (&run->cx, adj_context_free);
  g_clear_error (&run->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static void
run_init (Run *run, const char *kinds)
{
  run->cx = context_new ();
  run->n = strlen (kinds);
  for (guint i = 0; i < run->n; i++)
    run->inputs[i] = ADJ_TENSOR (make_input (run->cx, kinds[i], 2 * i, &run->leaves[i]));
}

static void
differentiate (Run *run, gboolean first_only)
{
  AdjTensor *roots[MAX_INPUTS], *ones[MAX_INPUTS], *leaves[MAX_INPUTS], *found[MAX_INPUTS];
  AdjGradRoots from = { .tensors = roots, .grads = ones };
  guint n = 0;

  for (guint i = 0; i < run->result.n && !(first_only && from.n > 0); i++)
    if (adj_tensor_get_requires_grad (run->result.items[i].tensor))
      {
        roots[from.n] = run->result.items[i].tensor;
        ones[from.n++] = ADJ_APPLY (run->cx, ADJ_OP_ones_like, run->result.items[i]);
      }
  for (guint i = 0; i < run->n; i++)
    if (run->leaves[i] != NULL)
      leaves[n++] = run->leaves[i];
  if (from.n == 0 || n == 0 ||
      !adj_grad (run->cx, &from, leaves, n, ADJ_BACKWARD_ALLOW_UNUSED, found))
    return;
  for (guint i = run->n; i-- > 0;)
    run->grads[i] = run->leaves[i] != NULL ? found[--n] : NULL;
}

static void
run_call (Run *run, AdjFunction *function, gboolean first_only)
{
  if (adj_function_call (function, run->cx, run->inputs, run->n, &run->result))
    differentiate (run, first_only);
  adj_context_take_error (run->cx, &run->error);
}

static AdjFunction *
function_new (const char *kinds, const char *text)
{
  g_autofree char *names = g_strndup ("a,b,c,d", 2 * strlen (kinds) - 1);

  return notation_function_new (names, text);
}

/* -- comparing -- */

static void
assert_same (AdjTensor *a, AdjTensor *b, const char *what)
{
  const AdjCompositeClass *klass;
  g_autoptr (AdjTensorData) left = NULL;
  g_autoptr (AdjTensorData) right = NULL;

  g_assert_cmpint (a == NULL, ==, b == NULL);
  if (a == NULL)
    return;
  klass = adj_composite_get_class (a);
  if (klass != adj_composite_get_class (b))
    g_error ("%s: %s and %s", what, klass != NULL ? klass->name : "dense",
             adj_composite_get_class (b) != NULL ? adj_composite_get_class (b)->name : "dense");
  g_assert_true (adj_shape_same_sizes (&adj_tensor_get_meta (a)->shape,
                                       &adj_tensor_get_meta (b)->shape, NULL));
  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    assert_same (adj_composite_get_inner (a, i), adj_composite_get_inner (b, i), what);
  if (klass != NULL)
    return;
  left = adj_tensor_snapshot (a);
  right = adj_tensor_snapshot (b);
  for (gint64 i = 0; i < adj_tensor_data_get_numel (left); i++)
    if (adj_tensor_data_get_double (left, i) != adj_tensor_data_get_double (right, i))
      g_error ("%s: element %d is %g and %g", what, (gint) i, adj_tensor_data_get_double (left, i),
               adj_tensor_data_get_double (right, i));
}

static void
assert_alike (const Run *eager, const Run *compiled)
{
  for (guint i = 0; i < eager->result.n; i++)
    {
      assert_same (eager->result.items[i].tensor, compiled->result.items[i].tensor, "output");
      g_assert_cmpint (adj_tensor_get_requires_grad (eager->result.items[i].tensor), ==,
                       adj_tensor_get_requires_grad (compiled->result.items[i].tensor));
      for (guint k = 0; k < eager->n; k++)
        g_assert_cmpint (eager->result.items[i].tensor == eager->inputs[k].tensor, ==,
                         compiled->result.items[i].tensor == compiled->inputs[k].tensor);
    }
  for (guint i = 0; i < eager->n; i++)
    {
      assert_same (eager->inputs[i].tensor, compiled->inputs[i].tensor, "input");
      assert_same (eager->grads[i], compiled->grads[i], "gradient");
      g_assert_cmpint (eager->leaves[i] == NULL, ==, eager->grads[i] == NULL);
    }
}

/* -- goldens -- */

static char *
print_joint (const char *kinds, const char *text)
{
  g_autoptr (AdjFunction) function = function_new (kinds, text);
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Run) run = { .cx = NULL };

  run_init (&run, kinds);
  aot = adj_aot_trace (function, run.inputs, run.n, &options, NULL, &error);
  g_assert_no_error (error);
  return notation_print_graph (adj_aot_graph_get_graph (aot));
}

/* TwoTensor a, dense b: a * 6 + b / 2; the gradient of b is a TwoTensor as well. */
static void
g82 (void)
{
  g_autofree char *joint = print_joint ("TD", "m=mul(a,6); d=div(b,2); s=add(m,d); return s");
  g_autofree char *expected = notation_print (
      "mul=mul(p1,6); mul_1=mul(p2,6); div=div(p3,2); add=add(mul,div); add_1=add(mul_1,div); "
      "div_1=div(t1,2); div_2=div(t2,2); mul_2=mul(t1,6); mul_3=mul(t2,6); "
      "return add,add_1, mul_2,mul_3,div_1,div_2");

  g_assert_cmpstr (joint, ==, expected);
}

/* What aot_function of PyTorch 2.6 makes of its own TwoTensor. */
static const struct
{
  const char *name, *kinds, *text, *graph;
} goldens[] = {
  { "written", "T", "mul_(a,2); b=add(a,1); return b",
    "c=clone(p1); d=clone(p2); m=mul(c,2); n=mul(d,2); x=add(m,1); y=add(n,1); "
    "g=add(t1,t3); h=add(t2,t4); i=mul(g,2); j=mul(h,2); return m,n, x,y, i,j" },
  { "view", "T", "b=view(a,[4]); return b", "v=view(a0,[4]); w=view(a1,[4]); return v,w" },
  { "nested", "NT", "m=mul(a,b); c=cos(m); return c",
    "m=mul(p1,p5); n=mul(p2,p5); o=mul(p3,p6); q=mul(p4,p6); "
    "c=cos(m); d=cos(n); e=cos(o); f=cos(q); "
    "s=sin(m); t=sin(n); u=sin(o); v=sin(q); g=neg(s); h=neg(t); i=neg(u); j=neg(v); "
    "k=mul(t1,g); l=mul(t2,h); w=mul(t3,i); x=mul(t4,j); "
    "y=mul(k,p1); z=mul(l,p2); aa=mul(w,p3); ab=mul(x,p4); "
    "ac=mul(k,p5); ad=mul(l,p5); ae=mul(w,p6); af=mul(x,p6); "
    "return c,d,e,f, ac,ad,ae,af, y,z,aa,ab" },
  { "kept", "tD", "mul_(a,2); c=mul(a,b); return c, a",
    "m=mul(p1,2); n=mul(p2,2); o=mul(m,p3); q=mul(n,p3); r=mul(t1,m); s=mul(t2,n); "
    "x=copy_(p1,m); y=copy_(p2,n); return o,q, x,y, None, r,s" },
};

static void
graph_is_pytorchs (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *graph = print_joint (goldens[i].kinds, goldens[i].text);
  g_autofree char *expected = notation_print (goldens[i].graph);

  g_assert_cmpstr (graph, ==, expected);
}

/* -- compiled is eager -- */

static const struct
{
  const char *name, *kinds, *text;
  gboolean keep;
} programs[] = {
  { "mixed", "TD", "m=mul(a,6); d=div(b,2); s=add(m,d); return s", FALSE },
  { "inference", "td", "m=mul(a,6); s=add(m,b); return s, b", FALSE },
  { "made-of-dense-gradient", "DT", "m=mul(a,b); s=sin(m); return s, m", FALSE },
  { "reduced", "TT", "m=mm(a,b); s=sum(m); return s, m", FALSE },
  { "nested", "NTd", "m=mul(a,b); n=add(m,c); s=cos(n); return s", FALSE },
  { "written", "T", "mul_(a,2); b=add(a,1); return b", FALSE },
  { "written-and-kept", "tD", "mul_(a,2); c=mul(a,b); return c, a", TRUE },
  { "written-without-grad", "Td", "no_grad; mul_(a,2); grad; c=mul(a,b); return c", TRUE },
  { "view-of-input", "T", "b=view(a,[4]); return b", FALSE },
  { "view-of-written-input", "TD", "mul_(a,b); c=view(a,[4]); return c, a", FALSE },
  { "lone-view", "T", "b=mul(a,3); c=view(b,[4]); return c", FALSE },
  { "base-is-output", "T", "b=mul(a,3); c=view(b,[4]); return c, b", FALSE },
  { "write-through-view", "T", "b=mul(a,3); c=select(b,0,0); mul_(c,2); d=sin(b); return d",
    FALSE },
  { "several", "T", "c=split(a,1); d=mul(c[0],c[1]); return d", FALSE },
  { "one-of-several", "T", "c=unbind(a,1); return c[1]", FALSE },
  { "turned-view", "T", "b=cat([a,a],0); c=view(b,[2,4]); t_(c); d=clone(c); return d", FALSE },
  { "same-twice", "Td", "c=mul(a,a); return c, c", FALSE },
};

static void
compiled_is_eager (gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  g_autoptr (AdjFunction) function = function_new (programs[index].kinds, programs[index].text);
  const AdjAotOptions options = { .keep_input_mutations = programs[index].keep };

  for (guint first_only = 0; first_only < 2; first_only++)
    {
      g_auto (Run) eager = { .cx = NULL };
      g_auto (Run) compiled = { .cx = NULL };
      g_autoptr (AdjAotGraph) aot = NULL;
      g_autoptr (AdjFunction) called = NULL;
      g_autoptr (GError) error = NULL;

      run_init (&eager, programs[index].kinds);
      run_call (&eager, function, (gboolean) first_only);
      g_assert_no_error (eager.error);
      run_init (&compiled, programs[index].kinds);
      aot = adj_aot_trace (function, compiled.inputs, compiled.n, &options, NULL, &error);
      g_assert_no_error (error);
      called = compile_by_default (aot);
      run_call (&compiled, called, (gboolean) first_only);
      g_assert_no_error (compiled.error);
      assert_alike (&eager, &compiled);
    }
}

/* -- what cannot be -- */

static void
assert_refused (const char *kinds, const char *text, const AdjAotOptions *options, const char *code)
{
  g_autoptr (AdjFunction) function = function_new (kinds, text);
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Run) run = { .cx = NULL };

  run_init (&run, kinds);
  aot = adj_aot_trace (function, run.inputs, run.n, options, NULL, &error);
  g_assert_null (aot);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  if (strstr (error->message, code) == NULL)
    g_error ("%s is not in '%s'", code, error->message);
}

static void
refused (void)
{
  const AdjAotOptions export = { .export_joint = TRUE };

  assert_refused ("T", "t_(a); b=add(a,1); return b", NULL, "input 0");
  assert_refused ("T", "t_(a); b=add(a,1); return b", NULL, "[aot: composite-metadata]");
  assert_refused ("T", "unsqueeze_(a,0); mul_(a,2); b=add(a,1); return b", NULL,
                  "[aot: composite-metadata]");
  assert_refused ("T", "b=mul(a,3); c=view(b,[4]); d=view(b,[4]); return c, d", NULL, "output 0");
  assert_refused ("T", "b=mul(a,3); c=view(b,[4]); d=view(b,[4]); return c, d", NULL,
                  "[aot: composite-bases]");
  assert_refused ("T", "b=sum(a); return b", &export, "[aot: export-composite]");
}

/* One tensor given twice and written; two views of one storage, one of them written. */
static void
duplicates_are_refused (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (AdjFunction) function =
          notation_function_new ("a,b,c", "mul_(b,2); d=mul(a,c); return d");
      g_autoptr (AdjAotGraph) aot = NULL;
      g_autoptr (GError) error = NULL;
      g_auto (Run) run = { .cx = NULL };

      run_init (&run, "ddt");
      run.inputs[1] =
          i == 0 ? run.inputs[0]
                 : ADJ_TENSOR (ADJ_APPLY (run.cx, ADJ_OP_alias, ADJ_TENSOR (run.inputs[0].tensor)));
      aot = adj_aot_trace (function, run.inputs, 3, NULL, NULL, &error);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "[aot: composite-duplicates]"));
    }
}

/* The backward was traced for a TwoTensor without a constant: another tangent is converted if
 * its class can, else refused. */
static void
tangents_are_of_their_class (void)
{
  static const char *const kinds[] = { "dense", "constant", "hopeless" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (AdjFunction) function = notation_function_new ("a", "b=mul(a,3); return b");
      g_autoptr (AdjAotGraph) aot = NULL;
      g_autoptr (AdjFunction) compiled = NULL;
      g_autoptr (GError) error = NULL;
      g_auto (Run) run = { .cx = NULL };
      AdjTensor *tangents[3], *root, *grad = NULL;

      run_init (&run, "T");
      aot = adj_aot_trace (function, run.inputs, 1, NULL, NULL, &error);
      g_assert_no_error (error);
      compiled = compile_by_default (aot);
      g_assert_true (adj_function_call (compiled, run.cx, run.inputs, 1, &run.result));
      root = run.result.items[0].tensor;
      tangents[0] = make_dense (run.cx, 1);
      tangents[1] = two_tensor_new_with (run.cx, tangents[0], tangents[0], 5);
      tangents[2] = two_tensor_new_with (run.cx, tangents[0], tangents[0], 7);
      adj_grad (run.cx, &(AdjGradRoots){ .tensors = &root, .grads = &tangents[i], .n = 1 },
                &run.leaves[0], 1, 0, &grad);
      adj_context_take_error (run.cx, &error);
      if (g_str_equal (kinds[i], "constant"))
        {
          g_assert_no_error (error);
          g_assert_true (adj_composite_get_class (grad) == &two_tensor_class);
          continue;
        }
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "tangent 0"));
      g_assert_nonnull (strstr (error->message, "[aot: tangent-class]"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aot/composites/G82", g82);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *path = g_strconcat ("/aot/composites/pytorch-", goldens[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), graph_is_pytorchs);
    }
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *path = g_strconcat ("/aot/composites/", programs[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), compiled_is_eager);
    }
  g_test_add_func ("/aot/composites/refused", refused);
  g_test_add_func ("/aot/composites/duplicates-are-refused", duplicates_are_refused);
  g_test_add_func ("/aot/composites/tangents-are-of-their-class", tangents_are_of_their_class);
  return g_test_run ();
}
