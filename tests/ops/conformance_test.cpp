// The promises that every registered op makes.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/text/close_to.hpp"
#include "troupe/serialization/text/text_graph.hpp"
#include "troupe/serialization/wire/wire.hpp"

#include <algorithm>
#include <sstream>

namespace troupe::test::conformance_test {

namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

failure_list check_definition(const op_def& op) {
  failure_list errors;
  auto first = op.doc.substr(0, op.doc.find("\n\n"));
  if (first.empty() || !is_letter(first.front()) || first.back() != '.')
    errors.push_back(concat("its doc must begin with a sentence, got '", first, "'"));
  if (!op.infer)
    errors.push_back("has no shape function");
  if (op.gradient && !op.no_gradient.empty())
    errors.push_back("has a gradient, and a reason why it has none");
  if (!op.gradient && op.no_gradient.empty())
    errors.push_back("has no gradient, and no reason for that");
  if (op.example.empty())
    errors.push_back("has no example");
  for (const auto* ports : {&op.inputs, &op.outputs})
    for (const auto& port : *ports)
      if (port.name.empty())
        errors.push_back("a port has no name");
  return errors;
}

// The runtime passes these to an actor, or gives them their value itself.
bool runs_without_kernel(const op_def& op) {
  return has(op.effects, effect::blocking) || has(op.effects, effect::must_be_fed) ||
         op.make_waitable_resource || op.calls != call_kind::never;
}

failure_list check_kernel(const op_def& op) {
  failure_list errors;
  auto* kernel = library().find_kernel(op.name, device_kind::cpu);
  if (!kernel) {
    if (!runs_without_kernel(op))
      errors.push_back("has no kernel for the CPU");
    return errors;
  }
  auto* key = op.find_attr(kernel->key);
  auto accepts_any_type = std::ranges::any_of(
      kernel->run, [](auto& kernel_entry) { return kernel_entry.type == dtype::none; });
  if (accepts_any_type)
    return errors;
  if (!key || key->kind != attr_kind::type) {
    errors.push_back(
        concat("its kernel is chosen by '", kernel->key, "', which is no type attribute"));
    return errors;
  }
  for (int i = 1; i < dtype_count; ++i) {
    auto type = static_cast<dtype>(i);
    auto has_kernel =
        std::ranges::find(kernel->run, type, &typed_kernel::type) != kernel->run.end();
    if (key->allowed.contains(type) != has_kernel)
      errors.push_back(concat(type, has_kernel ? " has a kernel, but is not allowed"
                                               : " is allowed, but has no kernel"));
  }
  return errors;
}

failure_list check_example(const op_def& op, placeholders shapes) {
  if (needs_runtime(library(), op))
    return {};
  return run_example(library(), op, small_device(), shapes).failures;
}

// Runs the sample with each type that the attribute allows.
void check_types(const op_sample& sample, const attr_def& attr, failure_list& errors) {
  auto is_list = [](const tensor& input) { return input.type() == dtype::variant; };
  if (std::ranges::any_of(sample.inputs, is_list))
    return; // its items have types, too
  std::optional<std::vector<tensor>> expected;
  for (auto type : {dtype::f64, dtype::f32, dtype::f16, dtype::bf16, dtype::boolean, dtype::u8,
                    dtype::u16, dtype::u32, dtype::u64, dtype::i8, dtype::i16, dtype::i32,
                    dtype::i64, dtype::c64, dtype::c128, dtype::string}) {
    if (!attr.allowed.contains(type))
      continue;
    auto complain = [&](const auto&... parts) {
      errors.push_back(concat("with ", attr.name, '=', type, ": ", parts...));
    };
    auto built = rebuild(library(), with_type(sample, attr.name, type), true);
    if (!built) {
      complain(built.status());
      continue;
    }
    auto outputs = run(*built, small_device());
    if (!outputs) {
      complain(outputs.status());
      continue;
    }
    if (!floating.contains(type) || has(sample.op->effects, effect::random))
      continue;
    if (!expected)
      expected = *outputs;
    for (size_t i = 0; i < outputs->size(); ++i)
      if (std::string reason;
          floating.contains((*outputs)[i].type()) &&
          !close_to(converted((*outputs)[i], dtype::f64),
                    converted(converted((*expected)[i], (*outputs)[i].type()), dtype::f64), 0.05,
                    &reason))
        complain("differs from ", (*expected)[i].type(), ": ", reason);
  }
}

// Describes everything about a node.
std::string all_about(const node& at, std::string_view device) {
  std::ostringstream out;
  out << at.name() << " = " << at.op().name << '(';
  for (const auto& input : at.inputs())
    out << input << ", ";
  for (auto* predecessor : at.controls())
    out << '^' << predecessor->name() << ", ";
  out << ") @" << device << " {";
  for (const auto& [name, value] : at.attrs())
    out << name << '=' << value << ", ";
  out << "} ->";
  for (int i = 0; i < at.outputs(); ++i)
    out << ' ' << at.output_type(i) << at.output_shape(i);
  return std::move(out).str();
}

status copy_by_wire(const graph& from, graph& to) {
  TROUPE_ASSIGN(auto bytes, write_graph(from));
  return read_graph(std::as_bytes(bytes.values<uint8_t>()), to);
}

status copy_by_graph_def(const graph& from, graph& to) {
  TROUPE_ASSIGN(auto bytes, write_graph_def(from));
  return read_graph_def(std::as_bytes(std::span{bytes}), to).status();
}

status copy_by_graph_def_text(const graph& from, graph& to) {
  TROUPE_ASSIGN(auto text, write_graph_def(from, graph_def_format::text));
  return read_graph_def_text(text, to).status();
}

failure_list check_serialization(const op_def& op, status (*copy_to)(const graph&, graph&)) {
  graph written{library()}, read{library()};
  if (auto parsed = parse_text_graph(op.example, op.name, written); !parsed)
    return {parsed.status().message()};
  if (auto outcome = copy_to(written, read); !outcome)
    return {outcome.message()};
  failure_list errors;
  for (const auto& at : written.nodes()) {
    auto* copy = read.find(at->name());
    if (!copy)
      errors.push_back(concat("'", at->name(), "' is gone"));
    else {
      // A node read from a GraphDef prefers its device, and does not require it.
      auto device = copy->device() == at->device() + '?' ? at->device() : copy->device();
      auto expected = all_about(*at, at->device()), actual = all_about(*copy, device);
      if (actual != expected)
        errors.push_back(concat("'", expected, "' became '", actual, "'"));
    }
  }
  return errors;
}

} // namespace

TEST_CASE("every op has a definition that is complete") { check_every_op(check_definition); }

TEST_CASE("every op has CPU kernels for exactly the types that it allows") {
  check_every_op(check_kernel);
}

TEST_CASE("every op's example gives the values that it states") {
  check_every_op([](const op_def& op) { return check_example(op, placeholders::as_written); });
}

TEST_CASE(
    "every op's shape function infers full shapes from known inputs, as the kernel makes them") {
  check_every_op([](const op_def& op) { return check_example(op, placeholders::as_fed); },
                 {{"BroadcastGradientArgs", "how many axes depends on the shapes that it is given"},
                  {"CTCBeamSearchDecoder", "how many labels there are depends on the logits"},
                  {"CTCGreedyDecoder", "how many labels there are depends on the logits"},
                  {"ComputeAccidentalHits", "how many hits there are depends on the classes"},
                  {"DecodeBmp", "the shape stands in the file"},
                  {"DecodeGif", "the shape stands in the file"},
                  {"DecodeImage", "the shape stands in the file"},
                  {"DecodeJpeg", "the shape stands in the file"},
                  {"DecodePng", "the shape stands in the file"},
                  {"DecodeRaw", "how many elements depends on how long the strings are"},
                  {"DynamicPartition", "how many rows depends on the values"},
                  {"ListDiff", "how many elements depends on the values"},
                  {"LookupTableExport", "how many pairs depends on the table"},
                  {"LookupTableExportV2", "how many pairs depends on the table"},
                  {"NonMaxSuppression", "how many boxes are chosen depends on their values"},
                  {"NonMaxSuppressionV2", "how many boxes are chosen depends on their values"},
                  {"NonMaxSuppressionV3", "how many boxes are chosen depends on their values"},
                  {"ParseExample", "how many values depends on the examples"},
                  {"ParseExampleV2", "how many values depends on the examples"},
                  {"ParseSingleExample", "how many values depends on the example"},
                  {"ParseTensor", "the shape stands in the bytes"},
                  {"Range", "its example feeds the limit"},
                  {"StackPop", "what was pushed is known when it runs"},
                  {"StackPopV2", "what was pushed is known when it runs"},
                  {"TensorArrayConcat", "how many rows depends on the elements"},
                  {"TensorArrayConcatV2", "how many rows depends on the elements"},
                  {"TensorArrayConcatV3", "how many rows depends on the elements"},
                  {"TensorArrayPack", "how many elements there are depends on the array"},
                  {"TensorListConcat", "how many rows depends on the list"},
                  {"TensorListConcatV2", "how many rows depends on the list"},
                  {"TensorListElementShape", "how many axes depends on the list"},
                  {"TensorListPopBack", "what the item is depends on the list"},
                  {"TensorListPushBackBatch", "how many lists there are is fed"},
                  {"TensorListStack", "how many items there are depends on the list"},
                  {"SparseAdd", "how many elements are there depends on the indices"},
                  {"SparseFillEmptyRows", "how many elements are there depends on the indices"},
                  {"SparseSlice", "how many elements are there depends on the indices"},
                  {"SparseSparseMaximum", "how many elements are there depends on the indices"},
                  {"SparseSparseMinimum", "how many elements are there depends on the indices"},
                  {"SparseSplit", "how many elements are there depends on the indices"},
                  {"StringSplit", "how many pieces depends on the strings"},
                  {"StringSplitV2", "how many pieces depends on the strings"},
                  {"Unique", "how many elements depends on the values"},
                  {"UniqueV2", "how many slices depends on the values"},
                  {"UniqueWithCounts", "how many elements depends on the values"},
                  {"UniqueWithCountsV2", "how many slices depends on the values"},
                  {"Where", "how many elements depends on the values"}});
}

TEST_CASE("every op's shape function agrees with the kernel for unknown inputs") {
  check_every_op([](const op_def& op) { return check_example(op, placeholders::unknown); });
}

TEST_CASE("every op runs with all its types, with the same result") {
  check_every_op(
      [](const op_def& op) {
        failure_list errors;
        if (needs_runtime(library(), op))
          return errors;
        auto shown = run_example(library(), op, small_device(), placeholders::as_written);
        for (const auto& sample : shown.samples)
          for (const auto& attr : op.attrs)
            if (attr.kind == attr_kind::type && errors.empty())
              check_types(sample, attr, errors);
        return errors;
      },
      {{"Bitcast", "its shape depends on the size of both types"},
       {"DecodeRaw", "the same bytes are other numbers in another type"},
       {"DestroyTemporaryVariable", "its variable is of the step"},
       {"ParseTensor", "the bytes are of one type"},
       {"QuantizedRelu", "out_type must be Tinput"},
       {"QuantizedRelu6", "out_type must be Tinput"},
       {"QuantizedReluX", "out_type must be Tinput"},
       {"Range", "the step of its example, 0.5, is none in whole numbers"}});
}

TEST_CASE("every op is the same after serialization, as bytes and as a GraphDef of either form") {
  check_every_op([&](const op_def& op) { return check_serialization(op, copy_by_wire); });
  constexpr auto inlined = "the nodes of a called function are read instead of the call",
                 by_handle = "TensorFlow's functions take variables by handles, not by references";
  for (auto copy : {copy_by_graph_def, copy_by_graph_def_text})
    check_every_op([&](const op_def& op) { return check_serialization(op, copy); },
                   {{"If", by_handle},
                    {"PartitionedCall", inlined},
                    {"StatefulPartitionedCall", inlined},
                    {"StatelessWhile", "what it knows of shapes comes back as output_shapes"},
                    {"While", by_handle}});
}

} // namespace troupe::test::conformance_test
