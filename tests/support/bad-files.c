/* SPDX-License-Identifier: MIT */
#include "support/bad-files.h"

#define P "V0302 09:15:01.004000 4711 torch/_logging/structured.py:27] "
#define INFERENCE "{\"aot_inference_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0"
#define GRAPH                                                                                      \
  "\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x: \"f32[2][1]cpu\"):\n"            \
  "\t        y: \"f32[2][1]cpu\" = torch.ops.aten.sin.default(x)\n\t        return (y,)\n"
#define CLASS "class G(torch.nn.Module):\n    def forward(self, x):\n"

/* A header of safetensors, and what follows it. */
#define ST(length, rest) length "\0\0\0\0\0\0\0" rest

#define TEXT(what, name, contents, status, ...)                                                    \
  {                                                                                                \
    what, name, contents, 0, status, __VA_ARGS__                                                   \
  }
#define BYTES(what, name, contents, status, ...)                                                   \
  {                                                                                                \
    what, name, contents, sizeof (contents) - 1, status, __VA_ARGS__                               \
  }

static const AdjBadFile files[] = {
  /* 1: logs */
  TEXT ("crlf",
        "a.log",
        P INFERENCE "}\r\n\tclass <lambda>(torch.nn.Module):\r\n"
                    "\t    def forward(self, x):\r\n\t        return (x,)\r\n",
        0,
        "0-0-inference",
        NULL),
  TEXT ("no final newline",
        "a.log",
        P INFERENCE "}\n\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x):\n"
                    "\t        return (x,)",
        0,
        "0-0-inference",
        NULL),
  TEXT (
      "empty payload", "a.log", P INFERENCE ", \"has_payload\": \"00\"}\n\t\n", 2, "a.log:", NULL),
  TEXT ("blank lines in the payload",
        "a.log",
        P INFERENCE "}\n\tclass <lambda>(torch.nn.Module):\n\n\t    def forward(self, x):\n\n"
                    "\t        return (x,)\n",
        0,
        "0-0-inference",
        NULL),
  TEXT ("cut record",
        "a.log",
        P INFERENCE "}\n" GRAPH P "{\"aot_forward_graph\": {}, \"fra",
        0,
        "0-0-inference",
        "a.log:6:1: warning: this record is passed over"),
  TEXT ("only a cut record",
        "a.log",
        P "{\"aot_forward_graph\": {}, \"fra",
        2,
        "a.log:1:1: holds no graph",
        NULL),
  TEXT ("string index twice",
        "a.log",
        P "{\"str\": [\"a.py\", 0]}\n" P "{\"str\": [\"b.py\", 0]}\n" P INFERENCE "}\n" GRAPH,
        0,
        "0-0-inference",
        NULL),
  TEXT ("two ranks",
        "a.log",
        P INFERENCE ", \"rank\": 0}\n" GRAPH P INFERENCE ", \"rank\": 1}\n" GRAPH,
        0,
        "r1-0-0-inference",
        NULL),
  TEXT ("no rank, then a rank",
        "a.log",
        P INFERENCE "}\n" GRAPH P INFERENCE ", \"rank\": 3}\n" GRAPH,
        0,
        "r3-0-0-inference",
        NULL),
  TEXT ("unknown kind",
        "a.log",
        P "{\"telepathy\": {}, \"frame_id\": 0}\n" P INFERENCE "}\n" GRAPH,
        0,
        "0-0-inference",
        NULL),
  TEXT ("NaN",
        "a.log",
        P "{\"compilation_metrics\": {\"a\": NaN, \"b\": -Infinity}}\n" P INFERENCE
          ", \"x\": Infinity}\n" GRAPH,
        0,
        "0-0-inference",
        NULL),
  TEXT ("collector's stamp",
        "a.log",
        "[rank0]:2026-03-02 host " P INFERENCE "}\n" GRAPH,
        0,
        "0-0-inference",
        NULL),
  TEXT ("path with blanks",
        "a.log",
        "V0302 09:15:01.004000 4711 my files#link-tree/x.py:27] " INFERENCE "}\n" GRAPH,
        0,
        "0-0-inference",
        NULL),
  TEXT ("other digest",
        "a.log",
        P INFERENCE ", \"has_payload\": \"0\"}\n" GRAPH,
        0,
        "0-0-inference",
        "a.log:1:1: warning: inference: the text was changed"),
  BYTES ("no UTF-8",
         "a.log",
         P INFERENCE "}\n\t# \xff\xfe\n" GRAPH,
         0,
         "0-0-inference",
         "a.log:1:1: warning: inference: bytes that are no UTF-8"),

  /* 2: text */
  TEXT ("lambda",
        "a.txt",
        "class <lambda>(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n",
        0,
        "0-0-inference",
        NULL),
  TEXT ("nested classes",
        "a.txt",
        CLASS "        y = self.inner(x)\n        return (y,)\n        \n"
              "    class inner(torch.nn.Module):\n        def forward(self, a):\n"
              "            return (a,)\n",
        0,
        "user",
        NULL),
  TEXT ("colours",
        "a.txt",
        "\033[32m" CLASS "        y = \033[1mx\033[0m + 1\n        return (y,)\n",
        0,
        "user",
        NULL),
  TEXT ("annotations without quotes",
        "a.txt",
        "class G(torch.nn.Module):\n    def forward(self, x: f32[2, 3]):\n"
        "        mm: f32[2, 2] = torch.ops.aten.mm.default(x, x)\n        return (mm,)\n",
        0,
        "user",
        NULL),
  TEXT ("parameters by a pytree",
        "a.txt",
        "class joint_helper(torch.nn.Module):\n    def forward(self, primals, tangents):\n"
        "        primals_1: \"f32[4]\"; tangents_1: \"f32[4]\"; \n    \n"
        "        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], "
        "self._in_spec)\n        return pytree.tree_unflatten([primals_1], self._out_spec)\n",
        0,
        "0-0-joint",
        NULL),
  TEXT ("no parameters but an unpacking",
        "a.txt",
        "class G(torch.nn.Module):\n    def forward(self):\n"
        "        x, = fx_pytree.tree_flatten_spec([], self._in_spec)\n"
        "        weight = self.fc1.weight\n        return pytree.tree_unflatten((x, weight), "
        "self._out_spec)\n",
        0,
        "user",
        NULL),
  TEXT ("trailer", "a.txt", CLASS "        return (x,)\n\n\n # graph id: 42\n", 0, "user", NULL),
  TEXT ("odd comment",
        "a.txt",
        CLASS "        # File: /a, code: b/x.py:12 in f, code: y = x  # , code: '#'\n"
              "        y = x + 1\n        return (y,)\n",
        0,
        "user",
        NULL),
  TEXT ("module in a list",
        "a.txt",
        CLASS "        y = getattr(self.layers, \"0\")(x)\n        return (y,)\n",
        0,
        "user",
        NULL),
  TEXT ("in place",
        "a.txt",
        CLASS "        x += 1;  iadd = x\n        x[0] = 1;  setitem = x\n        return (iadd,)\n",
        0,
        "user",
        NULL),
  TEXT ("higher-order operator",
        "a.txt",
        CLASS "        y = torch.ops.higher_order.cond(x, self.a, self.b, {'x': x, 'y': [x]})\n"
              "        return (y,)\n",
        0,
        "user",
        NULL),
  TEXT ("keyword called as a node",
        "a.txt",
        CLASS "        dim = x + 1\n        y = torch.sum(x, dim = dim)\n        return (y,)\n",
        0,
        "user",
        NULL),
  TEXT ("cut before the function", "a.txt", "class G(torch.nn.Module):\n", 2, "a.txt:", NULL),
  TEXT ("cut in the header",
        "a.txt",
        "class G(torch.nn.Module):\n    def forward(self, x: \"f32[",
        2,
        "a.txt:2:",
        NULL),
  TEXT ("cut in the body",
        "a.txt",
        CLASS "        y = torch.ops.aten.sin.def",
        0,
        "user",
        "a.txt:1:1: warning:"),
  TEXT ("no graph", "a.txt", "once upon a time\n", 2, "a.txt:", NULL),
  TEXT ("nothing", "a.txt", "", 2, "a.txt", NULL),
  BYTES ("not UTF-8", "a.txt", CLASS "        y = x + '\xff'\n", 2, "a.txt: not UTF-8", NULL),

  /* 3, 4: archives that this program does not read, or that are damaged */
  BYTES ("no archive", "a.pt2", "PK\3\4", 2, "a.pt2", NULL),
  BYTES ("pickle",
         "a.pt",
         "\x80\x02\x8a\nl\xfc\x9c"
         "F\xf9 j\xa8P\x19.",
         2,
         "a.pt: not a file that we read",
         NULL),
  BYTES ("os.system",
         "a.pt",
         "\x80\x02"
         "cos\nsystem\n(Vtrue\ntR.",
         2,
         "a.pt: not a file that we read",
         NULL),
};

const AdjBadFile *
adj_bad_files_get (guint *n)
{
  *n = G_N_ELEMENTS (files);
  return files;
}

#define INPUTS(what, header)                                                                       \
  {                                                                                                \
    what, "in.safetensors", header, sizeof (header) - 1, 2, "in.safetensors", NULL                 \
  }

static const AdjBadFile tensors[] = {
  INPUTS ("nothing", ""),
  INPUTS ("shorter than a header", "\2\0\0\0"),
  INPUTS ("a huge header", "\377\377\377\377\377\377\377\177{}"),
  INPUTS ("header beyond the end", ST ("\140", "{}")),
  INPUTS ("no JSON", ST ("\2", "{]")),
  INPUTS ("no object", ST ("\2", "[]")),
  INPUTS ("no tensor of the name", ST ("\2", "{}")),
  INPUTS ("unknown element type",
          ST ("\73",
              "{\"x\":{\"dtype\":\"F7\",\"shape\":[2],\"data_offsets\":[0,8]}}     "
              "12345678")),
  INPUTS ("wrong length",
          ST ("\73",
              "{\"x\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}    "
              "12345678")),
  INPUTS ("a name twice",
          ST ("\71", "{\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"x\":0}")),
};

const AdjBadFile *
adj_bad_tensors_get (guint *n)
{
  *n = G_N_ELEMENTS (tensors);
  return tensors;
}

const char *
adj_bad_file_taker (void)
{
  return "class G(torch.nn.Module):\n    def forward(self, x: \"f32[2][1]cpu\"):\n"
         "        return (x,)\n";
}

char *
adj_bad_file_write (const AdjBadFile *file, const char *folder)
{
  char *path = g_build_filename (folder, file->name, NULL);
  gssize length = file->length > 0 || *file->contents == '\0' ? (gssize) file->length : -1;

  g_assert_true (g_file_set_contents (path, file->contents, length, NULL));
  return path;
}
