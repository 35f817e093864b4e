/* SPDX-License-Identifier: MIT */
#include "session/adj-program.h"

#include <dlfcn.h>
#include <string.h>

#include "autograd/adj-autograd.h"
#include "interpreter/adj-interpreter.h"

const AdjProgram *
adj_program_open (const char *name, GError **error)
{
  const char *colon = strrchr (name, ':');
  g_autofree char *file = NULL;
  g_autofree char *path = NULL;
  const AdjProgram *(*function) (void);
  const AdjProgram *program;
  gpointer library, symbol;

  g_return_val_if_fail (name != NULL, NULL);

  if (colon == NULL || colon == name || colon[1] == '\0')
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "'%s' is no program and not of the form plugin.so:function", name);
      return NULL;
    }
  file = g_strndup (name, (gsize) (colon - name));
  path = g_canonicalize_filename (file, NULL);
  library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  symbol = library != NULL ? dlsym (library, colon + 1) : NULL;
  if (symbol == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s", dlerror ());
      return NULL;
    }
  memcpy (&function, &symbol, sizeof function);
  program = function ();
  if (program == NULL || program->abi != ADJ_PROGRAM_ABI)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s: made for version %u of the interface, not %u", name,
                   program != NULL ? program->abi : 0, ADJ_PROGRAM_ABI);
      return NULL;
    }
  return program;
}

AdjContext *
adj_program_context_new (void)
{
  AdjContext *cx = adj_context_new ();

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  return cx;
}

/* -- as a function -- */

typedef struct
{
  AdjFunction parent;
  const AdjProgram *program;
} ProgramFunction;

static gboolean
call_program (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = ADJ_NONE;
  return ((ProgramFunction *) function)->program->call (cx, args, n_args, result) &&
         !adj_context_has_error (cx);
}

static const AdjFunctionClass program_class = { .name = "program", .call = call_program };

AdjFunction *
adj_program_function_new (const AdjProgram *program)
{
  ProgramFunction *self;

  g_return_val_if_fail (program != NULL && program->call != NULL, NULL);

  self = (ProgramFunction *) adj_function_new (&program_class, sizeof *self);
  self->program = program;
  return &self->parent;
}

/* -- example inputs -- */

static gboolean
check_function (const AdjProgram *program, GError **error)
{
  if (program->call != NULL && program->inputs != NULL)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "the program '%s' has no function to trace; `adjoint run` shows what it does",
               program->name);
  return FALSE;
}

static gboolean
keep_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_DATA (adj_tensor_snapshot (leaf->tensor))
                                        : adj_value_copy (leaf);
  return TRUE;
}

/* Immutable copies of the example inputs: a call may write to its own. */
static gboolean
keep_inputs (const AdjProgram *program, AdjValue *args, guint *n, GError **error)
{
  g_autoptr (AdjContext) cx = adj_program_context_new ();
  AdjValue made[ADJ_PROGRAM_MAX_INPUTS];

  *n = 0;
  if (!program->inputs (cx, made, n) || adj_context_has_error (cx))
    {
      adj_context_take_error (cx, error);
      *n = 0;
      return FALSE;
    }
  for (guint i = 0; i < *n; i++)
    adj_value_map (&made[i], keep_leaf, NULL, &args[i]);
  return TRUE;
}

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_DATA ? ADJ_TENSOR (adj_tensor_new_from_data (leaf->data))
                                      : adj_value_copy (leaf);
  return TRUE;
}

static void
clear_values (AdjValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear (&values[i]);
}

static AdjGraph *
trace (const AdjProgram *program, const AdjValue *inputs, guint n, GError **error)
{
  g_autoptr (AdjFunction) function = adj_program_function_new (program);
  const AdjTraceOptions options = { .name = program->name, .functionalize = TRUE };

  return adj_trace (function, inputs, n, &options, error);
}

AdjGraph *
adj_program_trace (const AdjProgram *program, GError **error)
{
  AdjValue inputs[ADJ_PROGRAM_MAX_INPUTS];
  AdjGraph *graph;
  guint n;

  g_return_val_if_fail (program != NULL, NULL);

  if (!check_function (program, error) || !keep_inputs (program, inputs, &n, error))
    return NULL;
  graph = trace (program, inputs, n, error);
  clear_values (inputs, n);
  return graph;
}

gboolean
adj_program_evaluate (const AdjProgram *program, gboolean traced, AdjValue *result, GError **error)
{
  g_autoptr (AdjContext) cx = adj_program_context_new ();
  g_autoptr (AdjGraph) graph = NULL;
  g_auto (AdjValue) value = ADJ_NONE;
  AdjValue inputs[ADJ_PROGRAM_MAX_INPUTS], args[ADJ_PROGRAM_MAX_INPUTS];
  gboolean done;
  guint n;

  g_return_val_if_fail (program != NULL && result != NULL, FALSE);

  if (!check_function (program, error) || !keep_inputs (program, inputs, &n, error))
    return FALSE;
  if (traced && (graph = trace (program, inputs, n, error)) == NULL)
    {
      clear_values (inputs, n);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    adj_value_map (&inputs[i], import_leaf, NULL, &args[i]);
  done = traced ? adj_interpret (cx, graph, args, n, NULL, &value)
                : program->call (cx, args, n, &value);
  done = !adj_context_take_error (cx, error) && done;
  if (done)
    adj_value_map (&value, keep_leaf, NULL, result);
  clear_values (inputs, n);
  clear_values (args, n);
  return done;
}
