#include "troupe/serialization/wire/wire.hpp"

#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/graph_header.hpp"
#include "troupe/serialization/wire/origin.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <unordered_map>

namespace troupe {
namespace {

constexpr size_t inline_payload = 4096;

// ---- writing

class attr_writer {
public:
  attr_writer(wire::Attr::Builder to, std::vector<tensor>& payloads)
      : to_(to), payloads_(payloads) {}

  status operator()(bool value) { return to_.setBoolean(value), status{}; }
  status operator()(int64_t value) { return to_.setInteger(value), status{}; }
  status operator()(double value) { return to_.setReal(value), status{}; }
  status operator()(const std::string& value) { return to_.setText(as_data(value)), status{}; }
  status operator()(dtype value) { return to_.setType(static_cast<uint8_t>(value)), status{}; }
  status operator()(const partial_shape& value) { return write(to_.initShape(), value), status{}; }
  status operator()(const std::vector<int64_t>& values) {
    return numbers(to_.initIntegers(size(values)), values);
  }
  status operator()(const std::vector<double>& values) {
    return numbers(to_.initReals(size(values)), values);
  }
  status operator()(const std::vector<std::string>& values) {
    auto list = to_.initTexts(size(values));
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, as_data(values[i]));
    return {};
  }
  status operator()(const std::vector<dtype>& values) {
    auto list = to_.initTypes(size(values));
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, static_cast<uint8_t>(values[i]));
    return {};
  }
  status operator()(const std::vector<partial_shape>& values) {
    auto list = to_.initShapes(size(values));
    for (unsigned i = 0; i < list.size(); ++i)
      write(list[i], values[i]);
    return {};
  }
  status operator()(const function_value& value) { return write(to_.initFunction(), value); }
  status operator()(const std::vector<function_value>& values) {
    auto list = to_.initFunctions(size(values));
    for (unsigned i = 0; i < list.size(); ++i)
      TROUPE_TRY(write(list[i], values[i]));
    return {};
  }
  status operator()(const tensor& value) { return write(to_.initTensor(), value); }

private:
  status write(wire::Function::Builder to, const function_value& value) {
    to.setName(as_text(value.name));
    if (!value.body)
      return {};
    TROUPE_ASSIGN(auto body, write_graph(value.body->body()));
    TROUPE_TRY(write(to.initBody(), body));
    return numbers(to.initHandedOn(size(value.body->passed_through())),
                   value.body->passed_through());
  }
  status write(wire::Tensor::Builder to, const tensor& value) {
    if (value.empty())
      return {};
    to.setType(static_cast<uint8_t>(value.type()));
    auto dims = to.initShape(static_cast<unsigned>(value.rank()));
    for (int axis = 0; axis < value.rank(); ++axis)
      dims.set(static_cast<unsigned>(axis), value.dims()[axis]);
    TROUPE_ASSIGN(auto payload, to_payload(value));
    if (payload.bytes() > inline_payload) {
      to.setOutside(static_cast<uint32_t>(payloads_.size()));
      payloads_.push_back(std::move(payload));
    } else {
      auto bytes = bytes_of(payload);
      to.setInlined({reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
    }
    return {};
  }
  template <class T>
  static unsigned size(const std::vector<T>& values) {
    return static_cast<unsigned>(values.size());
  }
  template <class List, class T>
  static status numbers(List to, const std::vector<T>& values) {
    for (unsigned i = 0; i < to.size(); ++i)
      to.set(i, values[i]);
    return {};
  }
  static void write(wire::PartialShape::Builder to, const partial_shape& dims) {
    to.setKnown(dims.has_rank());
    auto extents = to.initExtents(static_cast<unsigned>(dims.extents().size()));
    for (unsigned axis = 0; axis < extents.size(); ++axis)
      extents.set(axis, dims.extents()[axis]);
  }

  wire::Attr::Builder to_;
  std::vector<tensor>& payloads_;
};

class graph_writer {
public:
  explicit graph_writer(std::span<node* const> nodes) : nodes_(nodes) {}

  result<tensor> write() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      positions_.emplace(nodes_[i], static_cast<uint32_t>(i));
    auto root = message_.initRoot<wire::Graph>();
    auto list = root.initNodes(static_cast<unsigned>(nodes_.size()));
    for (unsigned i = 0; i < list.size(); ++i)
      TROUPE_TRY(write(list[i], *nodes_[i]));
    auto sizes = root.initPayloads(static_cast<unsigned>(payloads_.size()));
    for (unsigned i = 0; i < sizes.size(); ++i)
      sizes.set(i, payloads_[i].bytes());
    return join();
  }

private:
  status write(wire::Node::Builder to, const node& from) {
    std::string name;
    to.setOp(as_text(from.op().name, name));
    to.setName(as_text(from.name()));
    to.setDevice(as_text(from.device()));
    to.setOrigin(as_text(origin_of(from), name));
    auto inputs = to.initInputs(static_cast<unsigned>(from.inputs().size()));
    for (unsigned i = 0; i < inputs.size(); ++i) {
      TROUPE_ASSIGN(auto position, position_of(from.inputs()[i].node, from));
      inputs[i].setNode(position);
      inputs[i].setOutput(static_cast<uint32_t>(from.inputs()[i].index));
    }
    auto controls = to.initControls(static_cast<unsigned>(from.controls().size()));
    for (unsigned i = 0; i < controls.size(); ++i) {
      TROUPE_ASSIGN(auto position, position_of(from.controls()[i], from));
      controls.set(i, position);
    }
    auto attrs = to.initAttrs(static_cast<unsigned>(from.attrs().size()));
    unsigned i = 0;
    for (const auto& [key, value] : from.attrs()) {
      auto attr = attrs[i++];
      attr.setName(as_text(key));
      TROUPE_TRY(
          std::visit(attr_writer{attr, payloads_}, value.get()).with_context(from.description()));
    }
    return {};
  }

  result<uint32_t> position_of(const node* input, const node& user) const {
    auto entry = positions_.find(input);
    if (entry == positions_.end())
      return invalid(user.description(), ": the input ", input ? input->description() : "(nothing)",
                     " is not among the nodes to write");
    return entry->second;
  }

  result<tensor> join() {
    auto structure = capnp::computeSerializedSizeInWords(message_) * sizeof(capnp::word);
    auto total = payload_offset(graph_header_bytes + structure);
    for (const auto& payload : payloads_)
      total += payload_offset(payload.bytes());
    TROUPE_ASSIGN(auto written, tensor::make(dtype::u8, shape{static_cast<int64_t>(total)}));
    auto* to = static_cast<std::byte*>(written.raw());
    std::memset(to, 0, payload_offset(graph_header_bytes + structure));
    kj::ArrayOutputStream out{{reinterpret_cast<kj::byte*>(to) + graph_header_bytes, structure}};
    capnp::writeMessage(out, message_);
    auto offset = payload_offset(graph_header_bytes + structure);
    for (const auto& payload : payloads_) {
      auto end = payload_offset(payload.bytes());
      std::memcpy(to + offset, payload.raw(), payload.bytes());
      std::memset(to + offset + payload.bytes(), 0, end - payload.bytes());
      offset += end;
    }
    auto checksum = checksum_of(bytes_of(written).subspan(graph_header_bytes));
    uint64_t structure_bytes = structure;
    std::memcpy(to, &graph_magic, 4);
    std::memcpy(to + 4, &graph_version, 4);
    std::memcpy(to + 8, &structure_bytes, 8);
    std::memcpy(to + 16, &checksum, 8);
    return written;
  }

  std::span<node* const> nodes_;
  std::unordered_map<const node*, uint32_t> positions_;
  std::vector<tensor> payloads_;
  capnp::MallocMessageBuilder message_;
};

} // namespace

result<tensor> write_graph(std::span<node* const> nodes) {
  try {
    return graph_writer{nodes}.write();
  } catch (const kj::Exception& thrown) { // the graph exceeds a limit of the format
    return failure(error_kind::resource_exhausted,
                   "writing a graph: ", thrown.getDescription().cStr());
  }
}

result<tensor> write_graph(const graph& source) {
  std::vector<node*> nodes;
  for (const auto& owned : source.nodes())
    nodes.push_back(owned.get());
  return write_graph(nodes);
}

} // namespace troupe
