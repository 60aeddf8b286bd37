// Ops compute the results of an independent implementation (tests/ops/goldens/README.md).
#include "tests/ops/every_op.hpp"
#include "tests/ops/few_goldens.hpp"
#include "tests/ops/golden_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/real_gpus.hpp"
#include "tests/support/selected_ops.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include <map>

namespace troupe::test::golden_test {

namespace {

void run_all_goldens(client_options options) {
  auto local = client::local(options);
  REQUIRE(local);
  auto cases = golden_cases();
  CHECK(!cases.empty());
  for (const auto& stored : cases)
    if (auto failure_text = difference_of(**local, *options.ops, stored); !failure_text.empty())
      FAIL_CHECK(stored.name << ": " << failure_text);
}

client_options on_processors(const pass_options& passes) {
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] { return make_devices({.intra_op_threads = 2, .gpus = 0}); };
  options.passes = passes;
  return options;
}

} // namespace

TEST_CASE("every op computes the results of an independent implementation", "[golden]") {
  run_all_goldens(on_processors(pass_options::none()));
}

TEST_CASE("every op computes its golden results after graph passes", "[golden]") {
  run_all_goldens(on_processors({}));
}

TEST_CASE("every op computes its golden results on a simulated GPU", "[golden][gpu_goldens]") {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [] { return make_simulated_devices(1, {.longest_delay = {}}); };
  options.passes = pass_options::none();
  run_all_goldens(options);
}

TEST_CASE("every op computes its golden results on a GPU", "[gpu][golden]") {
  if (!has_gpu())
    return;
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] { return make_gpu_devices(); };
  for (const auto& passes : {pass_options::none(), pass_options{}}) {
    options.passes = passes;
    run_all_goldens(options);
  }
}

TEST_CASE("every op computes its golden results where cuDNN computes all layers it supports",
          "[gpu]") {
  if (!has_gpu())
    return;
  client_options options;
  options.ops = &test::library();
  options.make_devices = [] {
    auto devices = make_gpu_devices();
    for (auto& each_device : devices)
      if (each_device->kind() == device_kind::gpu)
        gpu::choose_layers(gpu::gpu_of(*each_device), gpu::layers_by::library);
    return devices;
  };
  options.passes = pass_options::none();
  run_all_goldens(options);
}

TEST_CASE("every op has at least six golden cases") {
  if (!all_ops_selected())
    return;
  std::map<std::string, int, std::less<>> cases;
  for (const auto& stored : golden_cases())
    ++cases[stored.op()];
  check_every_op(
      [&](const op_def& op) {
        auto count_entry = cases.find(op.name);
        auto count = count_entry == cases.end() ? 0 : count_entry->second;
        return count >= 6 ? failure_list{}
                          : failure_list{concat("has only ", count, " golden cases")};
      },
      few_goldens());
}

} // namespace troupe::test::golden_test
