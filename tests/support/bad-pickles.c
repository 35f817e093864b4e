/* SPDX-License-Identifier: MIT */
/* Files of test data that are refused: pickles. */

#include "bad-files-private.h"

/* 4: values of torch.save.  They are not read yet, and what they hold never runs. */

#define NAME "a.pt"
#define UNREAD                                                                                     \
  "a.pt: values of torch.save, which are not read yet and hold no graph: record a step of the "    \
  "model with adjoint_capture"
#define PICKLE "a.pt: a pickle of Python, which is not read, and never run: record a step"

/* Pickles of protocol 2: the storage "0" on the CPU, a tensor of 4 elements in it, a dict of it. */
#define STORAGE(class, n)                                                                          \
  "(X\7\0\0\0storagec" class "\nX\1\0\0\0"                                                         \
                             "0X\3\0\0\0cpuK" n "tQ"
#define HOOKS "\211ccollections\nOrderedDict\n)R"
#define TENSOR_OF(class)                                                                           \
  "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE (class, "\4") "K\0K\4\205K\1\205" HOOKS "tR"
#define TENSOR TENSOR_OF ("torch\nFloatStorage")
#define KEY(letter) "X\1\0\0\0" letter
#define DICT(items) "\200\2}(" items "u."

#define SAVED(row, pickle, data)                                                                   \
  {                                                                                                \
    .what = row, .name = NAME,                                                                     \
    .parts = PARTS (PART ("a/data.pkl", pickle), PART ("a/byteorder", "little"),                   \
                    PART ("a/data/0", data), PART ("a/version", "3\n")),                           \
    .status = 2, .out = UNREAD                                                                     \
  }
#define FLOATS "\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100"
#define CALL "cos\nsystem\nX\14\0\0\0touch called\205R."

static const AdjBadFile files[] = {
  SAVED ("tied weights", DICT (KEY ("a") TENSOR KEY ("b") TENSOR), FLOATS),
  SAVED ("Parameter",
         DICT (KEY ("a") "ctorch._utils\n_rebuild_parameter\n(" TENSOR "\210"
                         "ccollections\nOrderedDict\n)RtR"),
         FLOATS),
  SAVED ("OrderedDict with _metadata",
         "\200\2ccollections\nOrderedDict\n)R(" KEY ("a") TENSOR
         "u}X\11\0\0\0_metadataccollections\nOrderedDict\n)Rsb.",
         FLOATS),
  SAVED ("bf16",
         DICT (KEY ("a") TENSOR_OF ("torch\nBFloat16Storage")),
         "\200\77\0\100\100\100\200\100"),
  SAVED (
      "v3 of an untyped storage",
      DICT (KEY ("a") "ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE (
          "torch.storage\nUntypedStorage", "\20") "K\0K\4\205K\1\205" HOOKS "ctorch\nfloat32\ntR"),
      FLOATS),
  SAVED ("protocol 4",
         "\200\4\225\36\0\0\0\0\0\0\0\214\13collections\214\13OrderedDict\223)R.",
         FLOATS),
  SAVED ("cyclic list", "\200\2]q\0h\0a.", FLOATS),
  SAVED ("os.system", "\200\2" CALL, FLOATS),
  SAVED ("huge LONG", "\200\2\212\11\0\0\0\0\0\0\0\0\1.", FLOATS),
  SAVED ("memo miss", "\200\2h\7.", FLOATS),
  SAVED ("truncated", "\200\2}(X\1\0\0", FLOATS),

  /* Without an archive: the stream of old, and what pickle alone writes. */
  REFUSED ("stream", "\200\2\212\12l\374\234F\371 j\250P\31.\200\2M\351\3.", UNREAD),
  REFUSED ("pickle alone", "\200\4]\224.", PICKLE),
  REFUSED ("os.system alone", "\200\2" CALL, PICKLE),
  {
      .what = "TorchScript",
      .name = NAME,
      .parts = PARTS (PART ("a/data.pkl", "\200\2N."),
                      PART ("a/code/__torch__.py", "class A(Module):\n"),
                      PART ("a/constants.pkl", "\200\2).")),
      .status = 2,
      .out = "a.pt: a program of TorchScript, which is not read: record a step",
  },
};

LIST (adj_bad_pickles, "pickles");
