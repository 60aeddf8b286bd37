// Reads graphs that others wrote: nothing in them is believed.
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
  for (auto each : list)
    values.push_back(each);
  return values;
}

result<dtype> type_of(uint8_t number) {
  if (number >= dtype_count)
    return damaged_graph("there is no element type ", int{number});
  return static_cast<dtype>(number);
}

// How deep functions may lie within functions: reading them takes stack.
constexpr int max_depth = 64;

status read_graph(std::span<const std::byte> bytes, graph& into, int depth);

class graph_reader {
public:
  graph_reader(wire::Graph::Reader from, std::span<const std::byte> payloads, graph& into,
               int depth)
      : nodes_(from.getNodes()), sizes_(from.getPayloads()), rest_(payloads), into_(into),
        depth_(depth) {}

  status read() {
    TROUPE_TRY(find_payloads());
    TROUPE_ASSIGN(auto order, sorted());
    added_.resize(nodes_.size());
    for (auto position : order) {
      auto made = add(nodes_[position]);
      if (!made)
        return made.status();
      added_[position] = *made;
    }
    return {};
  }

private:
  status find_payloads() {
    for (auto size : sizes_) {
      if (size > rest_.size())
        return damaged_graph("a payload of ", size, " bytes is cut off");
      payloads_.push_back(rest_.first(static_cast<size_t>(size)));
      auto padded = (size + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
      rest_ = rest_.subspan(static_cast<size_t>(std::min<uint64_t>(padded, rest_.size())));
    }
    used_.resize(payloads_.size());
    return rest_.empty() ? status{} : damaged_graph(rest_.size(), " bytes follow the last payload");
  }

  std::string description(uint32_t position) const {
    auto of = nodes_[position];
    return concat(text_of(of.getOp()), " '", text_of(of.getName()), "' (", text_of(of.getOrigin()),
                  ')');
  }

  // Read once: Cap'n Proto counts what is read, to limit a hostile sender's multiplication.
  result<std::vector<std::vector<uint32_t>>> predecessors() const {
    std::vector<std::vector<uint32_t>> before(nodes_.size());
    for (uint32_t at = 0; at < nodes_.size(); ++at) {
      for (auto input : nodes_[at].getInputs())
        before[at].push_back(input.getNode());
      for (auto control : nodes_[at].getControls())
        before[at].push_back(control);
      for (auto each : before[at])
        if (each >= nodes_.size())
          return damaged_graph(description(at), ": there is no node number ", each);
    }
    return before;
  }

  // Every node after its inputs and controls.
  result<std::vector<uint32_t>> sorted() const {
    TROUPE_ASSIGN(auto before, predecessors());
    return order_after_inputs(before, [this](uint32_t at) { return description(at); });
  }

  result<node*> add(wire::Node::Reader from) {
    node_spec spec;
    spec.op = text_of(from.getOp());
    spec.name = text_of(from.getName());
    spec.device = text_of(from.getDevice());
    auto about = [&](status why) {
      return std::move(why).within(
          concat(spec.op, " '", spec.name, "' (", text_of(from.getOrigin()), ')'));
    };
    for (auto input : from.getInputs()) {
      auto* producer = added_[input.getNode()];
      if (input.getOutput() >= static_cast<uint32_t>(producer->outputs()))
        return about(invalid(producer->description(), " has no output ", input.getOutput()));
      spec.inputs.push_back(producer->output(static_cast<int>(input.getOutput())));
    }
    for (auto control : from.getControls())
      spec.controls.push_back(added_[control]);
    for (auto attr : from.getAttrs()) {
      auto value = read(attr);
      if (!value)
        return about(value.status());
      if (!spec.attrs.emplace(text_of(attr.getName()), *std::move(value)).second)
        return about(damaged_graph("attribute ", text_of(attr.getName()), " is given twice"));
    }
    return add_with_origin(into_, std::move(spec), text_of(from.getOrigin()));
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
        for (auto each : from.getTexts())
          values.push_back(text_of(each));
        return attr_value{std::move(values)};
      }
      case wire::Attr::TYPES: {
        std::vector<dtype> values;
        for (auto each : from.getTypes()) {
          TROUPE_ASSIGN(auto type, type_of(each));
          values.push_back(type);
        }
        return attr_value{std::move(values)};
      }
      case wire::Attr::SHAPES: {
        std::vector<partial_shape> values;
        for (auto each : from.getShapes()) {
          TROUPE_ASSIGN(auto dims, read(each));
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
        for (auto each : from.getFunctions()) {
          TROUPE_ASSIGN(auto value, read(each));
          values.push_back(std::move(value));
        }
        return attr_value{std::move(values)};
      }
    }
    return damaged_graph("attribute ", text_of(from.getName()), " is of unknown kind");
  }

  result<function_value> read(wire::Function::Reader from) {
    function_value made{text_of(from.getName()), {}};
    TROUPE_ASSIGN(auto bytes, read(from.getBody()));
    if (bytes.empty())
      return made;
    if (bytes.type() != dtype::u8)
      return damaged_graph("function '", made.name, "' is of type ", bytes.type());
    if (depth_ == max_depth)
      return damaged_graph("functions lie more than ", max_depth, " deep within functions");
    auto body = std::make_unique<graph>(into_.ops());
    TROUPE_TRY(read_graph(bytes_of(bytes), *body, depth_ + 1)
                   .within(concat("function '", made.name, "'")));
    std::vector<int> handed_on;
    for (auto each : from.getHandedOn())
      handed_on.push_back(each);
    TROUPE_ASSIGN(made.body, function::make(made.name, std::move(body), std::move(handed_on)));
    return made;
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
  std::span<const std::byte> rest_;
  graph& into_;
  const int depth_;
  std::vector<std::span<const std::byte>> payloads_;
  std::vector<bool> used_;
  std::vector<node*> added_;
};

status read_graph(std::span<const std::byte> bytes, graph& into, int depth) {
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
  auto words = kj::heapArray<capnp::word>(words_count); // aligned, which the bytes need not be
  if (words.size() > 0)
    std::memcpy(static_cast<void*>(words.begin()), bytes.data(), static_cast<size_t>(structure));
  auto payloads = payload_offset(graph_header_bytes + structure) - graph_header_bytes;
  bytes = bytes.subspan(static_cast<size_t>(std::min<uint64_t>(payloads, bytes.size())));

  capnp::ReaderOptions limits;
  // A node is read a few times; pointers to shared bytes must not multiply them.
  limits.traversalLimitInWords = 8 * words.size() + 1024;
  limits.nestingLimit = 16;
  try {
    capnp::FlatArrayMessageReader reader{words, limits};
    return graph_reader{reader.getRoot<wire::Graph>(), bytes, into, depth}.read();
  } catch (const kj::Exception& thrown) {
    return damaged_graph(thrown.getDescription().cStr());
  }
}

} // namespace

status read_graph(std::span<const std::byte> bytes, graph& into) {
  return read_graph(bytes, into, 0);
}

} // namespace troupe
