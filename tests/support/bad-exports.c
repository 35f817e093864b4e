/* SPDX-License-Identifier: MIT */
/* Test data: programs of torch.export, unusual and damaged. */

#include "bad-files-private.h"

/* Row 3, programs of torch.export: unusual ones are shown, damaged ones refused with the place,
 * and those of other schema versions with their number. */

#define NAME "a.pt2"

/* A program f32[2] → f32[2] with @nodes and their result in the middle. */
#define X "{\"as_tensor\": {\"name\": \"x\"}}"
#define Y "{\"as_tensor\": {\"name\": \"y\"}}"
#define NODE(target, inputs, outputs)                                                              \
  "{\"target\": \"torch.ops." target "\", \"inputs\": [" inputs "], \"outputs\": [" outputs        \
  "], \"metadata\": {}}"
#define GIVEN(name, value) "{\"name\": \"" name "\", \"arg\": " value "}"
#define META(size)                                                                                 \
  "{\"dtype\": 7, \"sizes\": [" size "], \"requires_grad\": false, \"device\": {\"type\": "        \
  "\"cpu\"}, \"strides\": [{\"as_int\": 1}], \"storage_offset\": {\"as_int\": 0}, \"layout\": 7}"
#define SPECS                                                                                      \
  "{\"input_specs\": [{\"user_input\": {\"arg\": " X                                               \
  "}}], \"output_specs\": [{\"user_output\": {\"arg\": " Y "}}]}"
#define PROGRAM(version, size, nodes, signature)                                                   \
  "{\"graph_module\": {\"graph\": {\"inputs\": [" X "], \"outputs\": [" Y "], \"nodes\": [" nodes  \
  "], \"tensor_values\": {\"x\": " META (size) ", \"y\": " META (                                  \
      size) "}, \"sym_int_values\": {}, \"sym_bool_values\": {}, \"is_single_tensor_return\": "    \
            "false}, "                                                                             \
            "\"signature\": " signature                                                            \
            ", \"module_call_graph\": []}, \"opset_version\": {\"aten\": 10}, "                    \
            "\"range_constraints\": {}, \"schema_version\": " version "}"
#define SIZE "{\"as_int\": 2}"
#define RELU NODE ("aten.relu.default", GIVEN ("self", X), Y)
#define SCHEMA(major, minor) "{\"major\": " major ", \"minor\": " minor "}"

#define OLD(row, version, program)                                                                 \
  ARCHIVE (row,                                                                                    \
           PARTS (PART ("serialized_exported_program.json", program),                              \
                  PART ("serialized_state_dict.pt", ""), PART ("serialized_constants.pt", ""),     \
                  PART ("serialized_example_inputs.pt", ""), PART ("version", version)))
#define OLD_OF(row, size, nodes) OLD (row, "8.2", PROGRAM (SCHEMA ("8", "2"), size, nodes, SPECS))
#define NEW(row, root, ...)                                                                        \
  ARCHIVE (row, PARTS (PART (root "/archive_format", "pt2"), PART (root "/byteorder", "little"),   \
                       __VA_ARGS__))
#define ARCHIVE(row, list)                                                                         \
  {                                                                                                \
    .what = row, .name = NAME, .parts = list, .out = "export"                                      \
  }
#define OTHER_SCHEMA(row, version, program, mentions)                                              \
  {                                                                                                \
    .what = row, .name = NAME,                                                                     \
    .parts =                                                                                       \
        PARTS (PART ("serialized_exported_program.json", program), PART ("version", version)),     \
    .status = 2, .out = mentions                                                                   \
  }
#define OLD_PROGRAM "a.pt2: serialized_exported_program.json"
#define DAMAGED(row, broken, second, mentions)                                                     \
  {                                                                                                \
    .what = row, .name = NAME,                                                                     \
    .parts = PARTS (PART ("m/archive_format", "pt2"), PART (second, "0")), .damage = broken,       \
    .status = 2, .out = mentions                                                                   \
  }

#define VERSION(root) PART (root "/archive_version", "0")
#define MODEL(root, name)                                                                          \
  PART (root "/models/" name ".json", PROGRAM (SCHEMA ("8", "10"), SIZE, RELU, SPECS))
#define WEIGHT(name)                                                                               \
  "\"" name "\": {\"path_name\": \"weight_0\", \"is_param\": true, \"use_pickle\": false, "        \
  "\"tensor_meta\": " META (SIZE) "}"
#define WEIGHTS(root, weights)                                                                     \
  PART (root "/data/weights/model_weights_config.json", "{\"config\": {" weights "}}")

static const AdjBadFile files[] = {
  NEW ("root named archive", "archive", VERSION ("archive"), MODEL ("archive", "model")),
  NEW ("root named as the file", "a", VERSION ("a"), MODEL ("a", "model")),
  NEW ("odd nested root",
       "models/data.pkl/é",
       VERSION ("models/data.pkl/é"),
       MODEL ("models/data.pkl/é", "model")),
  NEW ("no archive_version", "m", MODEL ("m", "model")),
  NEW ("two models", "m", VERSION ("m"), MODEL ("m", "first"), MODEL ("m", "second")),
  NEW ("shared weights",
       "m",
       VERSION ("m"),
       MODEL ("m", "model"),
       WEIGHTS ("m", WEIGHT ("a") ", " WEIGHT ("b")),
       PART ("m/data/weights/weight_0", "\0\0\200\77\0\0\0\100")),
  {
      .what = "weight of no bytes",
      .name = NAME,
      .parts = PARTS (PART ("m/archive_format", "pt2"),
                      PART ("m/archive_version", "0"),
                      MODEL ("m", "model"),
                      WEIGHTS ("m", WEIGHT ("a")),
                      PART ("m/data/weights/weight_0", "")),
      .out = "export",
      .remark = "a: ",
  },
  OTHER_SCHEMA (
      "schema 1",
      "1",
      PROGRAM ("1",
               SIZE,
               RELU,
               "{\"inputs_to_parameters\": {}, \"inputs_to_buffers\": {}, \"user_inputs\": "
               "[\"x\"], \"user_outputs\": [\"y\"], \"buffers_to_mutate\": {}, "
               "\"backward_signature\": null}"),
      OLD_PROGRAM ":1:1: no schema_version"),
  OTHER_SCHEMA ("schema 3",
                "3.0",
                PROGRAM (SCHEMA ("3", "0"), SIZE, RELU, SPECS),
                OLD_PROGRAM ": schema 3.0: of torch.export we read schema 8"),
  OTHER_SCHEMA ("schema 5",
                "5.3",
                PROGRAM (SCHEMA ("5", "3"), SIZE, RELU, SPECS),
                OLD_PROGRAM ": schema 5.3: of torch.export we read schema 8"),
  OTHER_SCHEMA ("schema 7",
                "7.3",
                PROGRAM (SCHEMA ("7", "3"), SIZE, RELU, SPECS),
                OLD_PROGRAM ": schema 7.3: of torch.export we read schema 8"),
  {
      .what = "schema 9 in the newer layout",
      .name = NAME,
      .parts = PARTS (PART ("m/archive_format", "pt2"),
                      PART ("m/archive_version", "0"),
                      PART ("m/models/model.json", PROGRAM (SCHEMA ("9", "1"), SIZE, RELU, SPECS))),
      .status = 2,
      .out = "a.pt2: models/model.json: schema 9.1: of torch.export we read schema 8",
  },
  OTHER_SCHEMA ("schema 9",
                "9.1",
                PROGRAM (SCHEMA ("9", "1"), SIZE, RELU, SPECS),
                OLD_PROGRAM ": schema 9.1: of torch.export we read schema 8"),
  OLD ("schema 8", "8.2", PROGRAM (SCHEMA ("8", "2"), SIZE, RELU, SPECS)),
  OLD_OF (
      "as_none is a list",
      SIZE,
      NODE ("aten.clamp.default", GIVEN ("self", X) ", " GIVEN ("min", "{\"as_none\": []}"), Y)),
  OLD_OF (
      "as_none is true",
      SIZE,
      NODE ("aten.clamp.default", GIVEN ("self", X) ", " GIVEN ("min", "{\"as_none\": true}"), Y)),
  OLD_OF ("expression of srepr",
          "{\"as_expr\": {\"expr_str\": \"Add(Symbol('s0', positive=True, integer=True), "
          "Integer(1))\", \"hint\": {\"as_int\": 2}}}",
          RELU),
  OLD_OF ("expression of str", "{\"as_expr\": {\"expr_str\": \"s0 + 1\", \"hint\": 2}}", RELU),
  OLD_OF ("unused output",
          SIZE,
          NODE ("aten.max.dim",
                GIVEN ("self", X) ", " GIVEN ("dim", "{\"as_int\": 0}"),
                Y ", {\"as_tensor\": {\"name\": \"max_1_unused_1\"}}")),
  OLD_OF ("subgraph as an argument",
          SIZE,
          NODE ("higher_order.wrap_with_set_grad_enabled",
                GIVEN ("", "{\"as_bool\": false}") ", " GIVEN (
                    "",
                    "{\"as_graph\": {\"name\": \"g\", \"graph\": {\"inputs\": [" X
                    "], \"outputs\": [" Y "], \"nodes\": [" RELU "], \"tensor_values\": {}, "
                    "\"sym_int_values\": {}, \"sym_bool_values\": {}, \"is_single_tensor_return\": "
                    "false}}}") ", " GIVEN ("", X),
                Y)),

  OTHER_SCHEMA (
      "a value that nobody makes",
      "8.2",
      PROGRAM (SCHEMA ("8", "2"), SIZE, NODE ("aten.relu.default", GIVEN ("self", Y), Y), SPECS),
      "no value 'y' stands before this"),
  OTHER_SCHEMA ("a value that two make",
                "8.2",
                PROGRAM (SCHEMA ("8", "2"), SIZE, RELU ", " RELU, SPECS),
                "another value has this name"),
  OTHER_SCHEMA ("an unknown kind of argument",
                "8.2",
                PROGRAM (SCHEMA ("8", "2"),
                         SIZE,
                         NODE ("aten.relu.default", GIVEN ("self", "{\"as_horse\": 1}"), Y),
                         SPECS),
                "an argument of the unknown kind 'as_horse'"),
  OTHER_SCHEMA ("not JSON", "8.2", "{\"graph_module\": ", OLD_PROGRAM ":1:18: "),

  {
      .what = "compiled code",
      .name = NAME,
      .parts = PARTS (PART ("data/aotinductor/model/a.so", "code"),
                      PART ("data/aotinductor/model/a.wrapper.cpp", "text"),
                      PART ("data/aotinductor/model/a.kernel.cpp", "text"),
                      PART ("data/aotinductor/model/a.wrapper_metadata.json", "{}"),
                      PART ("data/aotinductor/model/a.kernel_metadata.json", "{}"),
                      PART ("data/aotinductor/model/a.wrapper_compile_flags.json", "{}"),
                      PART ("data/aotinductor/model/b.cubin", "code"),
                      PART ("data/aotinductor/model/c.cubin", "code"),
                      PART ("data/aotinductor/model/weights_config.json", "{}"),
                      PART ("data/aotinductor/model/notes", "text"),
                      PART ("data/weights/weight_0", "abcd"),
                      PART ("data/constants/custom_obj_0", "abcd")),
      .status = 2,
      .out =
          "a.pt2: a package of AOTInductor, compiled code without a graph: export the model with "
          "torch.export.save(); it holds 12 files: model/a.so (compiled code), "
          "model/a.wrapper.cpp (C++), model/a.kernel.cpp (C++), "
          "model/a.wrapper_metadata.json (metadata), model/a.kernel_metadata.json (metadata), "
          "model/a.wrapper_compile_flags.json (flags of the compiler), "
          "model/b.cubin (code of a GPU), model/c.cubin (code of a GPU), "
          "model/weights_config.json (where weights are), model/notes, "
          "data/weights/weight_0 (weights), data/constants/custom_obj_0 (a constant)",
  },

  DAMAGED ("checksum",
           zip_bytes_change_checksum,
           "m/archive_version",
           "a.pt2: an archive of torch.export without a program"),
  DAMAGED ("overlap",
           zip_bytes_overlap,
           "m/archive_version",
           "a.pt2: m/archive_format and m/archive_version overlap"),
  DAMAGED ("name that leads out",
           NULL,
           "../x",
           "a.pt2: entry 1, '../x': the name has a part '.' or '..'"),
  DAMAGED ("cut", zip_bytes_cut, "m/archive_version", "a.pt2: not a whole ZIP archive"),
  REFUSED ("only a beginning", "PK\3\4", "a.pt2: not a whole ZIP archive"),
  REFUSED ("nothing", "", "a.pt2: the file is empty"),
};

LIST (adj_bad_exports, "exports");
