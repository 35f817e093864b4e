/* SPDX-License-Identifier: MIT */
/* Random programs with opaque objects and effects, represented as data. */

#include "support/object-programs.h"

#include <string.h>

#include "autograd/adj-autograd.h"
#include "autograd/adj-custom.h"
#include "objects/adj-object-table.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"

#define WIDTH 3

enum
{
  QUEUE,
  OTHER_QUEUE,
  COUNTER,
  TABLE,
  LINEAR,
  PLAIN,
  LEAF,
};

typedef struct
{
  guint kind, a, b; /* index in statements[], and indices of the values it reads */
} Statement;

struct _ObjectProgram
{
  gboolean gradients, one_queue;
  guint n;
  Statement *statements;
  guint n_queued; /* number of tensors initially in the queues */
};

/* State of a run: the values so far. */
typedef struct
{
  AdjContext *cx;
  const AdjValue *inputs;
  GPtrArray *values; /* of AdjTensor, borrowed from the scope */
} Run;

typedef gboolean (*StatementFunc) (Run *run, AdjTensor *a, AdjTensor *b, guint number);

/* -- statements -- */

/* Appends @tensor (nullable) to the values. */
static gboolean
add_value (Run *run, AdjTensor *tensor)
{
  if (tensor != NULL)
    g_ptr_array_add (run->values, tensor);
  return tensor != NULL;
}

static AdjTensor *
bound (Run *run, AdjTensor *tensor)
{
  return tensor != NULL
             ? ADJ_APPLY (run->cx, ADJ_OP_clamp, ADJ_TENSOR (tensor), ADJ_INT (-8), ADJ_INT (8))
             : NULL;
}

static AdjTensor *
detach (Run *run, AdjTensor *tensor)
{
  return ADJ_APPLY (run->cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
}

static gboolean
call (Run *run, guint object, const char *method, const AdjValue *args, guint n, AdjValue *result)
{
  return adj_object_call (run->cx, adj_object_from_opaque (run->inputs[object].object), method,
                          args, n, NULL, result);
}

/* Adds @value to @tensor in place. */
static gboolean
add_in_place (Run *run, AdjTensor *tensor, AdjValue value)
{
  AdjValue args[2], result;

  args[0] = ADJ_TENSOR (tensor);
  args[1] = value;
  return adj_call (run->cx, adj_op_find ("torch.ops.aten.add_.Tensor"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args }, NULL, &result);
}

static gboolean
do_add (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  return add_value (
      run, bound (run, ADJ_APPLY (run->cx, ADJ_OP_add_Tensor, ADJ_TENSOR (a), ADJ_TENSOR (b))));
}

static gboolean
do_mul (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  return add_value (
      run, bound (run, ADJ_APPLY (run->cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (a), ADJ_TENSOR (b))));
}

static gboolean
do_neg (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  return add_value (run, ADJ_APPLY (run->cx, ADJ_OP_neg, ADJ_TENSOR (a)));
}

static gboolean
do_write (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *copy = ADJ_APPLY (run->cx, ADJ_OP_clone, ADJ_TENSOR (a)), *detached;

  if (!add_value (run, copy))
    return FALSE;
  detached = detach (run, b);
  return detached != NULL && add_in_place (run, copy, ADJ_TENSOR (detached));
}

static gboolean
do_print (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  g_autofree char *text = g_strdup_printf ("statement %u", number);
  const AdjValue arg = { .kind = ADJ_VALUE_STRING, .n = strlen (text), .text = text };
  AdjValue result;

  return adj_call (run->cx, adj_op (ADJ_OP__print),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = (AdjValue *) &arg }, NULL,
                   &result);
}

/* Pushes a tensor that is written later: the queue keeps the former value. */
static gboolean
do_push (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *pushed = detach (run, a);
  AdjValue result;

  return pushed != NULL && call (run, number % 2 != 0 ? QUEUE : OTHER_QUEUE, "push",
                                 &ADJ_TENSOR (pushed), 1, &result);
}

static gboolean
do_push_written (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *copy = detach (run, a);
  AdjValue result;

  copy = copy != NULL ? ADJ_APPLY (run->cx, ADJ_OP_clone, ADJ_TENSOR (copy)) : NULL;
  return add_value (run, copy) && call (run, QUEUE, "push", &ADJ_TENSOR (copy), 1, &result) &&
         add_in_place (run, copy, ADJ_INT (1));
}

static gboolean
do_pop (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, number % 3 != 0 ? QUEUE : OTHER_QUEUE, "pop", NULL, 0, &result) &&
         add_value (run, result.tensor);
}

/* A tensor taken from the queue is a copy: writing it does not change the queue. */
static gboolean
do_top (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, QUEUE, "top", NULL, 0, &result) && add_value (run, result.tensor) &&
         add_in_place (run, result.tensor, ADJ_INT (1));
}

static gboolean
do_size (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, QUEUE, "size", NULL, 0, &result) &&
         add_value (run, ADJ_APPLY (run->cx, ADJ_OP_add_Tensor, ADJ_TENSOR (a), result));
}

static gboolean
do_clone_queue (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;
  gboolean done = call (run, QUEUE, "clone_queue", NULL, 0, &result);

  for (guint i = 0; done && i < result.n; i++)
    done = add_value (run, result.items[i].tensor);
  return done;
}

static gboolean
do_count (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, COUNTER, "add", &ADJ_INT (number % 4), 1, &result);
}

static gboolean
do_next (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, COUNTER, "next", NULL, 0, &result) &&
         add_value (run, bound (run, ADJ_APPLY (run->cx, ADJ_OP_add_Tensor, ADJ_TENSOR (a),
                                                ADJ_TENSOR (result.tensor))));
}

static gboolean
do_value (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjValue result;

  return call (run, COUNTER, "value", NULL, 0, &result) &&
         add_value (run,
                    bound (run, ADJ_APPLY (run->cx, ADJ_OP_sub_Tensor, ADJ_TENSOR (a), result)));
}

static AdjTensor *
make_index (Run *run, guint number)
{
  const gint64 n = 1, row = number % 2;

  return adj_from_array (run->cx, ADJ_DTYPE_I64, &n, 1, &row);
}

static gboolean
do_lookup (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *index = make_index (run, number);
  AdjValue result;

  return index != NULL && call (run, TABLE, "lookup", &ADJ_TENSOR (index), 1, &result) &&
         add_value (
             run, ADJ_APPLY (run->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (result.tensor), ADJ_INT (0)));
}

static gboolean
do_update (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *rows = detach (run, a), *index = make_index (run, number);
  AdjValue args[2], result;

  rows =
      rows != NULL ? ADJ_APPLY (run->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (rows), ADJ_INT (0)) : NULL;
  if (rows == NULL || index == NULL)
    return FALSE;
  args[0] = ADJ_TENSOR (index);
  args[1] = ADJ_TENSOR (rows);
  return call (run, TABLE, "update", args, 2, &result);
}

static gboolean
do_forward (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  AdjTensor *row = detach (run, a), *out;
  AdjValue result;

  row = row != NULL ? ADJ_APPLY (run->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (row), ADJ_INT (0)) : NULL;
  if (row == NULL || !call (run, LINEAR, "forward", &ADJ_TENSOR (row), 1, &result))
    return FALSE;
  out = ADJ_APPLY (run->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (result.tensor), ADJ_INT (0));
  return add_value (run, bound (run, out));
}

/* -- an operation whose backward has effects -- */

typedef struct
{
  AdjObject *queue, *counter; /* (owned) */
} Loud;

static void
loud_free (gpointer data)
{
  Loud *loud = data;

  adj_object_unref (loud->queue);
  adj_object_unref (loud->counter);
  g_free (loud);
}

static gboolean
loud_forward (AdjCustomCall *custom,
              AdjTensor *const *inputs,
              guint n_inputs,
              AdjTensor **outputs,
              guint n_outputs)
{
  outputs[0] = ADJ_APPLY (adj_custom_call_get_context (custom), ADJ_OP_mul_Tensor,
                          ADJ_TENSOR (inputs[0]), ADJ_INT (2));
  return outputs[0] != NULL;
}

static gboolean
loud_backward (AdjCustomCall *custom,
               AdjTensor *const *grads,
               guint n_grads,
               AdjTensor **grad_inputs,
               guint n_inputs)
{
  const Loud *loud = adj_custom_call_get_data (custom);
  AdjContext *cx = adj_custom_call_get_context (custom);
  AdjValue ignored, count;

  grad_inputs[0] = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (grads[0]), ADJ_INT (2));
  return grad_inputs[0] != NULL &&
         adj_object_call (cx, loud->queue, "push", &ADJ_TENSOR (grads[0]), 1, NULL, &ignored) &&
         adj_object_call (cx, loud->counter, "add", &ADJ_INT (100), 1, NULL, &ignored) &&
         adj_object_call (cx, loud->counter, "next", NULL, 0, NULL, &count);
}

static gboolean
do_loud (Run *run, AdjTensor *a, AdjTensor *b, guint number)
{
  static const AdjCustomClass klass = {
    .name = "Loud",
    .forward = loud_forward,
    .backward = loud_backward,
  };
  Loud *loud = g_new0 (Loud, 1);
  AdjTensor *out;

  loud->queue = adj_object_from_opaque (adj_opaque_ref (run->inputs[QUEUE].object));
  loud->counter = adj_object_from_opaque (adj_opaque_ref (run->inputs[COUNTER].object));
  return adj_custom_apply (run->cx, &klass, loud, loud_free, &a, 1, &out, 1) &&
         add_value (run, bound (run, out));
}

static const struct
{
  const char *name;
  StatementFunc run;
} statements[] = {
  { "add", do_add },
  { "mul", do_mul },
  { "neg", do_neg },
  { "copy and write", do_write },
  { "print", do_print },
  { "queue.push", do_push },
  { "queue.push, then write", do_push_written },
  { "queue.pop", do_pop },
  { "queue.top, then write", do_top },
  { "queue.size", do_size },
  { "queue.clone_queue", do_clone_queue },
  { "counter.add", do_count },
  { "counter.next", do_next },
  { "counter.value", do_value },
  { "table.lookup", do_lookup },
  { "table.update", do_update },
  { "linear.forward", do_forward },
  { "loud", do_loud },
};

/* -- programs -- */

ObjectProgram *
object_program_new (guint32 seed, gboolean gradients)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  ObjectProgram *program = g_new0 (ObjectProgram, 1);

  program->gradients = gradients;
  program->one_queue = g_rand_int_range (rand, 0, 4) == 0;
  program->n_queued = (guint) g_rand_int_range (rand, 0, 3);
  program->n = (guint) g_rand_int_range (rand, 1, 14);
  program->statements = g_new0 (Statement, program->n);
  for (guint i = 0; i < program->n; i++)
    program->statements[i] = (Statement){
      (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (statements) - !gradients),
      g_rand_int (rand),
      g_rand_int (rand),
    };
  return program;
}

void
object_program_free (ObjectProgram *program)
{
  g_free (program->statements);
  g_free (program);
}

void
object_program_print (const ObjectProgram *program, GString *out)
{
  g_string_append_printf (out, "%u tensors queued%s\n", program->n_queued,
                          program->one_queue ? ", both queues are one" : "");
  for (guint i = 0; i < program->n; i++)
    g_string_append_printf (out, "%u: %s (%u, %u)\n", i,
                            statements[program->statements[i].kind].name, program->statements[i].a,
                            program->statements[i].b);
}

/* (transfer full): @rows times WIDTH small integers, or WIDTH of them if @rows is 0. */
static AdjValue
make_data (guint rows, gint first)
{
  const gint64 sizes[] = { rows, WIDTH }, n = WIDTH;
  float numbers[WIDTH * WIDTH];

  for (guint i = 0; i < MAX (rows, 1) * WIDTH; i++)
    numbers[i] = (float) ((first + (gint) (i * i)) % 4 - 1);
  return ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_F32, rows > 0 ? sizes : &n,
                                                   rows > 0 ? 2 : 1, numbers, NULL));
}

static AdjValue
make_object (AdjContext *cx, const char *name, AdjValue state)
{
  AdjObject *object = adj_object_new_in (cx, adj_object_class_find (name), &state);

  g_assert_nonnull (object);
  adj_value_clear (&state);
  return ADJ_OBJECT (object);
}

static AdjValue
make_queue (AdjContext *cx, guint n, gint first)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  for (guint i = 0; i < n; i++)
    {
      AdjValue item = make_data (0, first + (gint) i);

      g_array_append_val (items, item);
    }
  return make_object (cx, "_TorchScriptTesting::_TensorQueue",
                      adj_object_state_new ("init_tensor", make_data (0, first), "queue",
                                            adj_value_array_end (items, ADJ_VALUE_LIST), NULL));
}

void
object_program_make_inputs (const ObjectProgram *program, AdjContext *cx, AdjValue *inputs)
{
  AdjTensor *tensors[2];

  inputs[QUEUE] = make_queue (cx, program->n_queued, 1);
  inputs[OTHER_QUEUE] = program->one_queue ? inputs[QUEUE] : make_queue (cx, 1, 2);
  inputs[COUNTER] =
      make_object (cx, "Adjoint::Counter", adj_object_state_new ("count", ADJ_INT (2), NULL));
  inputs[TABLE] = make_object (cx, "Adjoint::LookupTable",
                               adj_object_state_new ("rows", make_data (2, 3), NULL));
  inputs[LINEAR] = make_object (
      cx, "Adjoint::PackedLinear",
      adj_object_state_new ("weight", make_data (3, 2), "bias", make_data (0, 1), NULL));
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_auto (AdjValue) data = make_data (0, (gint) i + 2);

      tensors[i] = adj_scope_add (cx, adj_tensor_new_from_data (data.data));
      inputs[PLAIN + i] = ADJ_TENSOR (tensors[i]);
    }
  if (program->gradients)
    adj_tensor_set_requires_grad (cx, tensors[1], TRUE);
}

/* -- as a function -- */

typedef struct
{
  AdjFunction parent;
  const ObjectProgram *program;
} ProgramFunction;

static gboolean
run_statements (Run *run, const ObjectProgram *program)
{
  for (guint i = 0; i < program->n; i++)
    {
      const Statement *statement = &program->statements[i];
      AdjTensor *a = run->values->pdata[statement->a % run->values->len];
      AdjTensor *b = run->values->pdata[statement->b % run->values->len];

      if (!statements[statement->kind].run (run, a, b, i))
        return FALSE;
    }
  return TRUE;
}

static gboolean
program_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  g_autoptr (GArray) results = adj_value_array_new ();
  Run run = { cx, args, values };

  g_ptr_array_add (values, args[PLAIN].tensor);
  g_ptr_array_add (values, args[LEAF].tensor);
  if (!run_statements (&run, ((ProgramFunction *) function)->program))
    return FALSE;
  for (guint i = 2; i < values->len; i++)
    {
      AdjValue value = ADJ_TENSOR (adj_keep (values->pdata[i]));

      g_array_append_val (results, value);
    }
  *result = adj_value_array_end (results, ADJ_VALUE_TUPLE);
  return TRUE;
}

AdjFunction *
object_program_function_new (const ObjectProgram *program)
{
  static const AdjFunctionClass klass = { .name = "object program", .call = program_call };
  ProgramFunction *function = (ProgramFunction *) adj_function_new (&klass, sizeof *function);

  function->program = program;
  return &function->parent;
}
