/* SPDX-License-Identifier: MIT */
/* Programs, built in or from a plugin: opened, run with their inputs, traced, compiled,
 * captured. */

#include "session/adj-program.h"

#include <dlfcn.h>
#include <string.h>

#include "autograd/adj-autograd.h"
#include "ir/adj-graph.h"
#include "session/pipeline-private.h"
#include "session/plugin-symbols-private.h"

/* (nullable): the function @name of the shared object @path; %NULL with @error set */
static gpointer
load_function (const char *path, const char *name, GError **error)
{
  gpointer library, symbol;

  if (!plugin_has_function (path, name, error))
    return NULL;
  library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  symbol = library != NULL ? dlsym (library, name) : NULL;
  if (symbol == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s", dlerror ());
  return symbol;
}

const AdjProgram *
adj_program_open (const char *name, GError **error)
{
  const char *colon = strrchr (name, ':');
  g_autofree char *file = NULL;
  const AdjProgram *(*function) (void);
  const AdjProgram *program;
  gpointer symbol;

  g_return_val_if_fail (name != NULL, NULL);

  if (colon == NULL || colon == name || colon[1] == '\0')
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "'%s' is no program and not of the form plugin.so:function", name);
      return NULL;
    }
  file = g_strndup (name, (gsize) (colon - name));
  if (strchr (file, G_DIR_SEPARATOR) == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "%s: a plugin is named with its folder: ./%s if it is in this one", file, name);
      return NULL;
    }
  symbol = load_function (file, colon + 1, error);
  if (symbol == NULL)
    return NULL;
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

gboolean
adj_program_extend (const AdjProgram *program,
                    AdjExtensions *extensions,
                    AdjDiags *diags,
                    GError **error)
{
  g_return_val_if_fail (program != NULL && extensions != NULL, FALSE);

  for (guint i = 0; i < program->n_classes; i++)
    if (!adj_extensions_add_class (extensions, program->classes[i], diags, error))
      return FALSE;
  for (guint i = 0; i < program->n_operators; i++)
    if (!adj_extensions_add_op (extensions, program->operators[i], error))
      return FALSE;
  return TRUE;
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

/* -- tracing -- */

gboolean
program_check_function (const AdjProgram *program, GError **error)
{
  if (program->call != NULL && program->inputs != NULL)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "the program '%s' has no function to trace; `adjoint run` shows what it does",
               program->name);
  return FALSE;
}

gboolean
program_take_inputs (const AdjProgram *program, AdjContext *cx, AdjProgramInputs *inputs)
{
  *inputs = (AdjProgramInputs){ .n_args = 0 };
  return program->inputs (cx, inputs) && !adj_context_has_error (cx);
}

AdjAotGraph *
adj_program_compile (const AdjProgram *program, gboolean no_grad, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  const AdjAotOptions options = { .keep_input_mutations = TRUE, .no_grad = no_grad };
  const AdjAotObserver observer = { .warn = pipeline_warn, .data = diags };
  g_autoptr (AdjFunction) function = NULL;
  AdjProgramInputs inputs;

  g_return_val_if_fail (program != NULL, NULL);

  if (!program_check_function (program, error))
    return NULL;
  if (!program_take_inputs (program, cx, &inputs))
    {
      adj_context_take_error (cx, error);
      return NULL;
    }
  function = adj_program_function_new (program);
  return adj_aot_trace (function, inputs.args, inputs.n_args, &options, &observer, error);
}

AdjGraph *
adj_program_trace (const AdjProgram *program, GError **error)
{
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, TRUE, NULL, error);

  return aot != NULL ? adj_graph_ref (adj_aot_graph_get_graph (aot)) : NULL;
}

static gboolean
record_function (const AdjProgram *program,
                 const AdjPipelineOptions *options,
                 AdjPipelineResult *result,
                 GError **error)
{
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  AdjPipelineOptions known = *options;
  g_autoptr (AdjAotGraph) aot = adj_program_compile (program, FALSE, options->diags, error);

  if (aot == NULL)
    return FALSE;
  if (known.partition != NULL)
    partition = *known.partition;
  partition.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  known.partition = &partition;
  return adj_pipeline_run (adj_aot_graph_get_graph (aot),
                           adj_aot_graph_is_joint (aot) ? "joint" : "inference", &known, result,
                           NULL, error);
}

/* Records the captured backwards that the program runs, and nothing else. */
static gboolean
record_captures (const AdjProgram *program,
                 const AdjPipelineOptions *options,
                 AdjPipelineResult *result,
                 GError **error)
{
  if (program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "the program '%s' only has a function, and runs no backward", program->name);
      return FALSE;
    }
  result->recording = adj_recording_new ();
  if (!captures_add (captures_run_program, program, options, result, error))
    return FALSE;
  if (result->captures->len > 0)
    return TRUE;
  if (result->fallback_reason != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "no backward of the program '%s' was captured: %s", program->name,
                 result->fallback_reason);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' runs no backward",
                 program->name);
  return FALSE;
}

gboolean
adj_program_record (const AdjProgram *program,
                    const AdjPipelineOptions *options,
                    AdjPipelineResult *result,
                    GError **error)
{
  static const AdjPipelineOptions none = { 0 };
  g_autoptr (GError) failure = NULL;
  gboolean captures;

  g_return_val_if_fail (program != NULL && result != NULL, FALSE);

  *result = (AdjPipelineResult){ NULL };
  options = options != NULL ? options : &none;
  captures = captures_are_asked_for (options->steps);
  if (captures || (program->call == NULL && program->run != NULL && options->steps == NULL))
    {
      if (record_captures (program, options, result, error))
        return TRUE;
      adj_pipeline_result_clear (result);
      return FALSE;
    }
  if (!record_function (program, options, result, error))
    return FALSE;
  if (program->run == NULL || options->steps != NULL || options->partitioner != NULL)
    return TRUE;
  if (!captures_add (captures_run_program, program, options, result, &failure))
    result->fallback_reason = g_strdup (failure->message);
  return TRUE;
}
