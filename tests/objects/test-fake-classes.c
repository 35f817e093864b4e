/* SPDX-License-Identifier: MIT */

/* What PyTorch's registry of fake classes requires of a class, warns about and refuses
 * (torch/_library/fake_class_registry.py). */

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-object.h"
#include "ir/adj-graph.h"
#include "objects/adj-extensions.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "trace/adj-trace.h"

/* -- a class: a number that calls change -- */

typedef struct
{
  AdjObject parent;
  gint64 count;
} Tally;

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("count", ADJ_INT (((const Tally *) object)->count), NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  const AdjValue *count = adj_object_state_get (state, "count");

  ((Tally *) object)->count = count != NULL ? count->integer : 0;
  return TRUE;
}

static gboolean
count (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  ((Tally *) object)->count++;
  return TRUE;
}

static gboolean
twice (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  AdjTensor *sum = ADJ_APPLY (cx, ADJ_OP_add_Tensor, args[0], args[0]);

  *result = sum != NULL ? ADJ_TENSOR (adj_keep (sum)) : ADJ_NONE;
  return sum != NULL;
}

static gboolean
get_name (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = adj_value_new_string ("tally");
  return TRUE;
}

static const AdjMethod all[] = {
  { .schema = "count() -> ()", .call = count },
  { .schema = "twice(Tensor x) -> Tensor", .call = twice },
  { .schema = "name() -> str", .call = get_name },
};

#define TALLY(is) .name = is, .size = sizeof (Tally), .flatten = flatten, .unflatten = unflatten

static const AdjObjectClass part_class = { TALLY ("own::Part"), .methods = all, .n_methods = 2 };
static const AdjObjectClass whole_class = { TALLY ("own::Whole"), .methods = all, .n_methods = 3,
                                            .fake = &part_class };
static const AdjObjectClass python_class = { TALLY ("__main__.Tally"), .methods = all,
                                             .n_methods = 3, .fake = &python_class };

/* -- calls, in a trace -- */

typedef struct
{
  AdjFunction parent;
  const char *const *methods;
  GString *warnings; /* (unowned): collects the warnings of the context, a line each */
} Calls;

static gboolean
call_methods (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Calls *self = (Calls *) function;
  AdjObject *object = adj_object_from_opaque (args[0].object);
  AdjValue given = args[1];
  const GPtrArray *warnings;
  gboolean done = TRUE;

  for (guint i = 0; done && self->methods[i] != NULL; i++)
    done = adj_object_call (cx, object, self->methods[i], &given,
                            g_str_equal (self->methods[i], "twice") ? 1 : 0, NULL, result);
  warnings = adj_context_get_warnings (cx);
  for (guint i = 0; warnings != NULL && i < warnings->len; i++)
    g_string_append_printf (self->warnings, "%s\n", (char *) warnings->pdata[i]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_tensor_ref (args[1].tensor)), 1);
  return done;
}

/* Traces calls of @methods on an object of @klass; unless it is @real its count is 0 afterwards.
 * Expects the warnings @warnings. (transfer full) (nullable) */
static AdjGraph *
trace (const AdjObjectClass *klass,
       const char *const *methods,
       gboolean real,
       const char *warnings,
       GError **error)
{
  static const AdjFunctionClass function_class = { .name = "calls", .call = call_methods };
  const AdjTraceOptions options = { .real = real };
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&function_class, sizeof (Calls));
  g_autoptr (AdjObject) object = adj_object_new (klass, NULL, error);
  g_autoptr (GString) said = g_string_new (NULL);
  const AdjValue inputs[] = {
    ADJ_OBJECT (object),
    ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 2 }, 1, (float[]){ 1, 2 })),
  };
  AdjGraph *graph;

  g_assert_no_error (*error);
  ((Calls *) function)->methods = methods;
  ((Calls *) function)->warnings = said;
  graph = adj_trace (function, inputs, 2, &options, error);
  g_assert_cmpstr (said->str, ==, warnings);
  if (!real)
    g_assert_cmpint (((Tally *) object)->count, ==, 0);
  return graph;
}

/* -- what is said -- */

static void
missing_method_is_warned_of_then_refused (void)
{
  static const char *const has[] = { "count", "twice", NULL }, *const lacks[] = { "name", NULL };
  static const char warning[] = "fake object of own::Whole doesn't implement method name.\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (&whole_class, has, FALSE, warning, &error);

  g_assert_no_error (error);
  g_assert_nonnull (graph);
  g_assert_null (trace (&whole_class, lacks, FALSE, warning, &error));
  g_assert_nonnull (strstr (error->message, "own::Whole.name: FakeScriptObject doesn't define "
                                            "method name. Did you forget to implement it in the "
                                            "fake class?"));
}

static void
real_object_is_warned_of (void)
{
  static const char *const methods[] = { "count", NULL };
  static const char tail[] = "with real ScriptObject. This may cause the original object being "
                             "mutated. If this is not intended, You can register a fake class "
                             "for";
  g_autofree char *of_whole =
      g_strdup_printf ("Tracing torchbind method Whole.count %s \"own::Whole\" and trace without "
                       "elements.\n",
                       tail);
  g_autofree char *of_python =
      g_strdup_printf ("Tracing torchbind method Tally.count %s \"__main__.Tally\" and trace "
                       "without elements.\n",
                       tail);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = trace (&whole_class, methods, TRUE, of_whole, &error);
  g_autoptr (AdjGraph) python = trace (&python_class, methods, TRUE, of_python, &error);

  g_assert_no_error (error);
  g_assert_nonnull (whole);
  g_assert_nonnull (python);
}

static void
results_are_tensors_or_constants (void)
{
  static const char *const methods[] = { "name", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (trace (&python_class, methods, FALSE, "", &error));
  g_assert_nonnull (strstr (error->message,
                            "Currently, only these constant dtypes are supported to "
                            "be returned from torchbind methods: "));
}

/* A class can ask that its real methods be called in traces; its object must not change. */
static void
real_in_traces_is_itself (void)
{
  static const AdjObjectClass klass = { TALLY ("own::Real"), .methods = &all[1], .n_methods = 1,
                                        .is_real_in_traces = TRUE };
  static const char *const methods[] = { "twice", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (&klass, methods, FALSE, "", &error);

  g_assert_no_error (error);
  g_assert_nonnull (graph);
}

static void
assert_refused (const AdjObjectClass *klass, const char *says)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_extensions_add_class (extensions, klass, NULL, &error));
  g_assert_cmpstr (error->message, ==, says);
  g_clear_error (&error);
  g_assert_null (adj_object_new (klass, NULL, &error));
  g_assert_cmpstr (error->message, ==, says);
}

static void
records_are_checked (void)
{
  static const AdjMethod not_callable[] = { { .schema = "count() -> ()" } };
  static const AdjObjectClass uncallable = { TALLY ("own::Uncallable"), .methods = not_callable,
                                             .n_methods = 1 };
  static const AdjObjectClass no_unflatten = { .name = "own::NoUnflatten",
                                               .size = sizeof (Tally),
                                               .flatten = flatten };
  static const AdjObjectClass no_flatten = { .name = "own::NoFlatten",
                                             .size = sizeof (Tally),
                                             .unflatten = unflatten };
  g_autoptr (AdjObject) object = adj_object_new (&no_flatten, NULL, NULL);
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  assert_refused (&uncallable, "the class 'own::Uncallable' has a method 'count': Expect count to "
                               "be a callable");
  assert_refused (&no_unflatten,
                  "the class 'own::NoUnflatten' doesn't define a classmethod __obj_unflatten__.");
  g_assert_false (adj_object_flatten (object, &state, &error));
  g_assert_nonnull (strstr (error->message, "does not have a field with name '__obj_flatten__'"));
}

/* The same checks for a fake class; its methods are checked when one is first called. */
static void
fake_methods_are_checked (void)
{
  static const AdjMethod not_callable[] = { { .schema = "count() -> ()" } };
  static const AdjObjectClass fake = { TALLY ("own::Fake"), .methods = not_callable,
                                       .n_methods = 1 };
  static const AdjObjectClass klass = { TALLY ("own::Faked"), .methods = all, .n_methods = 1,
                                        .fake = &fake };
  static const char *const methods[] = { "count", NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (trace (&klass, methods, FALSE, "", &error));
  g_assert_nonnull (strstr (error->message, "the class 'own::Fake' has a method 'count': Expect "
                                            "count to be a callable"));
}

static void
registered_again_takes_its_place (void)
{
  static const AdjObjectClass again = { TALLY ("own::Whole"), .methods = all, .n_methods = 1,
                                        .fake = &again };
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();
  g_autoptr (AdjDiags) diags = adj_diags_new ();

  g_assert_true (adj_extensions_add_class (extensions, &whole_class, diags, NULL));
  g_assert_true (adj_extensions_add_class (extensions, &whole_class, diags, NULL));
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
  g_assert_true (adj_extensions_add_class (extensions, &again, diags, NULL));
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_cmpstr (adj_diags_get (diags, 0)->message, ==,
                   "the class 'own::Whole' was already registered; the new one takes its place");
  g_assert_cmpuint (adj_extensions_get_n_classes (extensions), ==, 1);
  g_assert_true (adj_extensions_find_class (extensions, "__torch__.torch.classes.own.Whole") ==
                 &again);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function) g_test_add_func ("/objects/fake-classes/" name, function)
  TEST ("missing-method-is-warned-of-then-refused", missing_method_is_warned_of_then_refused);
  TEST ("real-object-is-warned-of", real_object_is_warned_of);
  TEST ("results-are-tensors-or-constants", results_are_tensors_or_constants);
  TEST ("real-in-traces-is-itself", real_in_traces_is_itself);
  TEST ("records-are-checked", records_are_checked);
  TEST ("fake-methods-are-checked", fake_methods_are_checked);
  TEST ("registered-again-takes-its-place", registered_again_takes_its_place);
  return g_test_run ();
}
