/* SPDX-License-Identifier: MIT */
/* The classes of storages in archives of torch.save, and the dtype of each. */

#include <string.h>

#include "formats/torch-save-private.h"

static const struct
{
  const char *name; /* of the class of a storage, behind "torch." */
  AdjDType dtype;
} storage_types[] = {
  { "FloatStorage", ADJ_DTYPE_F32 },
  { "DoubleStorage", ADJ_DTYPE_F64 },
  { "HalfStorage", ADJ_DTYPE_F16 },
  { "BFloat16Storage", ADJ_DTYPE_BF16 },
  { "LongStorage", ADJ_DTYPE_I64 },
  { "IntStorage", ADJ_DTYPE_I32 },
  { "ShortStorage", ADJ_DTYPE_I16 },
  { "CharStorage", ADJ_DTYPE_I8 },
  { "ByteStorage", ADJ_DTYPE_U8 },
  { "BoolStorage", ADJ_DTYPE_BOOL },
  { "ComplexFloatStorage", ADJ_DTYPE_C64 },
  { "ComplexDoubleStorage", ADJ_DTYPE_C128 },
  { "storage.UntypedStorage", ADJ_DTYPE_U8 },
  { "UntypedStorage", ADJ_DTYPE_U8 },
};

AdjDType
storage_class_get_dtype (const PickleItem *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (storage_types); i++)
    if (type->kind == PICKLE_GLOBAL && g_str_has_prefix (type->text, "torch.") &&
        strcmp (type->text + strlen ("torch."), storage_types[i].name) == 0)
      return storage_types[i].dtype;
  return ADJ_DTYPE_NONE;
}
