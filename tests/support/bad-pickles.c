/* SPDX-License-Identifier: MIT */
/* Test data: files of torch.save as inputs of a run. */

#include "bad-files-private.h"

/* Row 4: files of torch.save.  Code in them is never executed. */

#define NAME "a.pt"
#define STREAM "a.pt: at byte 21: the pickle ends in the middle"
#define PICKLE "a.pt: holds no tensor"
#define OUTPUT "tensor([1., 2., 3., 4.])"

/* Pickles of protocol 2: storage "0" on the CPU, a tensor of 4 elements in it, a dict containing
 * it. */
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
    .takes = "f32[4][1]cpu", .out = OUTPUT                                                         \
  }
#define BROKEN(row, pickle, data, mentions)                                                        \
  {                                                                                                \
    .what = row, .name = NAME,                                                                     \
    .parts = PARTS (PART ("a/data.pkl", pickle), PART ("a/data/0", data)),                         \
    .takes = "f32[4][1]cpu", .status = 2, .out = mentions                                          \
  }
#define FLOATS "\0\0\200\77\0\0\0\100\0\0\100\100\0\0\200\100"
#define CALL "cos\nsystem\nX\14\0\0\0touch called\205R."

static const AdjBadFile files[] = {
  SAVED ("tied weights", DICT (KEY ("x") TENSOR KEY ("b") TENSOR), FLOATS),
  SAVED ("Parameter",
         DICT (KEY ("x") "ctorch._utils\n_rebuild_parameter\n(" TENSOR "\210"
                         "ccollections\nOrderedDict\n)RtR"),
         FLOATS),
  SAVED ("OrderedDict with _metadata",
         "\200\2ccollections\nOrderedDict\n)R(" KEY ("x") TENSOR
         "u}X\11\0\0\0_metadataccollections\nOrderedDict\n)Rsb.",
         FLOATS),
  {
      .what = "bf16",
      .name = NAME,
      .parts = PARTS (PART ("a/data.pkl", DICT (KEY ("x") TENSOR_OF ("torch\nBFloat16Storage"))),
                      PART ("a/data/0", "\200\77\0\100\100\100\200\100")),
      .takes = "bf16[4][1]cpu",
      .out = "tensor([1., 2., 3., 4.], dtype=torch.bfloat16)",
  },
  SAVED (
      "v3 of an untyped storage",
      DICT (KEY ("x") "ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE (
          "torch.storage\nUntypedStorage", "\20") "K\0K\4\205K\1\205" HOOKS "ctorch\nfloat32\ntR"),
      FLOATS),
  BROKEN ("protocol 4, no tensor",
          "\200\4\225\36\0\0\0\0\0\0\0\214\13collections\214\13OrderedDict\223)R.",
          FLOATS,
          "a.pt: holds no tensor"),
  BROKEN ("cyclic list", "\200\2]q\0h\0a.", FLOATS, "a value contains itself"),
  BROKEN ("70 lists in each other",
          "\200\2]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
          FLOATS,
          "values are nested too deeply"),
  BROKEN ("os.system", "\200\2" CALL, FLOATS, "a.pt: holds no tensor"),
  BROKEN ("huge LONG", "\200\2\212\11\0\0\0\0\0\0\0\0\1.", FLOATS, "a.pt: holds no tensor"),
  BROKEN (
      "memo miss", "\200\2h\7.", FLOATS, "at byte 4: a value of the memo that was not put there"),
  BROKEN ("truncated", "\200\2}(X\1\0\0", FLOATS, "the pickle ends in the middle"),
  BROKEN ("text of 4 GiB", "\200\2X\377\377\377\377a", FLOATS, "the pickle ends in the middle"),
  BROKEN ("memo far away", "\200\2]r\377\377\377\377.", FLOATS, "an index of the memo"),
  BROKEN ("instruction", "\200\2i.", FLOATS, "instruction 0x69, which is not read"),
  BROKEN ("storage too short", DICT (KEY ("x") TENSOR), "\0\0", "has 2 bytes, the pickle says 16"),
  BROKEN ("view that leads out",
          DICT (KEY ("x") "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE (
              "torch\nFloatStorage", "\4") "K\1K\4\205K\1\205" HOOKS "tR"),
          FLOATS,
          "a.pt: a/data.pkl: "),
  BROKEN ("negative view",
          DICT (KEY ("x") "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE (
              "torch\nFloatStorage", "\4") "K\0K\4\205K\1\205" HOOKS "}(X\3\0\0\0neg\210utR"),
          FLOATS,
          "a/data.pkl: a tensor that PyTorch conjugates or negates when it is read"),
  BROKEN ("another name", DICT (KEY ("y") TENSOR), FLOATS, "there is no tensor 'x'"),

  /* Not an archive: the legacy stream format, and plain pickle. */
  REFUSED ("stream", "\200\2\212\12l\374\234F\371 j\250P\31.\200\2M\351\3.", STREAM),
  REFUSED ("pickle alone", "\200\4]\224.", PICKLE),
  REFUSED ("os.system alone", "\200\2" CALL, PICKLE),
};

LIST (adj_bad_pickles, "pickles");
