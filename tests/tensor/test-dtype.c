/* SPDX-License-Identifier: MIT */
/* Dtypes: promotion and casts as in PyTorch, names, devices. */

#include <string.h>

#include "tensor/adj-dtype-internal.h"
#include "tensor/adj-dtype.h"
#include "tensor/adj-promotion.h"
#include "tensor/table.h"

/* Adds an operand such as "float32:1" or "int64:number". */
static void
add_operand (AdjPromotion *promotion, const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  AdjDType dtype = adj_dtype_from_torch_name (parts[0]);

  g_assert_cmpint (dtype, <, ADJ_N_DTYPES);
  if (strcmp (parts[1], "number") == 0)
    adj_promotion_add_number (promotion, adj_dtype_info (dtype)->category, ADJ_DTYPE_F32);
  else
    adj_promotion_add_tensor (promotion, dtype, (guint) (parts[1][0] - '0'));
}

static void
check_promotion (char **words, guint n, const char *line)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;
  AdjDType result;

  g_assert_cmpuint (n, ==, 4);
  add_operand (&promotion, words[0]);
  add_operand (&promotion, words[1]);
  result = adj_promotion_result (&promotion);

  g_test_message ("%s", line);
  g_assert_cmpstr (result < ADJ_N_DTYPES ? adj_dtype_info (result)->torch_name : "error", ==,
                   words[3]);
}

static void
test_promotion (void)
{
  table_read ("promote.txt", check_promotion);
}

static void
test_names (void)
{
  for (guint i = 0; i < ADJ_N_DTYPES; i++)
    {
      const AdjDTypeInfo *info = adj_dtype_info (i);
      g_autofree char *qualified = g_strconcat ("torch.", info->torch_name, NULL);

      g_assert_cmpint (adj_dtype_from_code (info->code, -1), ==, i);
      g_assert_cmpint (adj_dtype_from_torch_name (qualified), ==, i);
      if (info->safetensors != NULL)
        g_assert_cmpint (adj_dtype_from_safetensors (info->safetensors), ==, i);
    }
  g_assert_cmpint (adj_dtype_from_torch_name ("torch.half"), ==, ADJ_DTYPE_F16);
  g_assert_cmpint (adj_dtype_from_torch_name ("long"), ==, ADJ_DTYPE_I64);
  g_assert_cmpint (adj_dtype_from_torch_name ("torch.float7"), ==, ADJ_DTYPE_NONE);
  g_assert_cmpint (adj_dtype_from_code ("f3", -1), ==, ADJ_DTYPE_NONE);
  g_assert_cmpint (adj_dtype_from_code ("f32[", 3), ==, ADJ_DTYPE_F32);
}

/* Compares with torch.can_cast(). */
static void
test_cast (void)
{
  g_assert_true (adj_dtype_can_cast (ADJ_DTYPE_I64, ADJ_DTYPE_F16));
  g_assert_true (adj_dtype_can_cast (ADJ_DTYPE_F64, ADJ_DTYPE_BF16));
  g_assert_true (adj_dtype_can_cast (ADJ_DTYPE_BOOL, ADJ_DTYPE_U8));
  g_assert_false (adj_dtype_can_cast (ADJ_DTYPE_F32, ADJ_DTYPE_I64));
  g_assert_false (adj_dtype_can_cast (ADJ_DTYPE_I64, ADJ_DTYPE_BOOL));
  g_assert_false (adj_dtype_can_cast (ADJ_DTYPE_C64, ADJ_DTYPE_F32));
}

static void
check_device (const char *text, int type, int index)
{
  AdjDevice device;
  g_autoptr (GString) printed = g_string_new (NULL);

  g_assert_true (adj_device_parse (text, -1, &device));
  g_assert_cmpint (device.type, ==, type);
  g_assert_cmpint (device.index, ==, index);
  adj_device_print (device, printed);
  g_assert_cmpstr (printed->str, ==, text);
}

static void
test_devices (void)
{
  static const char *const bad[] = { "",        "cp",       "cpus",    "cuda:", "cuda:x",
                                     "cuda:-1", "cuda:128", "cuda:0 ", "gpu" };
  AdjDevice device = ADJ_CPU;

  check_device ("cpu", ADJ_DEVICE_CPU, -1);
  check_device ("cuda", ADJ_DEVICE_CUDA, -1);
  check_device ("cuda:0", ADJ_DEVICE_CUDA, 0);
  check_device ("cuda:127", ADJ_DEVICE_CUDA, 127);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (adj_device_parse (bad[i], -1, &device));
  g_assert_true (adj_device_equal (device, ADJ_CPU));
}

static void
test_layouts (void)
{
  for (guint i = 0; i < ADJ_N_LAYOUTS; i++)
    g_assert_cmpint (adj_layout_from_name (adj_layout_name (i)), ==, i);
  for (guint i = 0; i < ADJ_N_MEMORY_FORMATS; i++)
    g_assert_cmpint (adj_memory_format_from_name (adj_memory_format_name (i)), ==, i);
  g_assert_cmpint (adj_layout_from_name ("sparse"), ==, ADJ_N_LAYOUTS);
  g_assert_cmpint (adj_memory_format_from_name (""), ==, ADJ_N_MEMORY_FORMATS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/dtype/names", test_names);
  g_test_add_func ("/tensor/dtype/promotion-as-pytorch", test_promotion);
  g_test_add_func ("/tensor/dtype/can-cast", test_cast);
  g_test_add_func ("/tensor/dtype/devices", test_devices);
  g_test_add_func ("/tensor/dtype/layouts", test_layouts);
  return g_test_run ();
}
