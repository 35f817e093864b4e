/* SPDX-License-Identifier: MIT */
/* Test data: damaged archives. */

#include "bad-files-private.h"

/* Row 3, archives: .adjoint files that are valid except for one thing. */

#define NAME "a.adjoint"
#define HEAD "{\"format\": \"adjoint\", \"version\": [1, 0]"
#define MANIFEST HEAD ",\n\"graphs\": [{\"id\": \"g\", \"role\": \"user\"}]}"
#define WITH_TENSORS                                                                               \
  HEAD ",\n\"graphs\": [{\"id\": \"g\", \"role\": \"user\"}],\n"                                   \
       "\"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"x\"]}]}]}"
#define WITH_DIGEST HEAD ",\n\"graphs\": [{\"id\": \"g\", \"role\": \"user\", \"sha256\": \"0\"}]}"
#define GRAPH                                                                                      \
  "{\"graph\": {\"class\": \"G\",\n\"nodes\": [\n"                                                 \
  "{\"name\": \"x\", \"op\": \"placeholder\", \"target\": \"x\"},\n"                               \
  "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$n\": \"x\"}]}\n]}}\n"

#define GOOD PART ("adjoint.json", MANIFEST), PART ("graphs/g.json", GRAPH)

#define OPENED(row, broken, says, ...)                                                             \
  {                                                                                                \
    .what = row, .name = NAME, .parts = PARTS (__VA_ARGS__), .damage = broken, .out = "\ng ",      \
    .remark = says                                                                                 \
  }
#define WRONG(row, mentions, ...)                                                                  \
  {                                                                                                \
    .what = row, .name = NAME, .parts = PARTS (__VA_ARGS__), .status = 2,                          \
    .out = "a.adjoint: " mentions                                                                  \
  }
#define BROKEN(row, broken, mentions)                                                              \
  {                                                                                                \
    .what = row, .name = NAME, .parts = PARTS (GOOD), .damage = broken, .status = 2,               \
    .out = "a.adjoint: " mentions                                                                  \
  }

static const AdjBadFile files[] = {
  OPENED ("as it should be", NULL, NULL, GOOD),
  OPENED ("in another order",
          NULL,
          NULL,
          PART ("graphs/g.json", GRAPH),
          PART ("adjoint.json", MANIFEST)),
  OPENED ("an entry that nobody knows", NULL, NULL, GOOD, PART ("é\n", "")),
  OPENED ("text of no bytes", NULL, NULL, GOOD, PART ("text/g.txt", "")),
  OPENED ("checksum",
          zip_bytes_change_checksum,
          "a.adjoint: warning: graphs/g.json: the checksum",
          GOOD),
  OPENED ("digest",
          NULL,
          "a.adjoint: warning: graphs/g.json: edited by hand",
          PART ("adjoint.json", WITH_DIGEST),
          PART ("graphs/g.json", GRAPH)),

  BROKEN ("cut", zip_bytes_cut, "not a whole ZIP archive"),
  BROKEN ("bytes behind the end", zip_bytes_extend, "not a whole ZIP archive"),
  BROKEN ("overlap", zip_bytes_overlap, "adjoint.json and graphs/g.json overlap"),
  BROKEN ("encrypted", zip_bytes_encrypt_first, "adjoint.json: encrypted"),
  BROKEN ("compression", zip_bytes_change_method, "graphs/g.json: unknown compression 12"),
  WRONG ("entry twice",
         "graphs/g.json: stands in the archive twice",
         GOOD,
         PART ("graphs/g.json", GRAPH)),
  WRONG ("name that leads out",
         "entry 2, '../x': the name has a part '.' or '..'",
         GOOD,
         PART ("../x", "")),
  WRONG ("absolute name", "entry 2, '/x': the name is absolute", GOOD, PART ("/x", "")),
  WRONG ("name with a backslash",
         "entry 2, '..\\\\x': the name has a backslash",
         GOOD,
         PART ("..\\x", "")),
  WRONG ("name that is no UTF-8",
         "entry 2, '\\377': the name is no UTF-8 text",
         GOOD,
         PART ("\377", "")),

  WRONG ("no manifest", "adjoint.json is missing", PART ("graphs/g.json", GRAPH)),
  WRONG ("one root",
         "adjoint.json is missing; there is a/adjoint.json",
         PART ("a/adjoint.json", MANIFEST),
         PART ("a/graphs/g.json", GRAPH)),
  WRONG ("two roots",
         "adjoint.json is missing; there is a/adjoint.json, b/adjoint.json",
         PART ("a/adjoint.json", MANIFEST),
         PART ("b/adjoint.json", MANIFEST)),
  WRONG ("manifest of no bytes",
         "adjoint.json:1:1: expected a value",
         PART ("adjoint.json", ""),
         PART ("graphs/g.json", GRAPH)),
  WRONG ("manifest of a later time",
         "version 9 of the format; this program reads version 1",
         PART ("adjoint.json", "{\"format\": \"adjoint\", \"version\": [9, 0]}")),
  WRONG ("no graph in it",
         "adjoint.json:1:52: the file holds no graph",
         PART ("adjoint.json", HEAD ", \"graphs\": []}")),
  WRONG ("graph that is not there", "graphs/g.json is missing", PART ("adjoint.json", MANIFEST)),
  WRONG ("graph of no bytes",
         "graphs/g.json:1:1: expected '{'",
         PART ("adjoint.json", MANIFEST),
         PART ("graphs/g.json", "")),
  WRONG ("graph that is cut",
         "graphs/g.json:2:1: expected",
         PART ("adjoint.json", MANIFEST),
         PART ("graphs/g.json", "{\"graph\": {\"nodes\": [\n")),
  WRONG ("tensors that are not there",
         "tensors/t.safetensors is missing",
         PART ("adjoint.json", WITH_TENSORS),
         PART ("graphs/g.json", GRAPH)),
  WRONG ("tensors of no bytes",
         "tensors/t.safetensors: not a safetensors file: 0 bytes",
         PART ("adjoint.json", WITH_TENSORS),
         PART ("graphs/g.json", GRAPH),
         PART ("tensors/t.safetensors", "")),

  /* Neither an .adjoint file nor named like one. */
  {
      .what = "another ZIP archive",
      .name = "a.zip",
      .parts = PARTS (PART ("x/adjoint.json", MANIFEST)),
      .status = 2,
      .out = "a.zip: a ZIP archive without adjoint.json, which every .adjoint file has",
  },
  {
      .what = "tensors alone",
      .name = "a.safetensors",
      .header = "{}",
      .contents = "",
      .status = 2,
      .out = "a.safetensors: tensors without a graph: open a graph, and give them to its run",
  },
  {
      .what = "a picture",
      .name = "a.png",
      .contents = "\211PNG\r\n\32\n",
      .length = 8,
      .status = 2,
      .out = "a.png: not a file that we read: expected an .adjoint file or folder",
  },
};

LIST (adj_bad_archives, "archives");
