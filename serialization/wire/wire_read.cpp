// Decodes graphs of peers and files, which are untrusted: every field is checked.
#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/wire/capnp_text.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/graph_header.hpp"
#include "troupe/serialization/wire/input_order.hpp"
#include "troupe/serialization/wire/origin.hpp"
#include "troupe/serialization/wire/payload.hpp"
#include "troupe/serialization/wire/wire.capnp.h"
#include "troupe/serialization/wire/wire.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

namespace troupe {
namespace {

template <class... Ts>
status damaged_graph(const Ts&... parts) {
  return failure(error_kind::data_loss, "damaged graph: ", parts...);
}

template <class T>
std::vector<T> numbers_of(typename capnp::List<T>::Reader list) {
  std::vector<T> values;
  for (auto value : list)
    values.push_back(value);
  return values;
}

result<dtype> type_of(uint8_t number) {
  if (number >= dtype_count)
    return damaged_graph("there is no element type ", int{number});
  return static_cast<dtype>(number);
}

// The maximum nesting of functions, which bounds the stack of the reader.
constexpr int max_depth = 64;

status read_graph(std::span<const std::byte> bytes, graph& target, int depth);

class graph_reader {
public:
  graph_reader(wire::Graph::Reader from, std::span<const std::byte> payloads, graph& target,
               int depth)
      : nodes_(from.getNodes()), sizes_(from.getPayloads()), unread_(payloads), target_(target),
        depth_(depth) {}

  status read() {
    TROUPE_TRY(find_payloads());
    TROUPE_ASSIGN(auto order, sort_nodes());
    added_.resize(nodes_.size());
    for (auto position : order) {
      auto added = add(nodes_[position]);
      if (!added)
        return added.status();
      added_[position] = *added;
    }
    return {};
  }

private:
  status find_payloads() {
    for (auto size : sizes_) {
      if (size > unread_.size())
        return damaged_graph("a payload of ", size, " bytes is cut off");
      payloads_.push_back(unread_.first(static_cast<size_t>(size)));
      auto padded = (size + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
      unread_ = unread_.subspan(static_cast<size_t>(std::min<uint64_t>(padded, unread_.size())));
    }
    used_.resize(payloads_.size());
    return unread_.empty() ? status{}
                           : damaged_graph(unread_.size(), " bytes follow the last payload");
  }

  std::string description(uint32_t position) const {
    auto described = nodes_[position];
    return concat(text_of(described.getOp()), " '", text_of(described.getName()), "' (",
                  text_of(described.getOrigin()), ')');
  }

  // Reads each node once: Cap'n Proto counts the reads, which bounds a hostile message.
  result<std::vector<std::vector<uint32_t>>> predecessors() const {
    std::vector<std::vector<uint32_t>> inputs_of_nodes(nodes_.size());
    for (uint32_t position = 0; position < nodes_.size(); ++position) {
      for (auto input : nodes_[position].getInputs())
        inputs_of_nodes[position].push_back(input.getNode());
      for (auto control : nodes_[position].getControls())
        inputs_of_nodes[position].push_back(control);
      for (auto input_position : inputs_of_nodes[position])
        if (input_position >= nodes_.size())
          return damaged_graph(description(position), ": there is no node number ", input_position);
    }
    return inputs_of_nodes;
  }

  // Orders every node after its inputs and controls.
  result<std::vector<uint32_t>> sort_nodes() const {
    TROUPE_ASSIGN(auto inputs_of_nodes, predecessors());
    return order_after_inputs(inputs_of_nodes,
                              [this](uint32_t position) { return description(position); });
  }

  result<node*> add(wire::Node::Reader from) {
    node_spec spec;
    spec.op = text_of(from.getOp());
    spec.name = text_of(from.getName());
    spec.device = text_of(from.getDevice());
    auto with_node = [&](status reason) {
      return std::move(reason).with_context(
          concat(spec.op, " '", spec.name, "' (", text_of(from.getOrigin()), ')'));
    };
    for (auto input : from.getInputs()) {
      auto* producer = added_[input.getNode()];
      if (input.getOutput() >= static_cast<uint32_t>(producer->outputs()))
        return with_node(invalid(producer->description(), " has no output ", input.getOutput()));
      spec.inputs.push_back(producer->output(static_cast<int>(input.getOutput())));
    }
    for (auto control : from.getControls())
      spec.controls.push_back(added_[control]);
    for (auto attr : from.getAttrs()) {
      auto value = read(attr);
      if (!value)
        return with_node(value.status());
      if (!spec.attrs.emplace(text_of(attr.getName()), *std::move(value)).second)
        return with_node(damaged_graph("attribute ", text_of(attr.getName()), " is given twice"));
    }
    return add_with_origin(target_, std::move(spec), text_of(from.getOrigin()));
  }

  result<attr_value> read(wire::Attr::Reader from) {
    switch (from.which()) {
      case wire::Attr::BOOLEAN: return attr_value{from.getBoolean()};
      case wire::Attr::INTEGER: return attr_value{from.getInteger()};
      case wire::Attr::REAL: return attr_value{from.getReal()};
      case wire::Attr::TEXT: return attr_value{text_of(from.getText())};
      case wire::Attr::TYPE: {
        TROUPE_ASSIGN(auto type, type_of(from.getType()));
        return attr_value{type};
      }
      case wire::Attr::SHAPE: {
        TROUPE_ASSIGN(auto dims, read(from.getShape()));
        return attr_value{std::move(dims)};
      }
      case wire::Attr::TENSOR: {
        TROUPE_ASSIGN(auto value, read(from.getTensor()));
        return attr_value{std::move(value)};
      }
      case wire::Attr::INTEGERS: return attr_value{numbers_of<int64_t>(from.getIntegers())};
      case wire::Attr::REALS: return attr_value{numbers_of<double>(from.getReals())};
      case wire::Attr::TEXTS: {
        std::vector<std::string> values;
        for (auto item : from.getTexts())
          values.push_back(text_of(item));
        return attr_value{std::move(values)};
      }
      case wire::Attr::TYPES: {
        std::vector<dtype> values;
        for (auto item : from.getTypes()) {
          TROUPE_ASSIGN(auto type, type_of(item));
          values.push_back(type);
        }
        return attr_value{std::move(values)};
      }
      case wire::Attr::SHAPES: {
        std::vector<partial_shape> values;
        for (auto item : from.getShapes()) {
          TROUPE_ASSIGN(auto dims, read(item));
          values.push_back(std::move(dims));
        }
        return attr_value{std::move(values)};
      }
      case wire::Attr::FUNCTION: {
        TROUPE_ASSIGN(auto value, read(from.getFunction()));
        return attr_value{std::move(value)};
      }
      case wire::Attr::FUNCTIONS: {
        std::vector<function_value> values;
        for (auto item : from.getFunctions()) {
          TROUPE_ASSIGN(auto value, read(item));
          values.push_back(std::move(value));
        }
        return attr_value{std::move(values)};
      }
    }
    return damaged_graph("attribute ", text_of(from.getName()), " is of unknown kind");
  }

  result<function_value> read(wire::Function::Reader from) {
    function_value value{text_of(from.getName()), {}};
    TROUPE_ASSIGN(auto bytes, read(from.getBody()));
    if (bytes.empty())
      return value;
    if (bytes.type() != dtype::u8)
      return damaged_graph("function '", value.name, "' is of type ", bytes.type());
    if (depth_ == max_depth)
      return damaged_graph("functions are nested more than ", max_depth, " deep");
    auto body = std::make_unique<graph>(target_.ops());
    TROUPE_TRY(read_graph(bytes_of(bytes), *body, depth_ + 1)
                   .with_context(concat("function '", value.name, "'")));
    std::vector<int> handed_on;
    for (auto output : from.getHandedOn())
      handed_on.push_back(output);
    TROUPE_ASSIGN(value.body, function::make(value.name, std::move(body), std::move(handed_on)));
    return value;
  }

  static result<partial_shape> read(wire::PartialShape::Reader from) {
    if (!from.getKnown())
      return partial_shape::unknown();
    auto list = from.getExtents();
    if (list.size() > static_cast<unsigned>(max_rank))
      return damaged_graph("a shape has ", list.size(), " axes");
    return partial_shape::make(numbers_of<int64_t>(list));
  }

  result<tensor> read(wire::Tensor::Reader from) {
    if (from.isNothing())
      return tensor{};
    auto list = from.getShape();
    if (list.size() > static_cast<unsigned>(max_rank))
      return damaged_graph("a tensor has ", list.size(), " axes");
    auto extents = numbers_of<int64_t>(list);
    std::span<const std::byte> bytes;
    if (from.isInlined()) {
      auto data = from.getInlined();
      bytes = {reinterpret_cast<const std::byte*>(data.begin()), data.size()};
    } else if (from.isOutside() && from.getOutside() < payloads_.size() &&
               !used_[from.getOutside()]) {
      used_[from.getOutside()] = true;
      bytes = payloads_[from.getOutside()];
    } else {
      return damaged_graph("a tensor has no payload");
    }
    // TODO(perf): large payloads could stay where they are.
    TROUPE_ASSIGN(auto payload, bytes_to_tensor(bytes));
    return from_payload(from.getType(), extents, payload);
  }

  capnp::List<wire::Node>::Reader nodes_;
  capnp::List<uint64_t>::Reader sizes_;
  std::span<const std::byte> unread_;
  graph& target_;
  const int depth_;
  std::vector<std::span<const std::byte>> payloads_;
  std::vector<bool> used_;
  std::vector<node*> added_;
};

status read_graph(std::span<const std::byte> bytes, graph& target, int depth) {
  uint32_t magic = 0, version = 0;
  uint64_t structure = 0, checksum = 0;
  if (bytes.size() < graph_header_bytes)
    return damaged_graph("it has only ", bytes.size(), " bytes");
  std::memcpy(&magic, bytes.data(), 4);
  std::memcpy(&version, bytes.data() + 4, 4);
  std::memcpy(&structure, bytes.data() + 8, 8);
  std::memcpy(&checksum, bytes.data() + 16, 8);
  if (magic != graph_magic)
    return damaged_graph("it does not begin with TRPG");
  if (version != graph_version)
    return failure(error_kind::failed_precondition, "a graph of version ", version,
                   " was written by a newer Troupe");
  bytes = bytes.subspan(graph_header_bytes);
  if (structure > bytes.size() || structure % sizeof(capnp::word) != 0)
    return damaged_graph("its structure of ", structure, " bytes is cut off");
  if (checksum != checksum_of(bytes))
    return damaged_graph("its checksum differs");
  auto words_count = static_cast<size_t>(structure) / sizeof(capnp::word);
  auto words = kj::heapArray<capnp::word>(words_count); // aligned, unlike the bytes
  if (words.size() > 0)
    std::memcpy(static_cast<void*>(words.begin()), bytes.data(), static_cast<size_t>(structure));
  auto payloads = payload_offset(graph_header_bytes + structure) - graph_header_bytes;
  bytes = bytes.subspan(static_cast<size_t>(std::min<uint64_t>(payloads, bytes.size())));

  capnp::ReaderOptions limits;
  // A node is read a few times. The limit prevents pointers to shared bytes from multiplying them.
  limits.traversalLimitInWords = 8 * words.size() + 1024;
  limits.nestingLimit = 16;
  try {
    capnp::FlatArrayMessageReader reader{words, limits};
    return graph_reader{reader.getRoot<wire::Graph>(), bytes, target, depth}.read();
  } catch (const kj::Exception& thrown) {
    return damaged_graph(thrown.getDescription().cStr());
  }
}

} // namespace

status read_graph(std::span<const std::byte> bytes, graph& target) {
  return read_graph(bytes, target, 0);
}

} // namespace troupe
