/* SPDX-License-Identifier: MIT */
/* Test data: damaged safetensors files. */

#include "bad-files-private.h"

/* Row 5: safetensors, each rule of the format (formats/SPEC.md §6) violated once, and files that
 * just satisfy it. */

#define NAME "in.safetensors"
#define AT "in.safetensors:1:"
#define ONE "\0\0\300\77" /* 1.5 */
#define TWO "\0\0\0\300"  /* -2 */

#define T(dtype, shape, offsets)                                                                   \
  "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define X(dtype, shape, offsets) "\"x\":" T (dtype, shape, offsets)
#define PAIR X ("F32", "[2]", "[0,8]")
#define ONES16 "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
#define ONES64 ONES16 "," ONES16 "," ONES16 "," ONES16

#define READ(row, annotation, head, data, mentions)                                                \
  {                                                                                                \
    .what = row, .name = NAME, .header = head, .contents = data, .length = sizeof (data) - 1,      \
    .takes = annotation, .out = mentions                                                           \
  }
#define WRONG(row, head, data, mentions)                                                           \
  {                                                                                                \
    .what = row, .name = NAME, .header = head, .contents = data, .length = sizeof (data) - 1,      \
    .takes = "f32[2][1]cpu", .status = 2, .out = mentions                                          \
  }
/* A file of exactly these bytes, without header. */
#define BYTES(row, bytes, mentions)                                                                \
  {                                                                                                \
    .what = row, .name = NAME, .contents = bytes, .length = sizeof (bytes) - 1,                    \
    .takes = "f32[2][1]cpu", .status = 2, .out = mentions                                          \
  }

static const AdjBadFile files[] = {
  READ ("a pair", "f32[2][1]cpu", "{" PAIR "}", ONE TWO, "tensor([ 1.5000, -2.0000])"),
  READ ("blanks behind the header",
        "f32[2][1]cpu",
        "{" PAIR "}   ",
        ONE TWO,
        "tensor([ 1.5000, -2.0000])"),
  READ ("rank 0", "f32[][]cpu", "{" X ("F32", "[]", "[0,4]") "}", ONE, "tensor(1.5000)"),
  READ ("zero-size",
        "f32[0, 3][3, 1]cpu",
        "{" X ("F32", "[0,3]", "[0,0]") "}",
        "",
        "tensor([], size=(0, 3))"),
  READ ("zero-sizes in one place",
        "f32[2][1]cpu",
        "{\"a\":" T ("F32", "[0]", "[8,8]") "," PAIR ",\"b\":" T ("F32", "[0]", "[8,8]") "}",
        ONE TWO,
        "tensor([ 1.5000, -2.0000])"),
  READ ("unaligned header",
        "f64[1][1]cpu",
        "{" X ("F64", "[1]", "[0,8]") "} ",
        "\0\0\0\0\0\0\370\77",
        "tensor([1.5000]"),
  READ ("unaligned data",
        "f32[2][1]cpu",
        "{\"a\":" T ("U8", "[1]", "[0,1]") "," X ("F32", "[2]", "[1,9]") "}",
        "a" ONE TWO,
        "tensor([ 1.5000, -2.0000])"),
  READ ("6-bit beside it",
        "f32[2][1]cpu",
        "{" PAIR ",\"six\":" T ("F6_E2M3", "[4]", "[8,11]") "}",
        ONE TWO "abc",
        "tensor([ 1.5000, -2.0000])"),
  READ ("4-bit beside it",
        "f32[2][1]cpu",
        "{" PAIR ",\"four\":" T ("F4", "[2]", "[8,9]") "}",
        ONE TWO "a",
        "tensor([ 1.5000, -2.0000])"),
  READ ("64 dimensions beside it",
        "f32[2][1]cpu",
        "{" PAIR ",\"deep\":" T ("U8", "[" ONES64 "]", "[8,9]") "}",
        ONE TWO "a",
        "tensor([ 1.5000, -2.0000])"),
  READ ("booleans that are 2 and 255",
        "b8[3][1]cpu",
        "{" X ("BOOL", "[3]", "[0,3]") "}",
        "\0\2\377",
        "tensor([False,  True,  True])"),
  READ ("data in another order",
        "f32[1][1]cpu",
        "{" X ("F32", "[1]", "[4,8]") ",\"a\":" T ("F32", "[1]", "[0,4]") "}",
        TWO ONE,
        "tensor([1.5000])"),
  READ ("complex",
        "c64[1][1]cpu",
        "{" X ("C64", "[1]", "[0,8]") "}",
        ONE TWO,
        "tensor([1.5000-2.j])"),
  READ ("metadata",
        "f32[2][1]cpu",
        "{\"__metadata__\":{\"k\":\"v\"}," PAIR "}",
        ONE TWO,
        "tensor([ 1.5000, -2.0000])"),
  READ ("a key that nobody knows",
        "f32[2][1]cpu",
        "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"y\":[{}]}}",
        ONE TWO,
        "tensor([ 1.5000, -2.0000])"),
  READ ("control character in a name",
        "f32[2][1]cpu",
        "{\"\\u001b\\n\":" T ("U8", "[0]", "[0,0]") "," PAIR "}",
        ONE TWO,
        "tensor([ 1.5000, -2.0000])"),

  /* rule 1: the length, UTF-8, JSON */
  BYTES ("nothing", "", "in.safetensors: not a safetensors file: 0 bytes"),
  BYTES ("shorter than a length", "\2\0\0\0", "in.safetensors: not a safetensors file: 4 bytes"),
  BYTES ("huge header",
         "\377\377\377\377\377\377\377\177{}",
         "in.safetensors: not a safetensors file: a header of 9223372036854775807 bytes, more than "
         "100000000"),
  BYTES ("length that wraps",
         "\377\377\377\377\377\377\377\377{}",
         "in.safetensors: not a safetensors file: a header of 18446744073709551615 bytes, more "
         "than 100000000"),
  BYTES ("header beyond the end",
         "\140\0\0\0\0\0\0\0{}",
         "in.safetensors: not a whole safetensors file: a header of 96 bytes in a file of 10"),
  BYTES ("header of no bytes", "\0\0\0\0\0\0\0\0", AT "1: the header must begin with '{'"),
  WRONG ("no object", "[]", "", AT "1: the header must begin with '{'"),
  WRONG ("blank before the header", " {" PAIR "}", ONE TWO, AT "1: the header must begin with '{'"),
  WRONG ("newline behind the header",
         "{" PAIR "}\n",
         ONE TWO,
         AT "55: only blanks may follow the header"),
  WRONG ("no UTF-8", "{\"\377\":0}", "", "in.safetensors: not UTF-8 text (at byte 2)"),
  WRONG ("no JSON", "{]", "", AT "2: expected '\"'"),
  WRONG ("JSON of Python", "{\"x\":NaN}", "", AT "6: expected a value"),
  WRONG ("half a surrogate pair", "{\"\\ud800\":0}", "", AT "9: half a surrogate pair"),
  WRONG ("NUL in a name", "{\"\\u0000\":0}", "", AT "9: a NUL character"),
  WRONG ("name twice", "{" PAIR "," PAIR "}", ONE TWO, AT "59: the key \"x\" stands twice"),
  WRONG ("name twice, once escaped",
         "{\"\\u0078\":" T ("F32", "[2]", "[0,8]") "," PAIR "}",
         ONE TWO,
         "the key \"x\" stands twice"),
  WRONG ("comma at the end", "{" PAIR ",}", ONE TWO, AT "55: expected '\"'"),
  WRONG ("single quotes", "{'x':1}", "", AT "2: expected '\"'"),
  WRONG ("comment behind the header",
         "{" PAIR "}/**/",
         ONE TWO,
         AT "55: only blanks may follow the header"),
  WRONG ("key twice",
         "{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}",
         "",
         AT "29: the key \"dtype\" stands twice"),

  /* the description of a tensor */
  WRONG ("tensor that is no object", "{\"x\":1}", "", "tensor 'x' must be an object"),
  WRONG ("no dtype",
         "{\"x\":{\"shape\":[2],\"data_offsets\":[0,8]}}",
         ONE TWO,
         "tensor 'x': there is no 'dtype'"),
  WRONG (
      "unknown dtype", "{" X ("F7", "[2]", "[0,8]") "}", ONE TWO, "tensor 'x': unknown dtype 'F7'"),
  WRONG ("no shape",
         "{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}",
         ONE TWO,
         "tensor 'x': the shape must be"),
  WRONG ("size that is no whole number",
         "{" X ("F32", "[2.0]", "[0,8]") "}",
         ONE TWO,
         "tensor 'x': the shape must be"),
  WRONG ("size with an exponent",
         "{" X ("F32", "[2e0]", "[0,8]") "}",
         ONE TWO,
         "tensor 'x': the shape must be"),
  WRONG ("negative size",
         "{" X ("F32", "[-2]", "[0,8]") "}",
         ONE TWO,
         "tensor 'x': the shape must be"),
  WRONG ("size above 2^53",
         "{" X ("F32", "[0,9007199254740993]", "[0,0]") "}",
         "",
         "tensor 'x': the shape must be at most 64 whole numbers from 0 to 2^53"),
  WRONG ("65 dimensions",
         "{" X ("U8", "[" ONES64 ",1]", "[0,1]") "}",
         "a",
         "tensor 'x': the shape must be at most 64"),
  WRONG ("no offsets",
         "{\"x\":{\"dtype\":\"F32\",\"shape\":[2]}}",
         ONE TWO,
         "tensor 'x': data_offsets must be two rising whole numbers"),
  WRONG ("three offsets",
         "{" X ("F32", "[2]", "[0,8,8]") "}",
         ONE TWO,
         "tensor 'x': data_offsets must be"),
  WRONG ("offset above 2^53",
         "{" X ("F32", "[2]", "[0,9007199254740993]") "}",
         ONE TWO,
         "tensor 'x': data_offsets must be"),
  WRONG ("end before the beginning",
         "{" X ("F32", "[2]", "[8,0]") "}",
         ONE TWO,
         "tensor 'x': data_offsets must be two rising whole numbers"),
  WRONG ("metadata that is no text",
         "{\"__metadata__\":{\"k\":1}," PAIR "}",
         ONE TWO,
         AT "17: __metadata__ must map strings to strings"),

  /* rule 2: no hole, no overlap */
  WRONG ("first tensor not at 0",
         "{" X ("F32", "[2]", "[1,9]") "}",
         "a" ONE TWO,
         "tensor 'x' begins at 1 of the data, but is the first"),
  WRONG ("hole",
         "{\"a\":" T ("U8", "[1]", "[0,1]") "," X ("F32", "[2]", "[2,10]") "}",
         "ab" ONE TWO,
         "tensor 'x' begins at 2 of the data, but tensor 'a' before it ends at 1"),
  WRONG ("overlap",
         "{" PAIR ",\"y\":" T ("F32", "[2]", "[4,12]") "}",
         ONE TWO ONE,
         "tensor 'y' begins at 4 of the data, but tensor 'x' before it ends at 8"),
  WRONG ("control character in a name that is told",
         "{" X ("F32", "[2]", "[0,8]") ",\"\\u001b[31m\\n\":" T ("U8", "[1]", "[9,10]") "}",
         ONE TWO "ab",
         "begins at 9 of the data, but tensor 'x' before it ends at 8"),
  WRONG ("the same bytes twice",
         "{" PAIR ",\"y\":" T ("F32", "[2]", "[0,8]") "}",
         ONE TWO,
         "begins at 0 of the data, but tensor"),

  /* rule 3: the size */
  WRONG ("too many elements",
         "{" X ("F32", "[9007199254740992,9007199254740992]", "[0,0]") "}",
         "",
         "tensor 'x': too many elements"),
  WRONG ("too many bits",
         "{" X ("F32", "[9007199254740992,256]", "[0,0]") "}",
         "",
         "tensor 'x': too many elements"),
  WRONG ("bits that are no whole bytes",
         "{" X ("F6_E3M2", "[3]", "[0,2]") "}",
         "ab",
         "tensor 'x': its 18 bits are no whole bytes"),
  WRONG ("other size",
         "{" X ("F32", "[3]", "[0,8]") "}",
         ONE TWO,
         "tensor 'x': dtype and shape need 12 bytes, but data_offsets enclose 8"),

  /* rule 4: the end */
  WRONG ("cut", "{" PAIR "}", ONE "\0\0\0", "tensor 'x' reaches beyond the file: to 8 of 7 bytes"),
  WRONG ("bytes behind the last tensor",
         "{" PAIR "}",
         ONE TWO "a",
         "in.safetensors: 1 bytes that belong to no tensor, behind tensor 'x'"),
  WRONG ("bytes without a tensor",
         "{}",
         "a",
         "in.safetensors: 1 bytes that belong to no tensor, behind the header"),

  /* valid files without the requested tensor */
  WRONG ("empty", "{}", "", "in.safetensors: there is no tensor 'x'"),
  WRONG ("6-bit",
         "{" X ("F6_E2M3", "[4]", "[0,3]") "}",
         "abc",
         "in.safetensors: tensor 'x' has elements smaller than a byte"),
  WRONG ("64 dimensions",
         "{" X ("U8", "[" ONES64 "]", "[0,1]") "}",
         "a",
         "in.safetensors: tensor 'x' has more than 16 dimensions"),
};

LIST (adj_bad_tensors, "safetensors");
