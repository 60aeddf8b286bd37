// Reads attribute values of a text graph. The op defines the kind of each attribute.
#include "troupe/serialization/text/text_scanner.hpp"

namespace troupe {
namespace {

template <class T, class Read>
result<attr_value> read_attr(Read read) {
  TROUPE_ASSIGN(T value, read());
  return attr_value{std::move(value)};
}

template <class T, class Read>
result<attr_value> read_list_attr(text_scanner& in, Read read) {
  std::vector<T> values;
  auto listed = in.list([&]() -> status {
    TROUPE_ASSIGN(auto value, read());
    values.push_back(std::move(value));
    return {};
  });
  TROUPE_TRY(std::move(listed));
  return attr_value{std::move(values)};
}

} // namespace

result<attr_value> text_scanner::attr(attr_kind kind) {
  auto next_integer = [this] { return integer(); };
  auto next_real = [this] { return real(); };
  auto next_text = [this] { return quoted(); };
  auto next_type = [this] { return type(); };
  auto next_shape = [this] { return partial(); };
  switch (kind) {
    case attr_kind::boolean: return read_attr<bool>([this] { return boolean(); });
    case attr_kind::integer: return read_attr<int64_t>(next_integer);
    case attr_kind::real: return read_attr<double>(next_real);
    case attr_kind::text: return read_attr<std::string>(next_text);
    case attr_kind::type: return read_attr<dtype>(next_type);
    case attr_kind::shape: return read_attr<partial_shape>(next_shape);
    case attr_kind::tensor: return read_attr<tensor>([this] { return literal(); });
    case attr_kind::integers: return read_list_attr<int64_t>(*this, next_integer);
    case attr_kind::reals: return read_list_attr<double>(*this, next_real);
    case attr_kind::texts: return read_list_attr<std::string>(*this, next_text);
    case attr_kind::types: return read_list_attr<dtype>(*this, next_type);
    case attr_kind::shapes: return read_list_attr<partial_shape>(*this, next_shape);
    case attr_kind::function:
    case attr_kind::functions: break; // read by the parser of the graph
  }
  return unexpected("an attribute of a known kind");
}

result<partial_shape> text_scanner::partial() {
  auto start = position();
  if (take('?'))
    return partial_shape::unknown();
  std::vector<int64_t> extents;
  auto listed = list([&]() -> status {
    TROUPE_ASSIGN(auto extent, integer());
    extents.push_back(extent);
    return {};
  });
  TROUPE_TRY(std::move(listed));
  auto dims = partial_shape::make(extents);
  if (!dims)
    return error_at(start, dims.status().message());
  return dims;
}

} // namespace troupe
