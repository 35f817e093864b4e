/* SPDX-License-Identifier: MIT */
/* A function of a queue and a tensor, taken from PyTorch's tests. */

#include "objects/queue-program.h"

#include "objects/adj-object-table.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

AdjObject *
queue_new (void)
{
  g_autoptr (GError) error = NULL;
  AdjObject *queue =
      adj_object_new (adj_object_class_find ("_TorchScriptTesting::_TensorQueue"), NULL, &error);

  g_assert_no_error (error);
  return queue;
}

AdjTensorData *
queue_input_new (void)
{
  const gint64 n = 3;
  const float numbers[] = { 1, 2, 3 };

  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &n, 1, numbers, NULL);
}

static gboolean
push (AdjContext *cx, AdjObject *queue, AdjTensor *tensor)
{
  AdjValue ignored;

  return tensor != NULL &&
         adj_object_call (cx, queue, "push", &ADJ_TENSOR (tensor), 1, NULL, &ignored);
}

static gboolean
call (AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  static const AdjOpId ops[] = { ADJ_OP_add_Tensor, ADJ_OP_sub_Tensor };
  AdjObject *queue = adj_object_from_opaque (args[0].object);
  AdjValue popped, size, items[3] = { ADJ_NONE };

  if (!push (cx, queue, ADJ_APPLY (cx, ADJ_OP_cos, args[1])) ||
      !push (cx, queue, ADJ_APPLY (cx, ADJ_OP_sin, args[1])))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      if (!adj_object_call (cx, queue, "pop", NULL, 0, NULL, &popped) ||
          !adj_object_call (cx, queue, "size", NULL, 0, NULL, &size))
        return FALSE;
      items[i] = ADJ_TENSOR (adj_keep (ADJ_APPLY (cx, ops[i], popped, size)));
    }
  items[2] = adj_value_copy (&args[0]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, 3);
  return !adj_context_has_error (cx);
}

AdjFunction *
queue_function_new (void)
{
  static const AdjFunctionClass klass = { .name = "queue", .call = call };

  return adj_function_new (&klass, sizeof (AdjFunction));
}
