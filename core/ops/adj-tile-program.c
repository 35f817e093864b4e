/* SPDX-License-Identifier: MIT */
/* Compiles the expression of a pointwise operator to a program on registers that hold tiles. */

#include "ops/adj-tile-program.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "call/adj-schema-internal.h"

/* Long-lived values (inputs, let) take registers from the top, temporaries from the bottom;
 * finish() closes the gap. */
typedef struct
{
  const AdjOpCall *call;
  AdjDType compute;
  AdjKClass klass;
  AdjTileProgram *out;
  GArray *code;
  guint low, high; /* next temporary; number of registers in use at the top */
  guint max_low;   /* most temporaries alive at once */
  guint8 input_reg[ADJ_MAX_ARGUMENTS][2]; /* of either part */
  gint8 input_of[ADJ_MAX_ARGUMENTS][2];
  gboolean failed;
} Compiler;

typedef struct _Binding Binding;

/* A binding by `let`; a list, the innermost first. */
struct _Binding
{
  const char *name;
  guint8 reg;
  const Binding *outer;
};

typedef struct
{
  const char *symbol;
  AdjKOp op;
} Operator;

static const Operator binaries[] = {
  { "+", ADJ_K_OP_ADD },    { "-", ADJ_K_OP_SUB },       { "*", ADJ_K_OP_MUL },
  { "/", ADJ_K_OP_DIV },    { "//", ADJ_K_OP_FLOORDIV }, { "%", ADJ_K_OP_REMAINDER },
  { "**", ADJ_K_OP_POW },   { "==", ADJ_K_OP_EQ },       { "!=", ADJ_K_OP_NE },
  { "<", ADJ_K_OP_LT },     { "<=", ADJ_K_OP_LE },       { ">", ADJ_K_OP_GT },
  { ">=", ADJ_K_OP_GE },    { "and", ADJ_K_OP_AND },     { "or", ADJ_K_OP_OR },
  { "&", ADJ_K_OP_BITAND }, { "|", ADJ_K_OP_BITOR },     { "^", ADJ_K_OP_BITXOR },
  { "<<", ADJ_K_OP_SHL },   { ">>", ADJ_K_OP_SHR },
};

static AdjKOp
find_binary (const char *symbol)
{
  for (guint i = 0; i < G_N_ELEMENTS (binaries); i++)
    if (strcmp (binaries[i].symbol, symbol) == 0)
      return binaries[i].op;
  return ADJ_K_OP_N;
}

gboolean
adj_tile_program_class (AdjDType compute, AdjKClass *klass)
{
  if (compute > ADJ_DTYPE_F64)
    return FALSE;
  if (compute == ADJ_DTYPE_F64)
    *klass = ADJ_K_CLASS_F64;
  else
    *klass = adj_dtype_is_floating (compute) ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
  return TRUE;
}

static guint8
fail (Compiler *c, const char *what)
{
  if (!c->failed)
    adj_op_call_fail_as (c->call, ADJ_ERROR_UNSUPPORTED, "%s is not defined for %s", what,
                         adj_dtype_info (c->compute)->torch_name);
  c->failed = TRUE;
  return 0;
}

/* -- registers and code -- */

static guint8
new_low (Compiler *c)
{
  if (c->low + c->high >= ADJ_K_MAX_REGS)
    return fail (c, "so long an expression");
  c->low++;
  c->max_low = MAX (c->max_low, c->low);
  return (guint8) (c->low - 1);
}

static guint8
new_high (Compiler *c)
{
  if (c->max_low + c->high >= ADJ_K_MAX_REGS)
    return fail (c, "so long an expression");
  c->high++;
  return (guint8) (ADJ_K_MAX_REGS - c->high);
}

static void
emit (Compiler *c, AdjKCode code)
{
  if (!adj_k_op_has_class (code.op, c->klass))
    fail (c, adj_k_op_get_name (code.op));
  g_array_append_val (c->code, code);
}

static guint8
emit_const (Compiler *c, double value)
{
  AdjKCode code = { .op = ADJ_K_OP_CONST, .dst = new_low (c) };

  if (c->klass == ADJ_K_CLASS_I64)
    code.imm.i = (gint64) value;
  else
    code.imm.f = value;
  emit (c, code);
  return code.dst;
}

/* Loads an argument; of a complex one the imaginary part if @imaginary, else the real one. */
static guint8
load_argument (Compiler *c, guint arg, gboolean imaginary)
{
  AdjKCode code = { .op = ADJ_K_OP_LOAD };
  guint input = (guint) c->out->program.n_inputs;

  if (c->input_of[arg][imaginary] >= 0)
    return c->input_reg[arg][imaginary];
  if (input == ADJ_K_MAX_INPUTS)
    return fail (c, "so many operands");
  c->input_of[arg][imaginary] = (gint8) input;
  c->out->input_of[arg] = (gint8) input;
  c->out->arg_of[input] = (guint8) arg;
  c->out->is_imaginary[input] = imaginary;
  c->out->program.n_inputs++;
  code.dst = new_high (c);
  code.imm.i = input;
  emit (c, code);
  c->input_reg[arg][imaginary] = code.dst;
  return code.dst;
}

/* -- what is decided while compiling -- */

static const AdjValue *
argument_value (Compiler *c, const AdjExpr *name)
{
  gint arg =
      name->kind == ADJ_EXPR_NAME ? adj_schema_find_argument (c->call->schema, name->name) : -1;

  return arg >= 0 ? &c->call->args[arg] : NULL;
}

/* Whether @e is known at compile time, and its truth: a bool argument, given (), a string
 * comparison. */
static gboolean
is_static (Compiler *c, const AdjExpr *e, gboolean *truth)
{
  if (e->kind == ADJ_EXPR_CALL && strcmp (e->name, "given") == 0)
    {
      const AdjValue *value = argument_value (c, e->args[0]);

      *truth = value != NULL && value->kind != ADJ_VALUE_NONE;
      return TRUE;
    }
  if (e->kind == ADJ_EXPR_NAME)
    {
      gint arg = adj_schema_find_argument (c->call->schema, e->name);

      if (arg < 0 || c->call->schema->arguments[arg].type.kind != ADJ_TYPE_KIND_BOOL)
        return FALSE;
      *truth = adj_op_call_bool (c->call, (guint) arg);
      return TRUE;
    }
  if (e->kind == ADJ_EXPR_BINARY && e->args[1]->kind == ADJ_EXPR_STRING)
    {
      const AdjValue *value = argument_value (c, e->args[0]);

      *truth = value != NULL && value->kind == ADJ_VALUE_STRING &&
               strcmp (value->text, e->args[1]->name) == 0;
      return TRUE;
    }
  return FALSE;
}

/* -- expressions -- */

static guint8 compile (Compiler *c, const AdjExpr *e, const Binding *scope);
static guint8
compile_let (Compiler *c, const AdjExpr *let, guint index, guint result, const Binding *scope);
static guint8 compile_result (Compiler *c, const AdjExpr *e, guint result, const Binding *scope);

static double
cost (AdjKOp op)
{
  if (op <= ADJ_K_OP_COPY)
    return 0;
  return op >= ADJ_K_OP_EXP && op <= ADJ_K_OP_POLYGAMMA ? ADJ_FLOPS_TRANSCENDENTAL : 1;
}

static guint8
compile_op (Compiler *c, AdjKOp op, const AdjExpr *const *args, const Binding *scope)
{
  guint arity = (guint) adj_k_op_get_arity (op);
  guint low = c->low;
  guint8 regs[3] = { 0 };
  AdjKCode code = { .op = op };

  for (guint i = 0; i < arity; i++)
    regs[i] = compile (c, args[i], scope);
  c->low = low;
  code.dst = new_low (c);
  code.a = regs[0];
  code.b = regs[1];
  code.c = regs[2];
  emit (c, code);
  c->out->flops += cost (op);
  return code.dst;
}

static guint8
compile_unary (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  AdjKOp op = ADJ_K_OP_NEG;

  if (e->name[0] == '+')
    return compile (c, e->args[0], scope);
  if (strcmp (e->name, "not") == 0)
    op = ADJ_K_OP_NOT;
  else if (e->name[0] == '~')
    op = c->compute == ADJ_DTYPE_BOOL ? ADJ_K_OP_NOT : ADJ_K_OP_BITNOT;
  return compile_op (c, op, e->args, scope);
}

static guint8
compile_choice (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  gboolean truth;

  if (is_static (c, e->args[0], &truth))
    return compile (c, e->args[truth ? 1 : 2], scope);
  return compile_op (c, ADJ_K_OP_SELECT, e->args, scope);
}

static gboolean
is_constant (const char *name)
{
  return strcmp (name, "inf") == 0 || strcmp (name, "largest") == 0;
}

/* The largest finite number of a floating dtype. */
static double
largest_of (AdjDType dtype)
{
  static const double largest[ADJ_N_DTYPES] = { [ADJ_DTYPE_F16] = 65504,
                                                [ADJ_DTYPE_BF16] = 0x1.fep127,
                                                [ADJ_DTYPE_F32] = FLT_MAX,
                                                [ADJ_DTYPE_F64] = DBL_MAX };

  return largest[dtype];
}

static guint8
compile_name (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  gboolean truth;
  gint arg;

  for (; scope != NULL; scope = scope->outer)
    if (strcmp (scope->name, e->name) == 0)
      return scope->reg;
  if (is_static (c, e, &truth))
    return emit_const (c, truth);
  if (is_constant (e->name) && c->klass == ADJ_K_CLASS_I64)
    return emit_const (c, 0);
  if (is_constant (e->name))
    return emit_const (c, e->name[0] == 'i' ? INFINITY : largest_of (c->compute));
  arg = adj_schema_find_argument (c->call->schema, e->name);
  if (arg < 0)
    return fail (c, e->name);
  return load_argument (c, (guint) arg, FALSE);
}

/* -- what bodies may ask of complex numbers: complex-body.c takes all of it apart but imag () -- */

static gboolean
is_part (const AdjExpr *e)
{
  return e->n_args == 1 && (strcmp (e->name, "imag") == 0 || strcmp (e->name, "real") == 0 ||
                            strcmp (e->name, "conj") == 0);
}

/* real() and imag() of real numbers. */
static guint8
compile_part (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  gint arg = adj_schema_find_argument (c->call->schema, e->args[0]->name);

  if (e->name[0] != 'i')
    return compile (c, e->args[0], scope);
  if (c->call->part == ADJ_PART_NONE || arg < 0)
    return emit_const (c, 0);
  return load_argument (c, (guint) arg, TRUE);
}

static guint8
compile_call (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  AdjKOp op = adj_k_op_find (e->name);
  gboolean truth;

  if (is_static (c, e, &truth))
    return emit_const (c, truth);
  if (is_part (e))
    return compile_part (c, e, scope);
  if (op == ADJ_K_OP_N || adj_k_op_get_arity (op) != (gint) e->n_args)
    return fail (c, e->name);
  return compile_op (c, op, e->args, scope);
}

static guint8
compile (Compiler *c, const AdjExpr *e, const Binding *scope)
{
  if (c->failed)
    return 0;
  if (e->kind == ADJ_EXPR_INT)
    return emit_const (c, (double) e->int_value);
  if (e->kind == ADJ_EXPR_FLOAT)
    return emit_const (c, e->float_value);
  if (e->kind == ADJ_EXPR_NAME)
    return compile_name (c, e, scope);
  if (e->kind == ADJ_EXPR_UNARY)
    return compile_unary (c, e, scope);
  if (e->kind == ADJ_EXPR_BINARY && find_binary (e->name) != ADJ_K_OP_N)
    return compile_op (c, find_binary (e->name), e->args, scope);
  if (e->kind == ADJ_EXPR_CHOICE)
    return compile_choice (c, e, scope);
  if (e->kind == ADJ_EXPR_CALL)
    return compile_call (c, e, scope);
  if (e->kind == ADJ_EXPR_LET)
    return compile_let (c, e, 0, 0, scope);
  return fail (c, "this expression");
}

/* Binds the names of @let from @index on, then compiles its body. */
static guint8
compile_let (Compiler *c, const AdjExpr *let, guint index, guint result, const Binding *scope)
{
  AdjKCode code = { .op = ADJ_K_OP_COPY };
  Binding binding = { .outer = scope };
  guint low = c->low;

  if (index + 1 == let->n_args)
    return compile_result (c, let->args[index], result, scope);
  binding.name = let->arg_names[index];
  binding.reg = compile (c, let->args[index], scope);
  c->low = low;
  if (binding.reg < ADJ_K_MAX_REGS - c->high) /* a temporary */
    {
      code.a = binding.reg;
      code.dst = new_high (c);
      emit (c, code);
      binding.reg = code.dst;
    }
  return compile_let (c, let, index + 1, result, &binding);
}

/* Result @result of a body that is a tuple, possibly inside `let`. */
static guint8
compile_result (Compiler *c, const AdjExpr *e, guint result, const Binding *scope)
{
  if (e->kind == ADJ_EXPR_TUPLE)
    return result < e->n_args ? compile (c, e->args[result], scope) : fail (c, "this result");
  if (e->kind == ADJ_EXPR_LET)
    return compile_let (c, e, 0, result, scope);
  return compile (c, e, scope);
}

static guint8
close_gap (const Compiler *c, guint8 reg)
{
  return reg < c->max_low ? reg : (guint8) (c->max_low + (ADJ_K_MAX_REGS - 1u - reg));
}

static void
finish (Compiler *c, guint8 result)
{
  AdjKProgram *program = &c->out->program;
  guint n_code = c->code->len;
  AdjKCode *code = (AdjKCode *) (gpointer) g_array_free (c->code, FALSE);

  for (guint i = 0; i < n_code; i++)
    {
      gint arity = adj_k_op_get_arity (code[i].op);

      code[i].dst = close_gap (c, code[i].dst);
      code[i].a = arity > 0 ? close_gap (c, code[i].a) : 0;
      code[i].b = arity > 1 ? close_gap (c, code[i].b) : 0;
      code[i].c = arity > 2 ? close_gap (c, code[i].c) : 0;
    }
  program->klass = c->klass;
  program->n_regs = (gint) (c->max_low + c->high);
  program->n_code = (gint) n_code;
  program->code = code;
  program->result = close_gap (c, result);
}

AdjTileProgram *
adj_tile_program_compile (const AdjOpCall *call,
                          const AdjExpr *body,
                          guint result,
                          AdjDType compute)
{
  Compiler c = { .call = call, .compute = compute };
  guint8 reg;

  if (!adj_tile_program_class (compute, &c.klass))
    {
      fail (&c, "arithmetic");
      return NULL;
    }
  c.out = g_new0 (AdjTileProgram, 1);
  c.out->n_args = call->schema->n_arguments;
  memset (c.out->input_of, -1, sizeof c.out->input_of);
  memset (c.input_of, -1, sizeof c.input_of);
  c.code = g_array_new (FALSE, TRUE, sizeof (AdjKCode));
  reg = compile_result (&c, body, result, NULL);
  finish (&c, reg);
  if (!c.failed && !adj_k_program_check (&c.out->program))
    fail (&c, "the compiled expression");
  if (c.failed)
    g_clear_pointer (&c.out, adj_tile_program_free);
  return c.out;
}

void
adj_tile_program_free (AdjTileProgram *program)
{
  g_free ((gpointer) program->program.code);
  g_free (program);
}

/* -- checking -- */

static gboolean
check_names (const AdjExpr *e, const AdjSchema *schema, const Binding *scope, GError **error)
{
  gboolean known = TRUE;

  if (e->kind == ADJ_EXPR_NAME)
    {
      known = is_constant (e->name) || adj_schema_find_argument (schema, e->name) >= 0;
      for (; scope != NULL; scope = scope->outer)
        known |= strcmp (scope->name, e->name) == 0;
    }
  else if (e->kind == ADJ_EXPR_CALL && strcmp (e->name, "given") != 0 && !is_part (e))
    known = adj_k_op_find (e->name) != ADJ_K_OP_N &&
            adj_k_op_get_arity (adj_k_op_find (e->name)) == (gint) e->n_args;
  else if (e->kind == ADJ_EXPR_BINARY)
    known = find_binary (e->name) != ADJ_K_OP_N;
  if (!known)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "%s: '%s' in the pointwise body is not known", schema->text, e->name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_tree (const AdjExpr *e, const AdjSchema *schema, const Binding *scope, GError **error)
{
  Binding bindings[16];
  guint n = 0;

  if (!check_names (e, schema, scope, error))
    return FALSE;
  for (guint i = 0; i < e->n_args; i++)
    {
      if (!check_tree (e->args[i], schema, scope, error))
        return FALSE;
      if (e->kind != ADJ_EXPR_LET || i + 1 == e->n_args)
        continue;
      if (n == G_N_ELEMENTS (bindings))
        return FALSE;
      bindings[n] = (Binding){ .name = e->arg_names[i], .outer = scope };
      scope = &bindings[n++];
    }
  return TRUE;
}

gboolean
adj_tile_program_check_names (const AdjExpr *body, const AdjSchema *schema, GError **error)
{
  return check_tree (body, schema, NULL, error);
}
