#include "troupe/ops/parsing/shared/proto_reader.hpp"
#include "troupe/ops/parsing/shared/tensor_proto.hpp"
#include "troupe/ops/parsing/shared/tensor_types.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

status damaged() { return invalid("the bytes are no TensorProto"); }

// Calls `take` for each element of the field, packed or not; returns false for malformed bytes.
template <class Take>
bool list_numbers(const proto_reader& field, size_t fixed_size, Take&& take) {
  if (field.kind() != proto_reader::wire::bytes)
    return take(field.number());
  for (auto unread = field.bytes(); !unread.empty();) {
    auto next = fixed_size ? take_fixed(unread, fixed_size) : take_varint(unread);
    if (!next || !take(*next))
      return false;
  }
  return true;
}

result<shape> read_shape(std::string_view message) {
  std::vector<int64_t> extents;
  proto_reader fields{message};
  while (fields.next()) {
    if (fields.is(3, proto_reader::wire::varint) && fields.number() != 0)
      return invalid("the tensor's rank is not known");
    if (!fields.is(2, proto_reader::wire::bytes))
      continue;
    proto_reader dim{fields.bytes()};
    int64_t extent = 0;
    while (dim.next())
      if (dim.is(1, proto_reader::wire::varint))
        extent = static_cast<int64_t>(dim.number());
    if (dim.broken())
      return damaged();
    if (extents.size() > max_rank)
      return invalid("a tensor has at most ", max_rank, " axes");
    extents.push_back(extent);
  }
  if (fields.broken())
    return damaged();
  return shape::make(extents);
}

// The parts of the message, which may come in any order.
struct parsed_proto {
  const tensor_proto::type_entry* type = nullptr;
  std::string_view dims, content;
  bool has_content = false;
};

result<parsed_proto> read_fields(std::string_view message) {
  parsed_proto parsed;
  proto_reader fields{message};
  while (fields.next()) {
    if (fields.is(tensor_proto::type, proto_reader::wire::varint)) {
      parsed.type = tensor_proto::type_of(fields.number());
      if (!parsed.type)
        return invalid("the tensor has a type of number ", fields.number(),
                       ", which Troupe has not");
    } else if (fields.is(tensor_proto::shape, proto_reader::wire::bytes)) {
      parsed.dims = fields.bytes();
    } else if (fields.is(tensor_proto::content, proto_reader::wire::bytes)) {
      parsed.content = fields.bytes();
      parsed.has_content = !parsed.content.empty();
    }
  }
  if (fields.broken())
    return damaged();
  if (!parsed.type)
    return invalid("the TensorProto names no type");
  return parsed;
}

status read_content(std::string_view content, tensor& to) {
  if (to.type() == dtype::string) { // first all lengths, then all texts
    std::vector<uint64_t> lengths;
    for (int64_t i = 0; i < to.elements(); ++i) {
      auto length = take_varint(content);
      if (!length)
        return damaged();
      lengths.push_back(*length);
    }
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] > content.size())
        return damaged();
      to.data<std::string>()[i] = content.substr(0, lengths[i]);
      content.remove_prefix(lengths[i]);
    }
    return content.empty() ? status{} : damaged();
  }
  if (content.size() != to.bytes())
    return invalid("a tensor ", to.type(), to.dims(), " has ", to.bytes(), " bytes, got ",
                   content.size());
  std::memcpy(to.raw(), content.data(), content.size());
  if (to.type() == dtype::boolean) // other byte values are not valid truth values
    std::ranges::transform(content, to.data<bool>(), [](char c) { return c != 0; });
  return {};
}

// Numbers have their wire width; a complex number is two of them.
status read_numbers(std::string_view message, uint32_t list, tensor& to) {
  auto is_complex = complex_types.contains(to.type());
  auto size = size_of(to.type()) / (is_complex ? 2 : 1);
  auto fixed = is_complex || (floating.contains(to.type()) && size >= 4) ? size : 0;
  auto room = to.bytes() / size;
  auto* bytes = static_cast<char*>(to.raw());
  size_t count = 0;
  proto_reader fields{message};
  while (fields.next()) {
    if (fields.field() != list)
      continue;
    auto is_well_formed = list_numbers(fields, fixed, [&](uint64_t bits) {
      if (count == room)
        return false;
      if (to.type() == dtype::boolean)
        bits = bits != 0;
      std::memcpy(bytes + size * count++, &bits, size); // little-endian
      return true;
    });
    if (!is_well_formed)
      return invalid("a tensor ", to.type(), to.dims(), " lists more or other numbers");
  }
  if (is_complex && count % 2 != 0)
    return damaged();
  auto element = size_of(to.type());
  auto filled = static_cast<int64_t>(count * size / element);
  if (filled == 0)
    std::memset(bytes, 0, to.bytes());
  else if (filled < to.elements()) // the last element is repeated
    for (auto i = filled; i < to.elements(); ++i)
      std::memcpy(bytes + static_cast<size_t>(i) * element,
                  bytes + static_cast<size_t>(filled - 1) * element, element);
  return {};
}

status read_texts(std::string_view message, tensor& to) {
  int64_t count = 0;
  auto* texts = to.data<std::string>();
  proto_reader fields{message};
  while (fields.next())
    if (fields.is(tensor_proto::texts, proto_reader::wire::bytes)) {
      if (count == to.elements())
        return invalid("a tensor ", to.type(), to.dims(), " lists more strings");
      texts[count++] = fields.bytes();
    }
  for (auto i = count; count > 0 && i < to.elements(); ++i)
    texts[i] = texts[count - 1];
  return {};
}

} // namespace

result<tensor> from_tensor_proto(std::string_view message, allocator& memory) {
  TROUPE_ASSIGN(auto parsed, read_fields(message));
  TROUPE_ASSIGN(auto dims, read_shape(parsed.dims));
  TROUPE_ASSIGN(auto value, tensor::make(parsed.type->of, dims, memory));
  if (parsed.has_content)
    TROUPE_TRY(read_content(parsed.content, value));
  else if (parsed.type->of == dtype::string)
    TROUPE_TRY(read_texts(message, value));
  else
    TROUPE_TRY(read_numbers(message, parsed.type->list, value));
  return value;
}

} // namespace troupe::ops
