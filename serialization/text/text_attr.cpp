// Attribute values of a text graph: the op says of which kind.
#include "troupe/serialization/text/text_scanner.hpp"

namespace troupe {
namespace {

template <class T, class Read>
result<attr_value> one(Read read) {
  TROUPE_ASSIGN(T value, read());
  return attr_value{std::move(value)};
}

template <class T, class Read>
result<attr_value> many(text_scanner& in, Read read) {
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
    case attr_kind::boolean: return one<bool>([this] { return boolean(); });
    case attr_kind::integer: return one<int64_t>(next_integer);
    case attr_kind::real: return one<double>(next_real);
    case attr_kind::text: return one<std::string>(next_text);
    case attr_kind::type: return one<dtype>(next_type);
    case attr_kind::shape: return one<partial_shape>(next_shape);
    case attr_kind::tensor: return one<tensor>([this] { return literal(); });
    case attr_kind::integers: return many<int64_t>(*this, next_integer);
    case attr_kind::reals: return many<double>(*this, next_real);
    case attr_kind::texts: return many<std::string>(*this, next_text);
    case attr_kind::types: return many<dtype>(*this, next_type);
    case attr_kind::shapes: return many<partial_shape>(*this, next_shape);
    case attr_kind::function:
    case attr_kind::functions: break; // the graph's parser knows them
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
