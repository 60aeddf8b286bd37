// Parses a batch of tf.train.Example, or one of them, into the outputs of a kernel.
#pragma once
#include "troupe/ops/parsing/shared/example.cpu.hpp"

#include <numeric>

namespace troupe::ops {

/// Input 0 has the examples, input 1 their names, or no elements.
class batch_parser {
public:
  /// The defaults of dense features start at that input.
  batch_parser(kernel_context& at, const feature_plan& plan, std::vector<std::string> keys,
               int first_default)
      : at_(at), plan_(plan), keys_(std::move(keys)), first_default_(first_default),
        batch_(at.input(0).elements()), values_(static_cast<size_t>(batch_) * plan_.size()) {}

  status run() {
    TROUPE_TRY(find());
    for (size_t s = 0; s < plan_.sparse.size(); ++s)
      TROUPE_TRY(write_sparse(s));
    for (size_t d = 0; d < plan_.dense.size(); ++d) {
      auto feature = plan_.sparse.size() + d;
      const auto& fallback = at_.input(first_default_ + static_cast<int>(d));
      auto values = make_dense(at_, plan_.dense_dims[d], plan_.dense[d], fallback, column(feature),
                               plan_.size(), true);
      if (!values)
        return values.status().with_context(concat("dense feature '", keys_[feature], '\''));
      at_.set_output(static_cast<int>(3 * plan_.sparse.size() + d), *std::move(values));
    }
    return {};
  }

private:
  // The feature's values in all examples, plan_.size() apart.
  std::span<const feature_value> column(size_t feature) const {
    return std::span{values_}.subspan(std::min(feature, values_.size()));
  }

  status find() {
    feature_finder finder{plan_, keys_};
    const auto* examples = at_.input(0).data<std::string>();
    first_failure failed;
    at_.parallel_for(batch_, 1000, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i)
        if (auto outcome = finder.find(
                examples[i],
                std::span{values_}.subspan(static_cast<size_t>(i) * plan_.size(), plan_.size()));
            !outcome)
          return failed.note(i, std::move(outcome).with_context(name_of(i)));
    });
    return failed.take();
  }

  std::string name_of(int64_t i) const {
    const auto& names = at_.input(1);
    return names.elements() > 0 ? concat("example '", names.data<std::string>()[i], '\'')
                                : concat("example ", i);
  }

  status write_sparse(size_t s) {
    int64_t total = 0, longest = 0;
    auto values = column(s);
    for (size_t i = 0; i < values.size(); i += plan_.size()) {
      total += std::max<int64_t>(values[i].count, 0);
      longest = std::max(longest, values[i].count);
    }
    auto output = [&](size_t kind) { return static_cast<int>(kind * plan_.sparse.size() + s); };
    TROUPE_ASSIGN(auto* indices, at_.allocate(output(0), shape{total, 2}));
    TROUPE_ASSIGN(auto* out, at_.allocate(output(1), shape{total}));
    TROUPE_ASSIGN(auto* dims, at_.allocate(output(2), shape{2}));
    dims->data<int64_t>()[0] = batch_;
    dims->data<int64_t>()[1] = longest;
    auto* where = indices->data<int64_t>();
    int64_t next = 0, row = 0;
    for (size_t i = 0; i < values.size(); i += plan_.size(), ++row) {
      if (values[i].count > 0)
        write_values(values[i], *out, next);
      for (int64_t k = 0; k < values[i].count; ++k, ++next) {
        *where++ = row;
        *where++ = k;
      }
    }
    return {};
  }

  kernel_context& at_;
  const feature_plan& plan_;
  std::vector<std::string> keys_;
  int first_default_;
  int64_t batch_;
  std::vector<feature_value> values_; // row-major, one row per example
};

inline status write_sparse_of_one(kernel_context& at, int sparse, int s,
                                  const feature_value& value) {
  auto count = std::max<int64_t>(value.count, 0);
  TROUPE_ASSIGN(auto* indices, at.allocate(s, shape{count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(sparse + s, shape{count}));
  TROUPE_ASSIGN(auto* dims, at.allocate(2 * sparse + s, shape{1}));
  *dims->data<int64_t>() = count;
  std::iota(indices->data<int64_t>(), indices->data<int64_t>() + count, int64_t{0});
  if (count > 0)
    write_values(value, *out, 0);
  return {};
}

/// Input 0 has the example; the defaults of dense features start at that input.
inline status parse_one_example(kernel_context& at, const feature_plan& plan,
                                const std::vector<std::string>& keys, int first_default) {
  const auto& serialized = at.input(0);
  if (serialized.rank() != 0)
    return invalid("serialized must be a scalar, got shape ", serialized.dims());
  std::vector<feature_value> feature_values(plan.size());
  TROUPE_TRY(feature_finder{plan, keys}.find(*serialized.data<std::string>(), feature_values));
  auto sparse = plan.sparse.size();
  for (size_t s = 0; s < sparse; ++s)
    TROUPE_TRY(
        write_sparse_of_one(at, static_cast<int>(sparse), static_cast<int>(s), feature_values[s]));
  for (size_t d = 0; d < plan.dense.size(); ++d) {
    auto values = make_dense(at, plan.dense_dims[d], plan.dense[d],
                             at.input(first_default + static_cast<int>(d)),
                             std::span{feature_values}.subspan(sparse + d, 1), 1, false);
    if (!values)
      return values.status().with_context(concat("dense feature '", keys[sparse + d], '\''));
    at.set_output(static_cast<int>(3 * sparse + d), *std::move(values));
  }
  return {};
}

} // namespace troupe::ops
