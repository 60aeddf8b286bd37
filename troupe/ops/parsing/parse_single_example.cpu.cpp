#include "troupe/ops/parsing/shared/example.cpu.hpp"

#include <numeric>

namespace troupe::ops::parse_single_example_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  auto plan = std::make_shared<feature_plan>(plan_features(setup.of));
  plan->keys = setup.of.attr<std::vector<std::string>>("sparse_keys");
  const auto& dense = setup.of.attr<std::vector<std::string>>("dense_keys");
  plan->keys.insert(plan->keys.end(), dense.begin(), dense.end());
  return std::shared_ptr<void>{std::move(plan)};
}

status write_sparse(kernel_context& at, int sparse, int s, const feature_value& value) {
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

status run(kernel_context& at) {
  const auto& serialized = at.input(0);
  if (serialized.rank() != 0)
    return invalid("serialized must be a scalar, got shape ", serialized.dims());
  const auto& plan = at.state<feature_plan>();
  std::vector<feature_value> found(plan.size());
  TROUPE_TRY(feature_finder{plan, plan.keys}.find(*serialized.data<std::string>(), found));
  auto sparse = plan.sparse.size();
  for (size_t s = 0; s < sparse; ++s)
    TROUPE_TRY(write_sparse(at, static_cast<int>(sparse), static_cast<int>(s), found[s]));
  for (size_t d = 0; d < plan.dense.size(); ++d) {
    auto made = make_dense(at, plan.dense_dims[d], plan.dense[d], at.input(static_cast<int>(d) + 1),
                           std::span{found}.subspan(sparse + d, 1), 1, false);
    if (!made)
      return made.status().within(concat("dense feature '", plan.keys[sparse + d], '\''));
    at.set_output(static_cast<int>(3 * sparse + d), *std::move(made));
  }
  return {};
}

} // namespace

extern constexpr kernel_def parse_single_example_cpu{
    .op = "ParseSingleExample",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::parse_single_example_cpu
