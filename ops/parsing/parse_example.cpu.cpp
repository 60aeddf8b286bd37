#include "troupe/ops/parsing/shared/example_parser.cpu.hpp"

namespace troupe::ops::parse_example_cpu {
namespace {

result<std::shared_ptr<void>> prepare_parse_example(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<feature_plan>(plan_features(setup.origin))};
}

// The scalars that name the features.
result<std::vector<std::string>> keys_of(const kernel_context& at, size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    const auto& key = at.input(static_cast<int>(i) + 2);
    if (key.rank() != 0)
      return invalid("keys must be scalars, got shape ", key.dims());
    keys.push_back(*key.data<std::string>());
    if (std::ranges::find(keys.begin(), keys.end() - 1, keys.back()) != keys.end() - 1)
      return invalid("two features have the key '", keys.back(), '\'');
  }
  return keys;
}

status run_parse_example(kernel_context& at) {
  const auto &serialized = at.input(0), &names = at.input(1);
  if (serialized.rank() != 1 || names.rank() != 1 ||
      (names.elements() != 0 && names.elements() != serialized.elements()))
    return invalid("serialized must be a vector, and names as long or empty, got shapes ",
                   serialized.dims(), " and ", names.dims());
  const auto& plan = at.state<feature_plan>();
  TROUPE_ASSIGN(auto keys, keys_of(at, plan.size()));
  return batch_parser{at, plan, std::move(keys), static_cast<int>(2 + plan.size())}.run();
}

result<std::shared_ptr<void>> prepare_parse_single_example(const kernel_setup& setup) {
  auto plan = std::make_shared<feature_plan>(plan_features(setup.origin));
  plan->keys = setup.origin.attr<std::vector<std::string>>("sparse_keys");
  const auto& dense = setup.origin.attr<std::vector<std::string>>("dense_keys");
  plan->keys.insert(plan->keys.end(), dense.begin(), dense.end());
  return std::shared_ptr<void>{std::move(plan)};
}

status run_parse_single_example(kernel_context& at) {
  const auto& plan = at.state<feature_plan>();
  return parse_one_example(at, plan, plan.keys, 1);
}

} // namespace

extern constexpr kernel_def parse_example_cpu{
    .op = "ParseExample",
    .run = {{dtype::none, run_parse_example}},
    .prepare = prepare_parse_example,
};

extern constexpr kernel_def parse_single_example_cpu{
    .op = "ParseSingleExample",
    .run = {{dtype::none, run_parse_single_example}},
    .prepare = prepare_parse_single_example,
};

} // namespace troupe::ops::parse_example_cpu
