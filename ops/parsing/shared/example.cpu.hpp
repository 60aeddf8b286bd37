// Reads tf.train.Example: a map from names to lists of floats, integers or bytes.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/first_failure.hpp"
#include "troupe/ops/parsing/shared/example.hpp"
#include "troupe/ops/parsing/shared/proto_reader.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <bit>
#include <map>

namespace troupe::ops {

/// The features to look for; built once per node.
struct feature_plan {
  std::vector<dtype> sparse, dense;
  shapes dense_dims;
  std::vector<std::string> keys; ///< of sparse and dense features, where they are attributes

  size_t size() const { return sparse.size() + dense.size(); }
  dtype type(size_t i) const { return i < sparse.size() ? sparse[i] : dense[i - sparse.size()]; }
};

inline feature_plan plan_features(const node& example_node) {
  return {example_node.attr<std::vector<dtype>>("sparse_types"),
          example_node.attr<std::vector<dtype>>("Tdense"),
          example_node.attr<shapes>("dense_shapes"),
          {}};
}

/// One feature of one example: its encoded list, and its number of values.
struct feature_value {
  std::string_view list;
  int64_t count = -1; ///< negative: the example lacks it
};

namespace detail {

// Calls `take` for each value of a list, packed or not, as u32, u64 or string_view. Returns false
// for malformed bytes.
template <class Take>
bool each_value(dtype type, std::string_view list, Take&& take) {
  using wire = proto_reader::wire;
  proto_reader fields{list};
  while (fields.next()) {
    if (fields.field() != 1)
      continue;
    if (type == dtype::string) {
      if (fields.kind() != wire::bytes)
        return false;
      take(fields.bytes());
    } else if (fields.kind() == wire::bytes) {
      for (auto unread = fields.bytes(); !unread.empty();) {
        auto bits = type == dtype::f32 ? take_fixed(unread, 4) : take_varint(unread);
        if (!bits)
          return false;
        take(*bits);
      }
    } else if (fields.kind() == (type == dtype::f32 ? wire::fixed32 : wire::varint)) {
      take(fields.number());
    } else {
      return false;
    }
  }
  return !fields.broken();
}

} // namespace detail

/// Writes the values from element `first` on; there must be room for them.
inline void write_values(const feature_value& from, const tensor& to, int64_t first) {
  detail::each_value(to.type(), from.list, [&]<class Value>(Value value) {
    if constexpr (std::is_same_v<Value, std::string_view>)
      to.data<std::string>()[first++] = value;
    else if (to.type() == dtype::f32)
      to.data<float>()[first++] = std::bit_cast<float>(static_cast<uint32_t>(value));
    else
      to.data<int64_t>()[first++] = static_cast<int64_t>(value);
  });
}

/// Finds the features of a plan in examples.
class feature_finder {
public:
  feature_finder(const feature_plan& plan, const std::vector<std::string>& keys) : plan_(plan) {
    for (size_t i = 0; i < keys.size(); ++i)
      places_.emplace(keys[i], i);
  }

  /// Writes one value for each feature of the plan. If a name is repeated, its last value counts.
  status find(std::string_view example, std::span<feature_value> values) const {
    proto_reader fields{example};
    while (fields.next())
      if (fields.is(1, proto_reader::wire::bytes))
        TROUPE_TRY(find_in_features(fields.bytes(), values));
    return fields.broken() ? damaged() : status{};
  }

private:
  static status damaged() { return invalid("the bytes are no tf.train.Example"); }

  status find_in_features(std::string_view features,
                          std::span<feature_value> feature_values) const {
    proto_reader entries{features};
    while (entries.next()) {
      if (!entries.is(1, proto_reader::wire::bytes))
        continue;
      std::string_view key, value;
      proto_reader parts{entries.bytes()};
      while (parts.next())
        if (parts.kind() == proto_reader::wire::bytes && parts.field() <= 2)
          (parts.field() == 1 ? key : value) = parts.bytes();
      if (parts.broken())
        return damaged();
      auto [begin, end] = places_.equal_range(key);
      for (auto place = begin; place != end; ++place)
        TROUPE_TRY(read_feature(key, value, place->second, feature_values[place->second]));
    }
    return entries.broken() ? damaged() : status{};
  }

  // A feature has one of three lists; a feature without a list counts as absent.
  status read_feature(std::string_view key, std::string_view feature, size_t i,
                      feature_value& to) const {
    static constexpr dtype kinds[] = {dtype::none, dtype::string, dtype::f32, dtype::i64};
    auto kind = dtype::none;
    std::string_view list;
    proto_reader fields{feature};
    while (fields.next())
      if (fields.field() <= 3 && fields.kind() == proto_reader::wire::bytes) {
        kind = kinds[fields.field()];
        list = fields.bytes();
      }
    if (fields.broken())
      return damaged();
    if (kind == dtype::none)
      return {};
    if (kind != plan_.type(i))
      return invalid("feature '", key, "' is a list of ", kind, ", must be ", plan_.type(i));
    int64_t count = 0;
    if (!detail::each_value(kind, list, [&](auto) { ++count; }))
      return invalid("feature '", key, "' is damaged");
    to = {list, count};
    return {};
  }

  const feature_plan& plan_;
  std::multimap<std::string_view, size_t> places_;
};

/// Makes the values of a dense feature for the examples in `values`, which are `stride` apart.
/// Without `batch`, there is a single example.
inline result<tensor> make_dense(kernel_context& at, const partial_shape& declared, dtype type,
                                 const tensor& fallback, std::span<const feature_value> values,
                                 size_t stride, bool batch) {
  auto ragged = is_ragged(declared);
  auto count = stride ? static_cast<int64_t>((values.size() + stride - 1) / stride) : 0;
  std::vector<int64_t> extents;
  if (batch)
    extents.push_back(count);
  auto inner = declared;
  if (ragged)
    inner.set(0, 1);
  const auto row_elements = inner.known().elements();
  if (ragged ? batch && fallback.elements() != 1
             : fallback.elements() != 0 && fallback.elements() != row_elements)
    return invalid("the default of ", declared, " must be ", ragged ? "one value" : "of that shape",
                   ", got shape ", fallback.dims());
  int64_t longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto have = values[static_cast<size_t>(i) * stride].count;
    longest = std::max(longest, have);
    if (have < 0 && !ragged && fallback.elements() == 0)
      return invalid("example ", i, " lacks it, and there is no default");
    if (have >= 0 &&
        (ragged ? row_elements == 0 || have % row_elements != 0 : have != row_elements))
      return invalid("example ", i, " has ", have, " values, which do not fill ", declared);
  }
  for (auto extent : inner.extents())
    extents.push_back(extent);
  if (ragged)
    extents[batch ? 1 : 0] = row_elements > 0 ? longest / row_elements : 0;
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto dense_values, tensor::make(type, dims, at.memory()));
  auto room = count > 0 ? dims.elements() / count : 0;
  at.parallel_for(count, 5.0 * static_cast<double>(room + 10), [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto& value = values[static_cast<size_t>(i) * stride];
      auto have = std::max<int64_t>(value.count, 0);
      if (have > 0)
        write_values(value, dense_values, i * room);
      if (have == room)
        continue;
      if (fallback.elements() == room)
        copy_elements({fallback}, {dense_values, i * room}, room);
      else
        fill_elements(fallback, {dense_values, i * room + have}, room - have);
    }
  });
  return dense_values;
}

} // namespace troupe::ops
