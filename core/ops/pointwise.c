/* SPDX-License-Identifier: MIT */
/* Pointwise operators: result shapes and dtypes, the program of each, and its kernel. */

#include <string.h>

#include "ops/adj-pointwise-internal.h"
#include "ops/adj-release-facts.h"
#include "ops/complex-body.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

/* Whether PyTorch wraps a number that @argument is given into a 0-d tensor. */
static gboolean
wraps_numbers (const AdjArgument *argument)
{
  return argument->type.kind == ADJ_TYPE_KIND_TENSOR ||
         (argument->type.kind == ADJ_TYPE_KIND_SCALAR && strcmp (argument->name, "other") == 0);
}

static gboolean
is_wrapped_number (const AdjOpCall *call, guint arg)
{
  return call->args[arg].kind != ADJ_VALUE_TENSOR && call->args[arg].kind != ADJ_VALUE_NONE &&
         wraps_numbers (&call->schema->arguments[arg]);
}

gboolean
adj_pointwise_takes_number (const AdjSchema *schema)
{
  guint n = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    n += wraps_numbers (&schema->arguments[i]);
  return n > 1;
}

/* Shapes of the operands, in schema order. */
static guint
operand_shapes (const AdjOpCall *call, const AdjShape **out)
{
  static const AdjShape number = { .rank = 0 };
  guint n = 0;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      out[n++] = &adj_tensor_get_meta (call->args[i].tensor)->shape;
    else if (is_wrapped_number (call, i))
      out[n++] = &number;
  return n;
}

static gboolean
broadcast (AdjOpCall *call, const AdjShape **operands, guint n, AdjShape *out)
{
  GError *error = NULL;

  if (n > 0)
    return adj_shape_pointwise (out, op_symbols (call), operands, n, &error) ||
           adj_op_call_fail_with (call, error);
  *out = (AdjShape){ .rank = 0 };
  return TRUE;
}

static gboolean
add_results (AdjOpCall *call, AdjDType dtype, const AdjShape *shape)
{
  for (guint i = 0; i < call->schema->n_returns; i++)
    adj_op_call_add (call, dtype, shape);
  return TRUE;
}

gboolean
adj_pointwise_meta (AdjOpCall *call)
{
  const AdjShape *operands[ADJ_MAX_ARGUMENTS];
  AdjDType compute;
  AdjDType dtype = op_promote (call, &compute);
  AdjShape shape;

  if (dtype == ADJ_DTYPE_NONE ||
      !broadcast (call, operands, operand_shapes (call, operands), &shape))
    return FALSE;
  return add_results (call, dtype, &shape);
}

gboolean
adj_pointwise_meta_first_last (AdjOpCall *call)
{
  const AdjShape *operands[ADJ_MAX_ARGUMENTS + 1];
  guint n = operand_shapes (call, operands);
  AdjDType compute;
  AdjDType dtype = op_promote (call, &compute);
  AdjShape shape;

  operands[n] = operands[0];
  return dtype != ADJ_DTYPE_NONE && broadcast (call, operands + 1, n, &shape) &&
         add_results (call, dtype, &shape);
}

/* The pointwise rule, with a contiguous result. */
static gboolean
contiguous_meta (AdjOpCall *call)
{
  if (!adj_pointwise_meta (call))
    return FALSE;
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjShape shape = call->results[i].meta.shape;

      adj_shape_init (&call->results[i].meta.shape, op_symbols (call), shape.rank, shape.size);
    }
  return TRUE;
}

/* To kernels a number is an operand without dimensions, so that sizes differ and strides are
 * sorted; traces see the tensors alone. */
void
adj_pointwise_traced (AdjOpCall *call)
{
  const AdjShape *operands[ADJ_MAX_ARGUMENTS];
  gboolean has_number = FALSE;
  AdjShape shape;
  guint n = 0;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      operands[n++] = &adj_op_call_meta (call, i)->shape;
    else
      has_number |= is_wrapped_number (call, i);
  if (has_number && n > 0 && adj_shape_pointwise (&shape, op_symbols (call), operands, n, NULL))
    memcpy (call->results[0].meta.shape.stride, shape.stride, sizeof shape.stride);
}

/* Whether one of the tensors has the sizes of the result, and all are contiguous. */
static gboolean
is_plain (AdjOpCall *call)
{
  const AdjShape *operands[ADJ_MAX_ARGUMENTS];
  guint n = operand_shapes (call, operands);
  gboolean whole = FALSE;

  for (guint i = 0; i < n; i++)
    {
      if (!adj_shape_is_contiguous (operands[i], op_symbols (call)))
        return FALSE;
      whole |= adj_shape_same_sizes (operands[i], &call->results[0].meta.shape, op_symbols (call));
    }
  return whole;
}

/* With symbolic sizes PyTorch's traces of arithmetic ask first whether all operands are contiguous,
 * spread ones too. */
static void
arithmetic_traced (AdjOpCall *call)
{
  AdjSize numel = adj_shape_numel (&call->results[0].meta.shape, op_symbols (call));

  if (!adj_size_is_int (numel) && is_plain (call))
    op_contiguous_traced (call);
  else
    adj_pointwise_traced (call);
}

/* The square is a product. */
static void
power_traced (AdjOpCall *call)
{
  const AdjValue *exponent = &call->args[1];

  if ((exponent->kind == ADJ_VALUE_INT && exponent->integer == 2) ||
      (exponent->kind == ADJ_VALUE_FLOAT && exponent->number == 2))
    arithmetic_traced (call);
  else
    adj_pointwise_traced (call);
}

/* In the memory format suggested by the first operand. */
static void
suggested_traced (AdjOpCall *call)
{
  const AdjShape *first = &adj_op_call_meta (call, 0)->shape;

  adj_shape_set_format (&call->results[0].meta.shape, op_symbols (call),
                        adj_shape_suggest_format (first, op_symbols (call)), NULL);
}

/* For a select by a condition on the last tensor, which precedes the gradient in PyTorch's
 * decomposition and decides the strides. */
static void
chosen_traced (AdjOpCall *call)
{
  guint last = call->schema->n_arguments - 1;

  while (call->args[last].kind != ADJ_VALUE_TENSOR && last > 0)
    last--;
  op_lay_out_pointwise (call, 0, (const guint[]){ last, 0 }, 2);
}

/* The strides of the first operand, whatever those of the others. */
static gboolean
like_first_meta (AdjOpCall *call)
{
  const AdjShape *first = &adj_op_call_meta (call, 0)->shape;

  if (!adj_pointwise_meta (call))
    return FALSE;
  if (adj_shape_same_sizes (first, &call->results[0].meta.shape, op_symbols (call)))
    adj_shape_set_format (&call->results[0].meta.shape, op_symbols (call),
                          ADJ_MEMORY_FORMAT_PRESERVE, first);
  return TRUE;
}

/* A contiguous copy of self, filled. */
static gboolean
masked_fill_meta (AdjOpCall *call)
{
  const AdjShape *operands[] = { &adj_op_call_meta (call, 0)->shape,
                                 &adj_op_call_meta (call, 1)->shape };
  AdjShape shape;

  if (call->args[2].kind == ADJ_VALUE_TENSOR && adj_tensor_get_rank (call->args[2].tensor) > 0)
    return adj_op_call_fail (call, "the value must have no dimensions");
  if (adj_op_call_meta (call, 1)->dtype != ADJ_DTYPE_BOOL)
    return adj_op_call_fail (call, "the mask must be bool");
  if (!broadcast (call, operands, 2, &shape))
    return FALSE;
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, shape.rank, shape.size);
  return TRUE;
}

/* Without a rounding mode it is the true division. */
static gboolean
divide_mode_meta (AdjOpCall *call)
{
  const char *mode = adj_op_call_string (call, 2, NULL);

  if (mode != NULL && strcmp (mode, "floor") != 0 && strcmp (mode, "trunc") != 0)
    return adj_op_call_fail (call, "rounding_mode must be 'floor' or 'trunc', not '%s'", mode);
  if (!adj_pointwise_meta (call))
    return FALSE;
  if (mode == NULL && !adj_dtype_is_floating (call->results[0].meta.dtype))
    call->results[0].meta.dtype = adj_context_get_default_dtype (call->cx);
  return TRUE;
}

/* -- programs -- */

/* The key of a compiled program. */
typedef struct
{
  AdjDType compute;
  guint result;
  AdjPart part;
  guint64 given, truth, complex; /* bit i: argument i is given, is true, is complex */
  const char *string;            /* (nullable): the only string argument */
  const char *expression;        /* (nullable): that of a release, a constant */
} Key;

struct _Compiled
{
  Key key;
  AdjTileProgram *program;
  Compiled *next;
};

static Key
make_key (const AdjOpCall *call, AdjDType compute, guint result)
{
  Key key = { .compute = compute,
              .result = result,
              .part = call->part,
              .expression = adj_op_release_find_expression (call) };

  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];

      if (value->kind != ADJ_VALUE_NONE)
        key.given |= G_GUINT64_CONSTANT (1) << i;
      if (call->schema->arguments[i].type.kind == ADJ_TYPE_KIND_BOOL && adj_op_call_bool (call, i))
        key.truth |= G_GUINT64_CONSTANT (1) << i;
      if (call->part != ADJ_PART_NONE && op_argument_is_complex (call, i))
        key.complex |= G_GUINT64_CONSTANT (1) << i;
      if (value->kind == ADJ_VALUE_STRING)
        key.string = value->text;
    }
  return key;
}

static gboolean
same_key (const Key *a, const Key *b)
{
  return a->compute == b->compute && a->result == b->result && a->part == b->part &&
         a->given == b->given && a->truth == b->truth && a->complex == b->complex &&
         a->expression == b->expression && g_strcmp0 (a->string, b->string) == 0;
}

/* Strings come from files: bounds the programs cached for one operator. */
#define MAX_PROGRAMS 64

static const AdjTileProgram *
remember (OpEntry *entry, const Key *key, AdjTileProgram *program)
{
  Compiled *compiled = g_new0 (Compiled, 1);

  compiled->key = *key;
  compiled->key.string = g_strdup (key->string);
  compiled->program = program;
  do
    compiled->next = g_atomic_pointer_get (&entry->programs);
  while (!g_atomic_pointer_compare_and_exchange (&entry->programs, compiled->next, compiled));
  return program;
}

void
op_entry_drop_programs (OpEntry *entry)
{
  Compiled *next;

  for (Compiled *compiled = entry->programs; compiled != NULL; compiled = next)
    {
      next = compiled->next;
      g_free ((char *) compiled->key.string);
      adj_tile_program_free (compiled->program);
      g_free (compiled);
    }
}

/* The dtype of the result, unless that is bool or a part of complex numbers. */
AdjDType
adj_op_call_get_compute_dtype (const AdjOpCall *call)
{
  AdjDType compute = call->results[0].meta.dtype;
  AdjPromote promote = call->op->promote;

  if (promote == ADJ_PROMOTE_BOOL || promote == ADJ_PROMOTE_REAL ||
      promote == ADJ_PROMOTE_FLOAT_REAL)
    op_promote (call, &compute);
  return compute;
}

/* The program of one part of a result that is computed with complex numbers. */
static AdjTileProgram *
compile_part (const AdjOpCall *call, const AdjExpr *body, guint result, AdjDType compute)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjExpr *part = op_complex_body (call, body, result, call->part, arena);

  return part != NULL ? adj_tile_program_compile (call, part, 0, adj_dtype_get_real (compute))
                      : NULL;
}

static AdjTileProgram *
compile (const AdjOpCall *call, const Key *key)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjExpr *body = key->expression != NULL ? adj_expr_parse (arena, key->expression, -1, NULL)
                                                : op_entry (call->op)->body;

  return call->part != ADJ_PART_NONE
             ? compile_part (call, body, key->result, key->compute)
             : adj_tile_program_compile (call, body, key->result, key->compute);
}

const AdjTileProgram *
adj_op_call_get_program (const AdjOpCall *call, guint result)
{
  OpEntry *entry = op_entry (call->op);
  Key key = make_key (call, adj_op_call_get_compute_dtype (call), result);
  AdjTileProgram *program;
  guint n = 0;

  for (Compiled *c = g_atomic_pointer_get (&entry->programs); c != NULL; c = c->next, n++)
    if (same_key (&c->key, &key))
      return c->program;
  if (n >= MAX_PROGRAMS)
    {
      adj_op_call_fail_as (call, ADJ_ERROR_LIMIT, "is used with too many different options");
      return NULL;
    }
  program = compile (call, &key);
  return program != NULL ? remember (entry, &key, program) : NULL;
}

/* Truth values are computed in the compute dtype: in bool 0.75 would be truncated to 0. */
static void
make_truth (const AdjOpCall *call, const AdjTileProgram *program, AdjKView *inputs, double *numbers)
{
  for (gint i = 0; i < program->program.n_inputs; i++)
    if (call->args[program->arg_of[i]].kind == ADJ_VALUE_FLOAT)
      {
        numbers[i] = numbers[i] != 0;
        inputs[i].data = (gpointer) op_constant (op_queue (call), &numbers[i], sizeof numbers[i]);
      }
}

static gboolean
run_program (AdjOpCall *call, guint r)
{
  const AdjTileProgram *program = adj_op_call_get_program (call, r);
  const AdjShape *shape = &call->results[r].meta.shape;
  AdjPart part = call->part;
  AdjKView inputs[ADJ_K_MAX_INPUTS];
  double numbers[ADJ_K_MAX_INPUTS];
  gboolean done = TRUE;
  AdjKView out;

  if (program == NULL || !op_output (call, r, &out))
    return FALSE;
  for (gint i = 0; done && i < program->program.n_inputs; i++)
    {
      if (part != ADJ_PART_NONE)
        call->part = program->is_imaginary[i] ? ADJ_PART_IMAGINARY : ADJ_PART_REAL;
      done = op_input_as (call, program->arg_of[i], shape, &inputs[i], &numbers[i]);
    }
  call->part = part;
  if (!done)
    return FALSE;
  if (adj_op_call_get_compute_dtype (call) == ADJ_DTYPE_BOOL)
    make_truth (call, program, inputs, numbers);
  return adj_q_pointwise (op_queue (call), &program->program, &out, inputs) ||
         adj_op_call_fail (call, "an integer is divided by zero");
}

/* Computes the real part, then the imaginary one if there is one.  An in-place variant has a
 * separate result, so that operands are not overwritten. */
static gboolean
run_complex (AdjOpCall *call, guint r)
{
  gboolean done;

  call->part = ADJ_PART_REAL;
  done = run_program (call, r);
  call->part = ADJ_PART_IMAGINARY;
  done = done && (!op_is_complex (call->results[r].meta.dtype) || run_program (call, r));
  call->part = ADJ_PART_NONE;
  return done;
}

gboolean
adj_pointwise_kernel (AdjOpCall *call)
{
  gboolean complex = op_is_complex (adj_op_call_get_compute_dtype (call));

  for (guint r = 0; r < call->n_results; r++)
    if (complex ? !run_complex (call, r) : !run_program (call, r))
      return FALSE;
  return TRUE;
}

gboolean
adj_op_is_pointwise (const AdjOp *op)
{
  return op->kernel == adj_pointwise_kernel;
}

/* Complex numbers are computed by parts, so by more than one program. */
gboolean
adj_op_call_is_pointwise (const AdjOpCall *call)
{
  return adj_op_is_pointwise (call->op) &&
         (call->n_results == 0 || !op_is_complex (adj_op_call_get_compute_dtype (call)));
}

double
adj_pointwise_flops (const AdjOpCall *call)
{
  double flops = 0;

  for (guint r = 0; r < call->n_results; r++)
    {
      const AdjTileProgram *program =
          adj_op_call_is_pointwise (call) ? adj_op_call_get_program (call, r) : NULL;
      AdjSize n = adj_shape_numel (&call->results[r].meta.shape, op_symbols (call));
      gint64 count = 0;

      if (program != NULL && adj_size_get_hint (op_symbols (call), n, &count))
        flops += program->flops * (double) count;
    }
  return flops;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp pointwise_ops[] = {
#include "ops/pointwise.inc"
};

static const AdjOp activation_ops[] = {
#include "ops/activation.inc"
};

static const AdjOp special_ops[] = {
#include "ops/special.inc"
};

const OpFamily adj_family_pointwise = { pointwise_ops, G_N_ELEMENTS (pointwise_ops) };
const OpFamily adj_family_activation = { activation_ops, G_N_ELEMENTS (activation_ops) };
const OpFamily adj_family_special = { special_ops, G_N_ELEMENTS (special_ops) };
