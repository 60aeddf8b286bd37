// No input makes a kernel crash or contradict the shape function.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace troupe::test::robustness_test {

namespace {

// Repeats elements as often as the shape needs.
tensor with_shape(const tensor& from, const shape& dims) {
  auto reshaped = *tensor::make(from.type(), dims);
  auto size = size_of(from.type());
  for (int64_t i = 0; i < dims.elements(); ++i) {
    if (from.type() == dtype::variant)
      reshaped.data<tensor_list>()[i] =
          from.elements() ? from.data<tensor_list>()[i % from.elements()] : tensor_list{};
    else if (from.type() == dtype::string)
      reshaped.data<std::string>()[i] =
          from.elements() ? from.data<std::string>()[i % from.elements()] : "";
    else if (from.elements() == 0)
      std::memset(static_cast<char*>(reshaped.raw()) + static_cast<size_t>(i) * size, 0, size);
    else
      std::memcpy(static_cast<char*>(reshaped.raw()) + static_cast<size_t>(i) * size,
                  static_cast<char*>(from.raw()) + static_cast<size_t>(i % from.elements()) * size,
                  size);
  }
  return reshaped;
}

using reshaping = std::function<shape(const shape&)>;

const reshaping reshapings[] = {
    [](const shape& dims) { // empty in every axis
      auto new_dims = dims;
      for (int axis = 0; axis < dims.rank(); ++axis)
        new_dims.set(axis, 0);
      return new_dims;
    },
    [](const shape& dims) { // one element
      auto new_dims = dims;
      for (int axis = 0; axis < dims.rank(); ++axis)
        new_dims.set(axis, 1);
      return new_dims;
    },
    [](const shape& dims) { // no rows
      auto new_dims = dims;
      if (new_dims.rank() > 0)
        new_dims.set(0, 0);
      return new_dims;
    },
    [](const shape& dims) { // no columns
      auto new_dims = dims;
      if (new_dims.rank() > 0)
        new_dims.set(new_dims.rank() - 1, 0);
      return new_dims;
    },
    [](const shape&) { return shape{}; },
    [](const shape&) { return shape{3}; },
    [](const shape&) {
      return shape{2, 3};
    },
    [](const shape&) { return shape{1, 2, 1, 2, 1, 2, 1, 2}; },
};

constexpr int64_t hostile_integers[] = {-1, 0, 1, 7, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};

tensor filled(const tensor& like, int64_t value) {
  auto filled_tensor = *tensor::make(like.type(), like.dims());
  if (like.type() == dtype::i32)
    std::ranges::fill(filled_tensor.values<int32_t>(), static_cast<int32_t>(value));
  else
    std::ranges::fill(filled_tensor.values<int64_t>(), value);
  return filled_tensor;
}

// Any outcome is fine, except a crash and an internal error.
void survive(const op_sample& sample, failure_list& errors) try {
  for (bool known : {true, false})
    for (bool constant : {true, false}) {
      if (known != constant && sample.inputs.empty())
        continue;
      auto built =
          rebuild(library(), sample, known, std::vector<bool>(sample.inputs.size(), constant));
      if (!built) {
        if (built.status().kind() == error_kind::internal)
          errors.push_back(concat(built.status()));
        continue;
      }
      auto outcome = run(*built, small_device());
      if (!outcome && outcome.status().kind() == error_kind::internal)
        errors.push_back(concat(outcome.status()));
    }
} catch (const std::exception& error) {
  errors.push_back(concat("throws ", error.what()));
  for (const auto& input : sample.inputs)
    errors.back() += concat(' ', to_string(input));
}

void reshape_inputs(const op_sample& sample, failure_list& errors) {
  auto count = sample.inputs.size();
  for (const auto& reshape : reshapings)
    for (size_t only = 0; only <= count; ++only) { // each input alone, then all
      auto changed = sample;
      for (size_t i = 0; i < count; ++i)
        if ((i == only || only == count) && !changed.inputs[i].empty())
          changed.inputs[i] = with_shape(sample.inputs[i], reshape(sample.inputs[i].dims()));
      survive(changed, errors);
    }
}

void replace_integers(const op_sample& sample, failure_list& errors) {
  for (auto value : hostile_integers) {
    for (size_t i = 0; i < sample.inputs.size(); ++i)
      if (index_types.contains(sample.inputs[i].type()) && !sample.inputs[i].empty()) {
        auto changed = sample;
        changed.inputs[i] = filled(sample.inputs[i], value);
        survive(changed, errors);
      }
    for (const auto& [name, attr] : sample.attrs) {
      auto changed = sample;
      if (attr.get_if<int64_t>())
        changed.attrs.find(name)->second = value;
      else if (auto* list = attr.get_if<std::vector<int64_t>>())
        changed.attrs.find(name)->second = std::vector<int64_t>(list->size(), value);
      else
        continue;
      survive(changed, errors);
    }
  }
}

failure_list check(const op_def& op, void (*vary)(const op_sample&, failure_list&)) {
  failure_list errors;
  if (needs_runtime(library(), op))
    return errors;
  for (const auto& sample :
       run_example(library(), op, small_device(), placeholders::as_written).samples)
    if (errors.size() < 5)
      vary(sample, errors);
  return errors;
}

} // namespace

TEST_CASE("every op computes or refuses empty, tiny and ill-fitting inputs") {
  check_every_op([](const op_def& op) { return check(op, reshape_inputs); });
}

TEST_CASE("every op computes or refuses negative and huge numbers") {
  check_every_op([](const op_def& op) { return check(op, replace_integers); });
}

} // namespace troupe::test::robustness_test
