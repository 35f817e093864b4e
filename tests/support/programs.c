/* SPDX-License-Identifier: MIT */
/* Random programs: statements, inputs, running and printing. */

#include "support/programs.h"

#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "support/programs-private.h"

/* -- programs -- */

void
statement_clear (Statement *statement)
{
  adj_value_clear (&statement->args);
  adj_value_clear (&statement->kwargs);
}

Program *
program_copy (const Program *program)
{
  Program *copy = g_memdup2 (program, sizeof *program);

  copy->statements = g_array_new (FALSE, TRUE, sizeof (Statement));
  g_array_set_clear_func (copy->statements, (GDestroyNotify) statement_clear);
  for (guint i = 0; i < program->statements->len; i++)
    {
      Statement statement = g_array_index (program->statements, Statement, i);

      statement.args = adj_value_copy (&statement.args);
      statement.kwargs = adj_value_copy (&statement.kwargs);
      g_array_append_val (copy->statements, statement);
    }
  return copy;
}

void
program_free (Program *program)
{
  g_array_unref (program->statements);
  g_free (program);
}

guint
program_get_n_inputs (const Program *program)
{
  return program->n_inputs;
}

/* -- inputs -- */

static AdjTensor *
make_fresh (const Input *input, guint index)
{
  AdjTensor *tensor = adj_tensor_new_empty (&input->meta, NULL, FALSE);
  gpointer values = adj_storage_write (adj_tensor_get_storage (tensor));

  for (gint64 i = 0; i < adj_shape_numel (&input->meta.shape, NULL).word; i++)
    {
      gint value = (gint) ((i * 3 + index * 5) % 9) - 4;

      if (input->meta.dtype == ADJ_DTYPE_F64)
        ((double *) values)[i] = value;
      else
        ((float *) values)[i] = (float) value;
    }
  return tensor;
}

/* (transfer full); @leaf: (out) (transfer full) (nullable) */
static AdjTensor *
make_input (
    const Program *program, AdjContext *cx, AdjTensor **inputs, guint index, AdjTensor **leaf)
{
  const Input *input = &program->inputs[index];
  AdjValue minus_one = ADJ_INT (-1);
  AdjValue flat = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &minus_one };
  AdjTensor *of = inputs[input->of];

  if (input->kind == INPUT_SAME)
    return adj_tensor_ref (of);
  if (input->kind == INPUT_ROW)
    return adj_keep (ADJ_APPLY (cx, ADJ_OP_select_int, ADJ_TENSOR (of), ADJ_INT (0), ADJ_INT (0)));
  if (input->kind == INPUT_FLAT)
    return adj_keep (ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (of), flat));
  of = make_fresh (input, index);
  if (!input->requires_grad)
    return of;
  adj_tensor_set_requires_grad (cx, of, TRUE);
  *leaf = adj_tensor_ref (of);
  if (input->is_leaf)
    return of;
  adj_tensor_unref (of);
  return adj_keep (ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (*leaf)));
}

gboolean
program_make_inputs (const Program *program, AdjContext *cx, AdjTensor **inputs, AdjTensor **leaves)
{
  for (guint i = 0; i < program->n_inputs; i++)
    {
      AdjTensor *leaf = NULL;

      inputs[i] = make_input (program, cx, inputs, i, &leaf);
      if (leaves != NULL)
        leaves[i] = leaf;
      else
        g_clear_pointer (&leaf, adj_tensor_unref);
    }
  return !adj_context_has_error (cx);
}

/* -- running -- */

static gboolean
put_var (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *const *vars = data;

  *out = leaf->kind == ADJ_VALUE_NODE ? ADJ_TENSOR (vars[leaf->node.index]) : *leaf;
  *out = adj_value_copy (out);
  return TRUE;
}

static gboolean
find_var (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_NODE)
    *(gint *) data = (gint) leaf->node.index;
  return leaf->kind != ADJ_VALUE_NODE;
}

gint
statement_first_var (const Statement *statement)
{
  gint var = -1;

  adj_value_foreach (&statement->args, find_var, &var);
  return var;
}

static AdjTensor *
double_grad (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return grad != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (grad), ADJ_INT (2)) : NULL;
}

static gboolean
run_hook (AdjContext *cx, AdjTensor *tensor)
{
  AdjHook *hook;

  if (!adj_tensor_get_requires_grad (tensor))
    return TRUE;
  hook = adj_tensor_add_hook (cx, tensor, double_grad, NULL);
  if (hook != NULL)
    adj_hook_unref (hook);
  return hook != NULL;
}

static gboolean
is_skipped (const Statement *statement, AdjTensor **vars)
{
  const AdjTensor *guard = statement->guard >= 0 ? vars[statement->guard] : NULL;

  return guard != NULL &&
         adj_shape_numel (&adj_tensor_get_meta (guard)->shape, NULL).word < statement->guard_size;
}

static gboolean
run_call (const Statement *statement, AdjContext *cx, AdjTensor **vars)
{
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  AdjValue result;

  if (is_skipped (statement, vars))
    {
      for (guint i = 0; i < statement->n_out; i++)
        vars[statement->out + i] = vars[statement_first_var (statement)];
      return TRUE;
    }
  adj_value_map (&statement->args, put_var, vars, &args);
  adj_value_map (&statement->kwargs, put_var, vars, &kwargs);
  if (!adj_call (cx, statement->op, &args, &kwargs, &result))
    return FALSE;
  if (adj_value_is_container (&result) && result.n < statement->n_out)
    return FALSE;
  for (guint i = 0; i < statement->n_out; i++)
    vars[statement->out + i] =
        adj_value_is_container (&result) ? result.items[i].tensor : result.tensor;
  return TRUE;
}

gboolean
statement_run (const Statement *statement, AdjContext *cx, AdjTensor **vars)
{
  if (statement->kind == STATEMENT_GRAD_MODE)
    adj_context_set_grad_enabled (cx, statement->on);
  else if (statement->kind == STATEMENT_HOOK)
    return run_hook (cx, vars[statement->var]);
  else
    return run_call (statement, cx, vars);
  return TRUE;
}

typedef struct
{
  AdjFunction parent;
  Program *program; /* (owned) */
} ProgramFunction;

static gboolean
function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Program *program = ((ProgramFunction *) function)->program;
  AdjTensor *vars[PROGRAM_MAX_VARS] = { NULL };
  AdjValue outputs[G_N_ELEMENTS (program->outputs)];
  gboolean enabled = adj_context_get_grad_enabled (cx);
  gboolean done = TRUE;

  for (guint i = 0; i < n_args; i++)
    vars[i] = args[i].tensor;
  for (guint i = 0; done && i < program->statements->len; i++)
    done = statement_run (&g_array_index (program->statements, Statement, i), cx, vars);
  adj_context_set_grad_enabled (cx, enabled);
  if (!done)
    return FALSE;
  for (guint i = 0; i < program->n_outputs; i++)
    outputs[i] = adj_value_copy (&ADJ_TENSOR (vars[program->outputs[i]]));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, outputs, program->n_outputs);
  return TRUE;
}

static void
function_finalize (AdjFunction *function)
{
  program_free (((ProgramFunction *) function)->program);
}

static const AdjFunctionClass function_class = {
  .name = "program",
  .call = function_call,
  .finalize = function_finalize,
};

AdjFunction *
program_function_new (const Program *program)
{
  AdjFunction *function = adj_function_new (&function_class, sizeof (ProgramFunction));

  ((ProgramFunction *) function)->program = program_copy (program);
  return function;
}

/* -- printing -- */

static void
print_value (const AdjValue *value, GString *out)
{
  if (value->kind == ADJ_VALUE_NODE)
    g_string_append_printf (out, "v%u", value->node.index);
  else if (value->kind == ADJ_VALUE_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, value->integer);
  else if (value->kind == ADJ_VALUE_BOOL)
    g_string_append (out, value->boolean ? "True" : "False");
  else if (value->kind == ADJ_VALUE_STRING)
    g_string_append (out, value->text);
  else if (value->kind == ADJ_VALUE_LIST)
    {
      for (guint i = 0; i < value->n; i++)
        {
          g_string_append (out, i > 0 ? ", " : "[");
          print_value (&value->items[i], out);
        }
      g_string_append (out, value->n > 0 ? "]" : "[]");
    }
  else
    g_string_append (out, "None");
}

static void
print_call (const Statement *statement, GString *out)
{
  for (guint i = 0; i < statement->n_out; i++)
    g_string_append_printf (out, "%sv%u", i > 0 ? ", " : "", statement->out + i);
  g_string_append_printf (out, "%s%s(", statement->n_out > 0 ? " = " : "",
                          adj_op_get_schema (statement->op)->target + strlen ("torch.ops.aten."));
  for (guint i = 0; i < statement->args.n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print_value (&statement->args.items[i], out);
    }
  for (guint i = 0; i + 1 < statement->kwargs.n; i += 2)
    {
      g_string_append_printf (out, ", %s=", statement->kwargs.items[i].text);
      print_value (&statement->kwargs.items[i + 1], out);
    }
  g_string_append (out, ")");
  if (statement->guard >= 0)
    g_string_append_printf (out, " if v%d.numel() >= %" G_GINT64_FORMAT " else v%d",
                            statement->guard, statement->guard_size,
                            statement_first_var (statement));
}

static void
print_input (const Program *program, guint index, GString *out)
{
  static const char *const kinds[] = { "", "", "[0]", ".view(-1)" };
  const Input *input = &program->inputs[index];

  g_string_append_printf (out, "  v%u: ", index);
  if (input->kind == INPUT_FRESH)
    adj_tensor_meta_print (&input->meta, NULL, out);
  else
    g_string_append_printf (out, "v%u%s", input->of, kinds[input->kind]);
  if (input->requires_grad)
    g_string_append (out, input->is_leaf ? " rg" : " rg, no leaf");
  g_string_append_c (out, '\n');
}

void
program_print (const Program *program, GString *out)
{
  g_string_append_printf (out, "seed %u\n", program->seed);
  for (guint i = 0; i < program->n_inputs; i++)
    print_input (program, i, out);
  for (guint i = 0; i < program->statements->len; i++)
    {
      const Statement *statement = &g_array_index (program->statements, Statement, i);

      g_string_append (out, "  ");
      if (statement->kind == STATEMENT_GRAD_MODE)
        g_string_append (out, statement->on ? "grad" : "no_grad");
      else if (statement->kind == STATEMENT_HOOK)
        g_string_append_printf (out, "v%u.register_hook(lambda g: g * 2)", statement->var);
      else
        print_call (statement, out);
      g_string_append_c (out, '\n');
    }
  g_string_append (out, "  return ");
  for (guint i = 0; i < program->n_outputs; i++)
    g_string_append_printf (out, "%sv%u", i > 0 ? ", " : "", program->outputs[i]);
  g_string_append_c (out, '\n');
}
