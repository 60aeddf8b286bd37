#include "troupe/serialization/graph_def/graph_def.hpp"

#include "tests/serialization/small_ops.hpp"
#include "tests/support/catch.hpp"
#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/serialization/text/text_graph.hpp"

namespace troupe::test::graph_def_test {
namespace {

using Catch::Matchers::Contains;

status read_text(std::string_view text, graph& target, const graph_def_options& options = {}) {
  return read_graph_def_text(text, target, options).status();
}

status read_text(std::string_view text, const graph_def_options& options = {}) {
  graph target{small_registry()};
  return read_text(text, target, options);
}

std::string constant(std::string_view tensor) {
  return concat("node { name: 'c' op: 'Const' attr { key: 'value' value { tensor { ", tensor,
                " } } } attr { key: 'dtype' value { type: DT_STRING } } }");
}

// The value of a constant, independent of its dtype.
std::string value_of(std::string_view tensor) {
  graph target{small_registry()};
  auto text = concat("node { name: 'c' op: 'Const' attr { key: 'value' value { tensor { ", tensor,
                     " } } } attr { key: 'dtype' value { type: DT_FLOAT } } }");
  auto outcome = read_text(text, target);
  return outcome ? to_string(*constant_value(target.find("c")->output(0))) : outcome.message();
}

TEST_CASE("nodes of a GraphDef may be in any order, and refer to inputs in each notation") {
  graph g{small_registry()};
  auto outcome = read_text(R"(
    node { name: 'z' op: 'Add' input: 't:1' input: 't:0' input: '^n' device: '/device:CPU:0'
           attr { key: 'T' value { type: DT_HALF } } }
    node { name: 't' op: 'Two' input: 'x' attr { key: '_class' value { s: 'loc:@x' } } }
    node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_HALF } }
           attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 2 } } } } }
    node { name: 'n' op: 'NoOp' }
    versions { producer: 1000 }
    library { } debug_info { files: 'x.py' traces { key: 'z' value { } } }
  )",
                           g);
  INFO(outcome);
  REQUIRE(outcome);
  CHECK(describe(g) == "x = Placeholder() f16[?,2]\n"
                       "t = Two(x) f16[?,2] f16[?,2]\n"
                       "n = NoOp()\n"
                       "z = Add(t:1, t, ^n) f16[?,2]\n");
  CHECK(g.find("z")->device() == "/device:CPU:0?");
  CHECK(g.find("z")->description() == "Add 'z' (GraphDef)");
}

TEST_CASE("tensors of a GraphDef are read from values, of which the last repeats, and from bytes") {
  CHECK(value_of("dtype: DT_FLOAT float_val: 1 float_val: 2 tensor_shape { dim { size: 4 } }") ==
        "f32[4] {1, 2, 2, 2}");
  CHECK(value_of("dtype: DT_FLOAT tensor_shape { dim { size: 2 } }") == "f32[2] {0, 0}");
  CHECK(value_of("dtype: DT_DOUBLE double_val: 0.5") == "f64[] {0.5}");
  CHECK(value_of("dtype: DT_HALF half_val: 15360") == "f16[] {1}");
  CHECK(value_of("dtype: DT_BFLOAT16 half_val: 16256") == "bf16[] {1}");
  CHECK(value_of("dtype: DT_QUINT8 int_val: 255") == "u8[] {255}");
  CHECK(value_of("dtype: DT_INT8 int_val: -128") == "i8[] {-128}");
  CHECK(value_of("dtype: DT_UINT16 int_val: 65535") == "u16[] {65535}");
  CHECK(value_of("dtype: DT_QINT16 int_val: -7") == "i16[] {-7}");
  CHECK(value_of("dtype: DT_INT32_REF int_val: 7") == "i32[] {7}");
  CHECK(value_of("dtype: DT_UINT32 uint32_val: 4294967295") == "u32[] {4294967295}");
  CHECK(value_of("dtype: DT_INT64 int64_val: -9") == "i64[] {-9}");
  CHECK(value_of("dtype: DT_UINT64 uint64_val: 18446744073709551615") ==
        "u64[] {18446744073709551615}");
  CHECK(value_of("dtype: DT_BOOL bool_val: true") == "bool[] {true}");
  CHECK(value_of("dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3, 4] tensor_shape { dim { size: 3 } }")
            .starts_with("c64[3] {"));
  CHECK(value_of(
            "dtype: DT_STRING string_val: 'a' string_val: 'b' tensor_shape { dim { size: 3 } }") ==
        R"(string[3] {"a", "b", "b"})");
  CHECK(value_of(R"(dtype: DT_INT32 tensor_content: "\001\000\000\000\377\377\377\377"
                    tensor_shape { dim { size: 2 } })") == "i32[2] {1, -1}");
  CHECK(value_of(R"(dtype: DT_STRING tensor_content: "\001\002abc"
                    tensor_shape { dim { size: 2 } })") == R"(string[2] {"a", "bc"})");
  CHECK(value_of(R"(dtype: DT_BOOL tensor_content: "\000\002" tensor_shape { dim { size: 2 } })") ==
        "bool[2] {false, true}");
  CHECK(value_of("dtype: DT_FLOAT tensor_shape { dim { size: 0 } dim { size: 3 } }") ==
        "f32[0,3] {}");
}

TEST_CASE("inconsistent tensors of a GraphDef are refused by name") {
  auto refusal = [](std::string_view tensor) { return read_text(constant(tensor)).message(); };
  CHECK(refusal("dtype: DT_INT8 int_val: 128") == "Const 'c' (GraphDef): 128 does not fit i8");
  CHECK_THAT(refusal("dtype: DT_FLOAT float_val: [1, 2]"), Contains("2 values are listed"));
  CHECK_THAT(refusal("dtype: DT_FLOAT tensor_content: 'abc'"), Contains("has 3 bytes"));
  CHECK_THAT(refusal("dtype: DT_COMPLEX64 scomplex_val: 1"), Contains("not pairs"));
  CHECK_THAT(refusal("dtype: DT_STRING tensor_content: '\\005a'"), Contains("cut off"));
  CHECK_THAT(refusal("dtype: DT_STRING tensor_content: '\\377\\377\\377\\377\\017a'"),
             Contains("cut off"));
  CHECK_THAT(refusal("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"), Contains("-1"));
  CHECK_THAT(refusal("dtype: DT_FLOAT tensor_shape { unknown_rank: true }"), Contains("shape"));
  CHECK_THAT(refusal("dtype: DT_RESOURCE"), Contains("VarHandleOp"));
  CHECK_THAT(refusal("dtype: DT_VARIANT"), Contains("DT_VARIANT"));
  CHECK_THAT(refusal("dtype: 77"), Contains("number 77"));
}

TEST_CASE("a small GraphDef cannot take much memory") {
  graph_def_options little{.filled_bytes = 1 << 20};
  for (auto type : {"DT_FLOAT", "DT_STRING", "DT_COMPLEX128", "DT_INT8", "DT_BOOL"})
    for (auto extents : {"dim { size: 1000000000000 }", "dim { size: 3000000000 }"}) {
      auto outcome =
          read_text(constant(concat("dtype: ", type, " tensor_shape { ", extents, " }")), little);
      CHECK(outcome.kind() == error_kind::resource_exhausted);
    }
  auto long_text = concat("string_val: '", std::string(100'000, 'x'), "'");
  CHECK(read_text(constant(concat("dtype: DT_STRING ", long_text,
                                  " tensor_shape { dim { size: 1000 } }")),
                  little)
            .kind() == error_kind::resource_exhausted);
  CHECK_FALSE(read_text(constant("dtype: DT_STRING tensor_content: 'abc' tensor_shape "
                                 "{ dim { size: 1000000000000 } }")));
}

TEST_CASE("all missing ops are reported in one error") {
  auto outcome = read_text("node { name: 'a' op: 'Foo' } node { name: 'b' op: 'Foo' } "
                           "node { name: 'c' op: 'NoOp' } node { name: 'd' op: 'Bar' }");
  CHECK(outcome.kind() == error_kind::unimplemented);
  CHECK(outcome.message() == "GraphDef: no such op: Bar ('d'), Foo (2 nodes, such as 'a')");
}

TEST_CASE("errors in the nodes of a GraphDef are reported by name") {
  auto refusal = [](std::string_view text) { return read_text(text).message(); };
  CHECK(refusal("node { name: 'a' op: 'Two' input: 'bb' } node { name: 'b' op: 'NoOp' }") ==
        "Two 'a' (GraphDef): there is no node 'bb', did you mean 'b'?");
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' } node { name: 'b' op: 'Two' input: 'a:0' }"),
             Contains("Two 'b' (GraphDef): there is no output 'a:0', NoOp 'a' (GraphDef) has 0"));
  CHECK_THAT(refusal("node { name: 'a' op: 'Two' input: 'a:x' }"), Contains("write node, node:1"));
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' } node { name: 'a' op: 'NoOp' }"),
             Contains("the name is used already"));
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' input: '^b' } "
                     "node { name: 'b' op: 'NoOp' input: '^a' }"),
             Contains("its inputs lead back to it"));
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' attr { key: 'mode' value { s: 'FAST' } } }"),
             Contains("there is no attribute 'mode', which the file sets to { s: \"FAST\" }"));
  CHECK(read_text("node { name: 'a' op: 'NoOp' attr { key: 'mode' value { s: '' } } "
                  "attr { key: '_x' value { i: 3 } } attr { key: 'grad_a' value { b: true } } }"));
  CHECK_THAT(refusal("node { name: 'a' op: 'Kinds' attr { key: 'real' value { i: 1 } } }"),
             Contains("attribute real must be of kind float, got integer i: 1"));
  CHECK_THAT(refusal("node { name: 'a' op: 'Kinds' attr { key: 'integers' "
                     "value { list { f: 1 } } } }"),
             Contains("attribute integers must be of kind"));
  CHECK(read_text("node { name: 'a' op: 'Kinds' attr { key: 'reals' value { list { } } } }"));
}

TEST_CASE("damaged GraphDefs are refused as such") {
  graph target{small_registry()};
  auto outcome = read_graph_def(std::as_bytes(std::span{"\x0a\xff\xff\xff\x7f"}), target);
  CHECK(outcome.status().kind() == error_kind::data_loss);
  CHECK_THAT(read_text("node { name: 'a'\n op 'NoOp' }", {.file = "g.pbtxt"}).message(),
             Contains("g.pbtxt:2:"));
  std::string deep = "node { name: 'a' op: 'NoOp' attr { key: 'f' value ";
  for (int i = 0; i < 100'000; ++i)
    deep += "{ func { attr { key: 'f' value ";
  CHECK_FALSE(read_text(deep));
}

TEST_CASE("a field that a message does not have is an error with its position in the text") {
  auto refusal = [](std::string_view text) {
    return read_text(text, {.file = "g.pbtxt"}).message();
  };
  CHECK(refusal("node { name: 'a' op: 'NoOp'\n  devise: '/gpu:0' }") ==
        "g.pbtxt:2:9: NodeDef has no field 'devise', did you mean 'device'?");
  CHECK(refusal("nodes { name: 'w' op: 'NoOp' }") ==
        "g.pbtxt:1:7: GraphDef has no field 'nodes', did you mean 'node'?");
  CHECK(refusal("feature { name: 'age' type: INT }") ==
        "g.pbtxt:1:9: GraphDef has no field 'feature'; it has node, library, version, versions");
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' attr { key: 'T' value { typ: DT_FLOAT } } }"),
             Contains("AttrValue has no field 'typ', did you mean 'type'?"));
  CHECK_THAT(refusal("library { function { signature { nam: 'f' } } }"),
             Contains("OpDef has no field 'nam'"));
  CHECK_THAT(refusal("saved_model_schema_version: 1 meta_graphs { graph_deff { } }"),
             Contains("MetaGraphDef has no field 'graph_deff'"));
}

TEST_CASE("fields of TensorFlow that Troupe does not use are skipped in a text") {
  CHECK(read_text(R"(
    node { name: 'a' op: 'NoOp' experimental_debug_info { original_node_names: 'b' }
           experimental_type { type_id: TFT_PRODUCT args { type_id: TFT_TENSOR } } }
    library {
      function {
        signature { name: 'f' is_commutative: true deprecation { version: 3 explanation: 'old' }
                    input_arg { name: 'x' type: DT_FLOAT handle_data { dtype: DT_HALF } } }
        arg_attr { key: 0 value { attr { key: '_user_specified_name' value { s: 'x' } } } }
        resource_arg_unique_id { key: 1 value: 2 }
      }
      registered_gradients { gradient_func: 'g' registered_op_type: 'f' }
    }
    versions { producer: 1000 }
  )"));
}

TEST_CASE("the graph of a MetaGraphDef and of a SavedModel is read, as bytes and as text") {
  const std::string graph_text = "graph_def { node { name: 'a' op: 'NoOp' } }";
  const auto meta = concat("meta_info_def { tags: 'serve' stripped_op_list { op { name: 'NoOp' } } "
                           "any_info { [type.googleapis.com/tensorflow.Any] { x: 1 } } } ",
                           graph_text);
  for (const auto& text :
       {meta, graph_text, concat("saved_model_schema_version: 1 meta_graphs {", meta, '}'),
        concat("# as people have them\n meta_graphs { meta_info_def { tags: 'train' } } "
               "meta_graphs {",
               meta, '}')}) {
    graph target{small_registry()};
    auto outcome = read_text(text, target);
    INFO(outcome);
    CHECK(outcome);
    CHECK(target.find("a"));
  }
  // In bytes, field 1 is the message before the graph and field 2 the graph; in a SavedModel field
  // 1 is a number.
  const std::string node = "\x0a\x09\x0a\x01"
                           "a\x12\x04NoOp",
                    info = "\x0a\x0a\x12\x01\x0a"
                           "2\x05serve",
                    meta_bytes = info + "\x12\x0b" + node,
                    saved = std::string{"\x08\x01\x12"} + static_cast<char>(meta_bytes.size()) +
                            meta_bytes;
  for (const auto& bytes : {node, meta_bytes, saved}) {
    graph target{small_registry()};
    auto outcome = read_graph_def(std::as_bytes(std::span{bytes}), target).status();
    INFO(outcome);
    CHECK(outcome);
    CHECK(target.find("a"));
  }
}

TEST_CASE("a file of another kind is refused as a graph, naming its kind") {
  auto refusal = [](std::string bytes) {
    graph target{small_registry()};
    auto outcome =
        read_graph_def(std::as_bytes(std::span{bytes}), target, {.file = "model"}).status();
    CHECK(outcome.kind() == error_kind::invalid_argument);
    return outcome.message();
  };
  CHECK_THAT(refusal(std::string{"\xff\xff\x57\xfb\x80\x8b\x24\x75\x47\xdb"}),
             Contains("model: this is not a GraphDef: it is a checkpoint") && Contains(".meta"));
  CHECK_THAT(refusal("\x89HDF\r\n\x1a\n rest"), Contains("HDF5") && Contains("SavedModel"));
  CHECK_THAT(refusal("PK\x03\x04 rest"), Contains("zip archive"));
  CHECK_THAT(refusal("node { name: 'a' op: 'NoOp' }"), Contains("text") && Contains(".pbtxt"));
}

TEST_CASE("devices in a GraphDef are preferred devices, and the local process is not named") {
  graph g{small_registry()};
  g.push_device("/job:worker/task:1");
  REQUIRE(read_text(R"(
    node { name: 'a' op: 'NoOp' device: '/job:localhost/replica:0/task:0/device:CPU:0' }
    node { name: 'b' op: 'NoOp' device: '/job:ps/replica:0/task:2/device:GPU:0' }
    node { name: 'c' op: 'NoOp' device: '/job:localhost/replica:0/task:0' }
  )",
                    g));
  CHECK(g.find("a")->device() == "/job:worker/task:1/device:CPU:0?");
  CHECK(g.find("b")->device() == "/job:ps?/replica:0?/task:2?/device:GPU:0?");
  CHECK(g.find("c")->device() == "/job:worker/task:1");
  auto written = write_graph_def(g, graph_def_format::text);
  REQUIRE(written);
  CHECK_THAT(*written, Contains("\"/job:ps/replica:0/task:2/device:GPU:0\""));
  CHECK(written->find('?') == std::string::npos);
}

TEST_CASE("a GraphDef that is a long chain needs no long stack") {
  std::string text;
  constexpr int length = 50'000;
  for (int i = length; i > 0; --i)
    text += concat("node { name: 'n", i, "' op: 'NoOp' input: '^n", i - 1, "' }\n");
  text += "node { name: 'n0' op: 'NoOp' }";
  graph target{small_registry()};
  REQUIRE(read_text(text, target));
  CHECK(target.nodes().size() == length + 1);
}

TEST_CASE("a GraphDef is read into the scope and onto the device of the graph") {
  graph g{small_registry()};
  g.push_scope("old");
  g.push_device("/cpu:1");
  auto read = read_graph_def_text("node { name: 'a' op: 'NoOp' } "
                                  "node { name: 'x' op: 'Placeholder' input: '^a' "
                                  "attr { key: 'dtype' value { type: DT_FLOAT } } }",
                                  g);
  REQUIRE(read);
  g.pop_scope();
  CHECK(g.find("old/x")->controls()[0]->name() == "old/a");
  CHECK(g.find("old/x")->device() == "/cpu:1");
  CHECK((*read->find_edge("x")).name() == "old/x");
  CHECK(read->find("a") == g.find("old/a"));
  CHECK(read->find("b") == nullptr);
}

TEST_CASE("all kinds of attributes and values survive a GraphDef") {
  constexpr std::string_view text = R"(
    x = Placeholder dtype=f32 shape=[-1,2] @"/job:ps/task:1"
    c = f32{60,50}[3]
    y = Add(x, f32[1, 2], ^c) @"/cpu:0"
    t = Two(y)
    z = Add(t:1, t)
    s = string[["a", ""]]
    e = f32{0,3}[]
    h = f16(0.5)
    b = bf16{3}[2]
    i = u8[1, 255]
    j = i16{2}[-7]
    n = c64{2}[[1, -2]]
    m = c128[[1, -2], 3]
    p = bool[true, false]
    q = u64{2}[18446744073709551615]
    k = Kinds(^z) boolean=true integer=-3 real=-inf text="a\x00" type=i64 shape=? integers=[1] reals=[0.5]
    l = Kinds texts=["", "b"] types=[f32, string] shapes=[[1,-1], ?, []] shape=[]
  )";
  graph from{small_registry()};
  REQUIRE(parse_text_graph(text, "case.txt", from).status());
  for (auto format : {graph_def_format::binary, graph_def_format::text}) {
    graph to{small_registry()};
    auto written = write_graph_def(from, format);
    REQUIRE(written);
    CHECK(written->size() < 10000); // equal values are written once
    auto outcome = format == graph_def_format::binary
                       ? read_graph_def(std::as_bytes(std::span{*written}), to)
                       : read_graph_def_text(*written, to);
    INFO(outcome.status() << '\n' << (format == graph_def_format::text ? *written : ""));
    REQUIRE(outcome);
    CHECK(describe(to) == describe(from));
    for (const auto& at : from.nodes()) {
      CHECK(to.find(at->name())->attrs() == at->attrs());
      CHECK(plain_device(to.find(at->name())->device()) == at->device());
    }
    CHECK(*write_graph_def(to, format) == *written);
  }
}

} // namespace
} // namespace troupe::test::graph_def_test
