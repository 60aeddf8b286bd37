#include "troupe/ops/parsing/shared/example_parser.cpu.hpp"

namespace troupe::ops::parse_example_v2_cpu {
namespace {

result<std::shared_ptr<void>> prepare_parse_example_v2(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<feature_plan>(plan_features(setup.origin))};
}

// The vectors that name the sparse and the dense features.
result<std::vector<std::string>> keys_of(const kernel_context& at, const feature_plan& plan) {
  std::vector<std::string> keys;
  const size_t counts[] = {plan.sparse.size(), plan.dense.size(), 0};
  constexpr std::string_view kinds[] = {"sparse", "dense", "ragged"};
  for (int i = 0; i < 3; ++i) {
    const auto& names_input = at.input(i + 2);
    if (names_input.rank() != 1 || static_cast<size_t>(names_input.elements()) != counts[i])
      return invalid(kinds[i], "_keys must be a vector of ", counts[i], ", got shape ",
                     names_input.dims());
    auto names = names_input.values<std::string>();
    for (const auto& name : names) {
      if (std::ranges::find(keys, name) != keys.end())
        return invalid("two features have the key '", name, '\'');
      keys.push_back(name);
    }
  }
  return keys;
}

status run_parse_example_v2(kernel_context& at) {
  const auto &serialized = at.input(0), &names = at.input(1);
  const auto& plan = at.state<feature_plan>();
  TROUPE_ASSIGN(auto keys, keys_of(at, plan));
  if (serialized.rank() == 0)
    return parse_one_example(at, plan, keys, 5);
  if (serialized.rank() != 1 || names.rank() > 1 ||
      (names.elements() != 0 && names.elements() != serialized.elements()))
    return invalid("serialized must be a vector, and names as long or empty, got shapes ",
                   serialized.dims(), " and ", names.dims());
  return batch_parser{at, plan, std::move(keys), 5}.run();
}

} // namespace

extern constexpr kernel_def parse_example_v2_cpu{
    .op = "ParseExampleV2",
    .run = {{dtype::none, run_parse_example_v2}},
    .prepare = prepare_parse_example_v2,
};

} // namespace troupe::ops::parse_example_v2_cpu
